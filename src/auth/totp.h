// One-time passwords by time: RFC 6238 with the parameters that every authenticator app speaks
// (SHA-1, 30 seconds, 6 digits). Stateless; safe from any thread.
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

/// 160 random bits as RFC 4226 recommends, as raw bytes.
Secret generate_totp_key(Random& random);

std::int64_t totp_step(Timestamp at);
/// The six digits of a step.
std::string totp_code(const Secret& key, std::int64_t step);
/// The step that `code` belongs to: the one of `now`, the one before or the one after. Constant
/// time over the three. That a code works once is the caller's to see: it accepts no step at or
/// below the last one it accepted.
std::optional<std::int64_t> match_totp(const Secret& key, std::string_view code, Timestamp now);

/// What an authenticator app scans (Google's key URI format). Holds the key.
Secret otpauth_uri(const Secret& key, std::string_view issuer, std::string_view account);

}  // namespace coffer::auth
