// Time-based one-time passwords: RFC 6238 with the parameters that every authenticator app supports
// (SHA-1, 30 seconds, 6 digits). Stateless; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/random.h"
#include "base/strong.h"

namespace coffer::auth {

inline constexpr std::int64_t kTotpStepMs = 30'000;

/// 160 random bits, as RFC 4226 recommends, in raw bytes.
Secret generate_totp_key(Random& random);

std::int64_t totp_step(Timestamp at);
/// The six-digit code of a step.
std::string totp_code(const Secret& key, std::int64_t step);
/// The step of `code`: that of `now`, the one before or the one after. Compares all three in
/// constant time. To accept each code only once, the caller rejects a step at or below the last
/// accepted one.
std::optional<std::int64_t> match_totp(const Secret& key, std::string_view code, Timestamp now);

/// The URI that an authenticator app scans (Google's key URI format). Contains the key.
Secret otpauth_uri(const Secret& key, std::string_view issuer, std::string_view account);

}  // namespace coffer::auth
