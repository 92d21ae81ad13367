#include "auth/strkey.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include "base/check.h"
#include "base/crypto/openssl.h"
#include "base/digest.h"

namespace coffer::auth {
namespace {

// SEP-23 version bytes: base32 turns them into a leading G and S.
constexpr std::uint8_t kPublicKeyVersion = 6 << 3;
constexpr std::uint8_t kSeedVersion = 18 << 3;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kPayloadBytes = 1 + kKeyBytes + 2;
constexpr std::size_t kStrkeyChars = 56;

using KeyBytes = std::array<std::uint8_t, kKeyBytes>;

/// CRC16-XModem: polynomial 0x1021, initial value 0, most significant bit first.
std::uint16_t crc16(std::string_view data) {
  std::uint16_t crc = 0;
  for (const char c : data) {
    crc = static_cast<std::uint16_t>(crc ^ static_cast<std::uint8_t>(c) << 8);
    for (int bit = 0; bit < 8; ++bit) {
      const unsigned shifted = static_cast<unsigned>(crc) << 1;
      crc = static_cast<std::uint16_t>((crc & 0x8000) != 0 ? shifted ^ 0x1021U : shifted);
    }
  }
  return crc;
}

std::string encode(std::uint8_t version, const KeyBytes& key) {
  std::string payload(1, static_cast<char>(version));
  payload.append(as_text(key));
  const std::uint16_t crc = crc16(payload);
  payload.push_back(static_cast<char>(crc & 0xff));
  payload.push_back(static_cast<char>(crc >> 8));
  std::string text = to_base32(payload);
  OPENSSL_cleanse(payload.data(), payload.size());
  return text;
}

std::optional<KeyBytes> decode(std::uint8_t version, std::string_view text) {
  if (text.size() != kStrkeyChars) return std::nullopt;
  auto payload = from_base32(text);
  if (!payload || payload->size() != kPayloadBytes) return std::nullopt;
  const std::string_view body = std::string_view(*payload).substr(0, 1 + kKeyBytes);
  const auto low = static_cast<std::uint8_t>((*payload)[kPayloadBytes - 2]);
  const auto high = static_cast<std::uint8_t>((*payload)[kPayloadBytes - 1]);
  const bool valid = static_cast<std::uint8_t>(body[0]) == version &&
                     crc16(body) == static_cast<std::uint16_t>(high << 8 | low);
  KeyBytes key{};
  if (valid) std::copy(body.begin() + 1, body.end(), key.begin());
  OPENSSL_cleanse(payload->data(), payload->size());
  if (!valid) return std::nullopt;
  return key;
}

}  // namespace

std::string PublicKey::to_string() const { return encode(kPublicKeyVersion, bytes); }

std::optional<PublicKey> PublicKey::parse(std::string_view strkey) {
  const auto bytes = decode(kPublicKeyVersion, strkey);
  if (!bytes) return std::nullopt;
  return PublicKey{*bytes};
}

KeyPair generate_key_pair(Random& random) {
  KeyBytes seed;
  random.fill(seed);
  Secret seed_text(encode(kSeedVersion, seed));
  OPENSSL_cleanse(seed.data(), seed.size());
  const auto key = SigningKey::from_seed(seed_text);
  return {key->public_key(), std::move(seed_text)};
}

void SigningKey::FreeKey::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

Result<SigningKey> SigningKey::from_seed(const Secret& seed_text) {
  auto seed = decode(kSeedVersion, seed_text.reveal());
  if (!seed) {
    return unexpected(
        Slug::validation_failed,
        "The secret seed is not valid. A seed has 56 characters, starts with S and ends "
        "with a checksum.");
  }
  KeyHandle key(
      EVP_PKEY_new_raw_private_key_ex(nullptr, "ED25519", nullptr, seed->data(), seed->size()));
  OPENSSL_cleanse(seed->data(), seed->size());
  COFFER_CHECK(key != nullptr);
  PublicKey public_key;
  std::size_t length = public_key.bytes.size();
  COFFER_CHECK(EVP_PKEY_get_raw_public_key(key.get(), public_key.bytes.data(), &length) == 1);
  COFFER_CHECK(length == public_key.bytes.size());
  return SigningKey(std::move(key), public_key);
}

Signature SigningKey::sign(std::string_view message) const {
  const DigestContext context(EVP_MD_CTX_new());
  Signature signature;
  std::size_t length = signature.size();
  COFFER_CHECK(EVP_DigestSignInit_ex(context.get(), nullptr, nullptr, nullptr, nullptr, key_.get(),
                                     nullptr) == 1);
  COFFER_CHECK(EVP_DigestSign(context.get(), signature.data(), &length, bytes_of(message),
                              message.size()) == 1);
  COFFER_CHECK(length == signature.size());
  return signature;
}

bool verify(const PublicKey& key, std::string_view message, std::string_view signature) {
  if (signature.size() != Signature{}.size()) return false;
  const Owned<EVP_PKEY, EVP_PKEY_free> handle(EVP_PKEY_new_raw_public_key_ex(
      nullptr, "ED25519", nullptr, key.bytes.data(), key.bytes.size()));
  COFFER_CHECK(handle != nullptr);
  const DigestContext context(EVP_MD_CTX_new());
  COFFER_CHECK(EVP_DigestVerifyInit_ex(context.get(), nullptr, nullptr, nullptr, nullptr,
                                       handle.get(), nullptr) == 1);
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                          message.size()) == 1;
}

}  // namespace coffer::auth
