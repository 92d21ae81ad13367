// Passwords of people, hashed with scrypt (RFC 7914), which is slow and uses much memory by design.
// Secrets of machines are 256 random bits and need only a fast hash (secret_hash.h).
#pragma once

#include <string>
#include <string_view>

#include "base/random.h"
#include "base/strong.h"

namespace coffer::auth {

/// Cost: the memory is 128 * r * 2^log2_n bytes, and the time is proportional to that and to p. The
/// default uses 16 MiB and is one of the equivalent settings in OWASP's recommendations for
/// password storage.
struct ScryptCost {
  int log2_n = 14;
  int r = 8;
  int p = 5;
};

/// `scrypt$14$8$5$<salt>$<hash>`. The hash contains its cost, so old hashes stay valid after the
/// cost is raised.
std::string hash_password(const Secret& password, Random& random, const ScryptCost& cost = {});
/// Time does not depend on the password. Also false if `stored` is not in the format of
/// hash_password().
bool matches_password(std::string_view stored, std::string_view presented);
/// A hash for comparisons when the user is unknown: takes as long as a real hash of this cost and
/// never matches.
std::string no_password_hash(const ScryptCost& cost = {});

/// 24 characters of base32 (120 random bits), which the operator gives to the user.
Secret generate_password(Random& random);

}  // namespace coffer::auth
