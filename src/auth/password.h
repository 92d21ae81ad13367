// Passwords of people: scrypt (RFC 7914), slow and hungry on purpose. Secrets of machines are 256
// random bits and need none of this: secret_hash.h.
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"
#include "base/strong.h"

namespace coffer::auth {

/// Cost: memory is 128 * r * 2^log2_n bytes, and p times over in time. The default takes 16 MiB
/// and is one of the settings that OWASP's password storage recommendations name as equal.
struct ScryptCost {
  int log2_n = 14;
  int r = 8;
  int p = 5;
};

/// `scrypt$14$8$5$<salt>$<hash>`: the cost stays with the hash, so that raising it later leaves old
/// hashes readable.
std::string hash_password(const Secret& password, Random& random, const ScryptCost& cost = {});
/// Constant time in the password. False too for a stored text that is no hash of ours.
bool matches_password(std::string_view stored, std::string_view presented);
/// The hash to compare with for an unknown user: as slow as others of this cost, and never right.
std::string no_password_hash(const ScryptCost& cost = {});

/// 24 characters of base32, 120 random bits, for the operator to hand over.
Secret generate_password(Random& random);

}  // namespace coffer::auth
