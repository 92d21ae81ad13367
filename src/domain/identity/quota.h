// Quotas: how much of the file one association may use in one environment
// (docs/contract.md#quotas). One table says what is counted; settings, commands, problems, metrics
// and the API take names and texts from it. The store keeps the enum: append, never reorder.
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
  std::string_view counts;  // what is counted, as a noun phrase
  std::string_view remedy;  // what makes room, as an imperative
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

/// What to write as a limit.
inline constexpr std::string_view kQuotaLimitForm =
    "Write a whole number or unlimited; file_bytes also takes a size such as 2GiB";
std::optional<std::int64_t> parse_quota_limit(Quota quota, std::string_view text);
/// As parse_quota_limit() reads it.
std::string quota_limit_text(Quota quota, std::int64_t limit);
/// `wallets=500,file_bytes=2GiB`: those named replace the limits of `base`. `validation-failed`
/// says what is wrong.
Result<QuotaLimits> parse_quota_limits(std::string_view text, QuotaLimits base);
/// Every limit, as parse_quota_limits() reads it.
std::string quota_limits_text(const QuotaLimits& limits);

/// `quota-exceeded` naming the quota when `used` and `more` together are over the limit.
Result<void> judge_quota(Quota quota, std::int64_t used, std::int64_t more, std::int64_t limit);
/// Over 80 % of the limit: the operator should know.
bool is_nearly_used(std::int64_t used, std::int64_t limit);

}  // namespace coffer
