// Ed25519 keys in Stellar's text form (SEP-23 StrKey): public keys `G...` and secret seeds `S...`.
// Stateless; thread-safe.
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
  /// Accepts only a canonical StrKey: length, version, checksum, upper case, and no stray bits.
  /// The bytes may be no point of the curve: see is_sound_ed25519_key.
  static std::optional<PublicKey> parse(std::string_view strkey);
  std::strong_ordering operator<=>(const PublicKey&) const = default;
};

struct KeyPair {
  PublicKey public_key;
  Secret seed_text;  // 56 characters, `S...`
};

KeyPair generate_key_pair(Random& random);

using Signature = std::array<std::uint8_t, 64>;

/// A seed prepared for signing: create it once and sign many times. Thread-safe.
class SigningKey {
 public:
  /// `validation-failed`, without the seed in the text, if `seed_text` is not a canonical seed
  /// `S...`.
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

/// Also false for a signature of the wrong length and for a key that is not a point on the curve.
bool verify(const PublicKey& key, std::string_view message, std::string_view signature);

}  // namespace coffer::auth
