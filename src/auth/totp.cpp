#include "auth/totp.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "base/check.h"
#include "base/crypto/openssl.h"
#include "base/numbers.h"

namespace coffer::auth {
namespace {

constexpr std::size_t kTotpKeyBytes = 20;
constexpr std::uint32_t kCodes = 1'000'000;
constexpr std::size_t kDigits = 6;

using Sha1 = std::array<std::uint8_t, 20>;

Sha1 hmac_sha1(std::string_view key, std::string_view data) {
  Sha1 out{};
  std::size_t size = 0;
  COFFER_CHECK(EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA1", nullptr, key.data(), key.size(),
                         bytes_of(data), data.size(), out.data(), out.size(), &size) != nullptr);
  COFFER_CHECK(size == out.size());
  return out;
}

}  // namespace

Secret generate_totp_key(Random& random) { return Secret(random.bytes(kTotpKeyBytes)); }

std::int64_t totp_step(Timestamp at) { return at.ms / kTotpStepMs; }

std::string totp_code(const Secret& key, std::int64_t step) {
  const Sha1 digest = hmac_sha1(key.reveal(), eight_bytes(step));
  // Dynamic truncation, RFC 4226 section 5.3.
  const std::size_t offset = digest.back() & 15;
  const std::uint64_t number = from_big_endian(as_text(digest).substr(offset, 4));
  return zero_padded((number & 0x7fffffff) % kCodes, kDigits);
}

std::optional<std::int64_t> match_totp(const Secret& key, std::string_view code, Timestamp now) {
  std::optional<std::int64_t> out;
  for (const std::int64_t skew : {-1, 0, 1}) {
    const std::int64_t step = totp_step(now) + skew;
    if (equal_constant_time(totp_code(key, step), code)) out = step;
  }
  return out;
}

Secret otpauth_uri(const Secret& key, std::string_view issuer, std::string_view account) {
  const std::string name = percent_encoded(issuer);
  return Secret("otpauth://totp/" + name + ":" + percent_encoded(account) + "?secret=" +
                to_base32(key.reveal()) + "&issuer=" + name + "&algorithm=SHA1&digits=6&period=30");
}

}  // namespace coffer::auth
