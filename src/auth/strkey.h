// Ed25519 keys in Stellar's text form (SEP-23 StrKey): G... public keys and S... secret seeds.
// Stateless; safe from any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "base/strong.h"

struct evp_pkey_st;

namespace coffer::auth {

struct PublicKey {
  std::array<std::uint8_t, 32> bytes{};

  /// 56 characters, `G...`.
  std::string to_string() const;
  /// Canonical StrKey only: right length, version, checksum, upper case, no stray bits. Whether the
  /// bytes are a point of the curve shows when a signature is verified.
  static std::optional<PublicKey> parse(std::string_view strkey);
  std::strong_ordering operator<=>(const PublicKey&) const = default;
};

struct KeyPair {
  PublicKey public_key;
  Secret seed_text;  // 56 characters, `S...`
};

KeyPair generate_key_pair(Random& random);

using Signature = std::array<std::uint8_t, 64>;

/// A seed ready to sign: build it once, sign often. Safe to use from several threads.
class SigningKey {
 public:
  /// `validation-failed` without the seed in it when the text is not a canonical `S...` seed.
  static Result<SigningKey> from_seed(const Secret& seed_text);

  const PublicKey& public_key() const { return public_key_; }
  Signature sign(std::string_view message) const;

 private:
  struct FreeKey {
    void operator()(evp_pkey_st* key) const;
  };
  using KeyHandle = std::unique_ptr<evp_pkey_st, FreeKey>;
  SigningKey(KeyHandle key, PublicKey public_key) : key_(std::move(key)), public_key_(public_key) {}

  KeyHandle key_;
  PublicKey public_key_;
};

/// False also for a signature of the wrong length or a key that is not a point of the curve.
bool verify(const PublicKey& key, std::string_view message, std::string_view signature);

}  // namespace coffer::auth
