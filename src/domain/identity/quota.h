// Quotas: how much of the file one association may use in one environment
// (docs/contract.md#quotas). Settings, commands, problems, metrics and the API take names and texts
// from one table. The store keeps the enum as integers: append, never reorder.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/identity/tenant.h"

namespace coffer {

enum class Quota { wallets, beneficiaries, destinations, open_quotes, webhooks, file_bytes };

inline constexpr std::size_t kQuotaCount = 6;
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

struct QuotaInfo {
  Quota quota;
  std::string_view name;    // in settings, commands, metrics and the API
  std::string_view counts;  // the counted objects, as a noun phrase
  std::string_view remedy;  // how to free quota, as an imperative
  std::int64_t sandbox;     // default limits
  std::int64_t production;
};
/// In enum order.
std::span<const QuotaInfo, kQuotaCount> quota_table();
const QuotaInfo& info(Quota quota);
std::string_view name(Quota quota);  // wallets, open_quotes, ...
std::optional<Quota> parse_quota(std::string_view text);

/// One limit per quota.
struct QuotaLimits {
  std::array<std::int64_t, kQuotaCount> limits{};

  std::int64_t of(Quota quota) const { return limits.at(static_cast<std::size_t>(quota)); }
  bool operator==(const QuotaLimits&) const = default;
};
QuotaLimits default_quotas(Environment environment);

/// The limits of associations for which the operator has set none.
struct QuotaDefaults {
  QuotaLimits sandbox = default_quotas(Environment::sandbox);
  QuotaLimits production = default_quotas(Environment::production);

  std::int64_t of(Environment environment, Quota quota) const {
    return (environment == Environment::sandbox ? sandbox : production).of(quota);
  }
};

/// The accepted syntax of a limit.
inline constexpr std::string_view kQuotaLimitForm =
    "Write a whole number or unlimited; file_bytes also takes a size such as 2GiB";
std::optional<std::int64_t> parse_quota_limit(Quota quota, std::string_view text);
/// In the syntax that parse_quota_limit() reads.
std::string quota_limit_text(Quota quota, std::int64_t limit);
/// Reads `wallets=500,file_bytes=2GiB`. The listed limits replace those of `base`.
/// `validation-failed` with the error.
Result<QuotaLimits> parse_quota_limits(std::string_view text, QuotaLimits base);
/// All limits, in the syntax that parse_quota_limits() reads.
std::string quota_limits_text(const QuotaLimits& limits);

/// `quota-exceeded` with the quota if the sum of `used` and `more` exceeds the limit.
Result<void> check_quota(Quota quota, std::int64_t used, std::int64_t more, std::int64_t limit);
/// Whether usage exceeds 80 % of the limit, which is reported to the operator.
bool is_nearly_used(std::int64_t used, std::int64_t limit);

}  // namespace coffer
