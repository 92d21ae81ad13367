#include "base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "base/text/ascii.h"

namespace coffer {
namespace {

// Fetched once, because an implicit fetch per call takes longer than the hash (OpenSSL 3).
const EVP_MD* sha256_algorithm() {
  static const EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  COFFER_CHECK(algorithm != nullptr);
  return algorithm;
}

EVP_MD_CTX* thread_context() {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  return context.get();
}

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Encodes `bytes` in digits of `bits` bits, most significant first, without padding.
std::string encode(std::string_view bytes, std::string_view alphabet, unsigned bits) {
  std::string out;
  out.reserve((bytes.size() * 8 + bits - 1) / bits);
  unsigned pending = 0;
  unsigned held = 0;
  for (const char c : bytes) {
    pending = pending << 8 | static_cast<std::uint8_t>(c);
    held += 8;
    while (held >= bits) {
      held -= bits;
      out.push_back(alphabet[pending >> held & ((1U << bits) - 1)]);
    }
    pending &= (1U << held) - 1;
  }
  if (held > 0) out.push_back(alphabet[pending << (bits - held) & ((1U << bits) - 1)]);
  return out;
}

/// The inverse of encode(). Returns nullopt for an unknown digit, an impossible length or non-zero
/// leftover bits.
std::optional<std::string> decode(std::string_view text, std::string_view alphabet, unsigned bits) {
  std::string out;
  out.reserve(text.size() * bits / 8);
  unsigned pending = 0;
  unsigned held = 0;
  for (const char c : text) {
    const auto digit = alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    pending = pending << bits | static_cast<unsigned>(digit);
    held += bits;
    if (held >= 8) {
      held -= 8;
      out.push_back(static_cast<char>(pending >> held & 0xff));
      pending &= (1U << held) - 1;
    }
  }
  if (held >= bits || pending != 0) return std::nullopt;
  return out;
}

}  // namespace

void prepare_crypto() {
  COFFER_CHECK(OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1);
}

std::string openssl_version() { return OpenSSL_version(OPENSSL_VERSION_STRING); }

Sha256 sha256(std::string_view data) { return sha256({data}); }

Sha256 sha256(std::initializer_list<std::string_view> parts) {
  Sha256 out;
  EVP_MD_CTX* context = thread_context();
  COFFER_CHECK(EVP_DigestInit_ex2(context, sha256_algorithm(), nullptr) == 1);
  for (const std::string_view part : parts) {
    COFFER_CHECK(EVP_DigestUpdate(context, part.data(), part.size()) == 1);
  }
  COFFER_CHECK(EVP_DigestFinal_ex(context, out.data(), nullptr) == 1);
  return out;
}

std::optional<Sha256> sha256_from(std::string_view bytes) {
  Sha256 out;
  if (bytes.size() != out.size()) return std::nullopt;
  std::ranges::copy(bytes, out.begin());
  return out;
}

Sha256 hmac_sha256(std::string_view key, std::string_view data) {
  constexpr std::size_t kBlock = 64;
  std::string inner(kBlock, '\x36');
  std::string outer(kBlock, '\x5c');
  const Sha256 hashed_key = key.size() > kBlock ? sha256(key) : Sha256{};
  const std::string_view k = key.size() > kBlock ? as_text(hashed_key) : key;
  for (std::size_t i = 0; i < k.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ k[i]);
    outer[i] = static_cast<char>(outer[i] ^ k[i]);
  }
  const Sha256 first = sha256(inner.append(data));
  return sha256(outer.append(as_text(first)));
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string to_hex(std::string_view bytes) { return encode(bytes, kHexDigits, 4); }
std::string to_hex(std::span<const std::uint8_t> bytes) { return to_hex(as_text(bytes)); }

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  return decode(ascii::to_lower(text), kHexDigits, 4);
}

std::string to_base64(std::string_view bytes) {
  std::string out = encode(bytes, kBase64, 6);
  while (out.size() % 4 != 0) out.push_back('=');
  return out;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  return decode(text, kBase64, 6);
}

std::string to_base64url(std::string_view bytes) { return encode(bytes, kBase64Url, 6); }
std::optional<std::string> from_base64url(std::string_view text) {
  return decode(text, kBase64Url, 6);
}
std::string to_base32(std::string_view bytes) { return encode(bytes, kBase32, 5); }
std::optional<std::string> from_base32(std::string_view text) { return decode(text, kBase32, 5); }

std::string to_big_endian(std::uint64_t value, std::size_t bytes) {
  std::string out(bytes, '\0');
  for (std::size_t i = bytes; i-- > 0; value >>= 8) out[i] = static_cast<char>(value & 0xff);
  return out;
}

std::uint64_t from_big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<std::uint8_t>(c);
  return value;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = ascii::is_letter_or_digit(c) || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kHex[byte >> 4]);
    out.push_back(kHex[byte & 15]);
  }
  return out;
}

}  // namespace coffer
