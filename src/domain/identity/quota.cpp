#include "domain/identity/quota.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/check.h"
#include "base/text/join.h"
#include "base/text/nearest.h"
#include "base/text/next_part.h"
#include "base/text/trimmed.h"
#include "base/text/whole_number.h"

namespace coffer {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

constexpr std::array<QuotaInfo, kQuotaCount> kQuotas{{
    {Quota::wallets, "wallets", "wallets", "Use existing wallets", 10'000, 1'000'000},
    {Quota::beneficiaries, "beneficiaries", "beneficiaries that are not archived",
     "Archive beneficiaries", 10'000, 2'000'000},
    {Quota::destinations, "destinations", "payment destinations that are not archived",
     "Archive destinations", 20'000, 4'000'000},
    {Quota::open_quotes, "open_quotes", "quotes that are neither used nor expired",
     "Use quotes or wait until they expire", 1'000, 100'000},
    {Quota::webhooks, "webhooks", "active webhooks", "Disable webhooks", 20, 100},
    {Quota::file_bytes, "file_bytes", "bytes of the database file",
     "Wait until logged deliveries expire", kGiB, kUnlimited},
}};
static_assert(in_enum_order(kQuotas, &QuotaInfo::quota));

constexpr std::string_view kUnlimitedWord = "unlimited";

struct Unit {
  std::string_view name;
  int shift;
};
constexpr std::array<Unit, 4> kUnits{{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}}};

std::vector<std::string_view> quota_names() {
  std::vector<std::string_view> out;
  for (const QuotaInfo& each : kQuotas) out.push_back(each.name);
  return out;
}

std::string all_names() { return join(kQuotas, ", ", std::mem_fn(&QuotaInfo::name)); }

}  // namespace

std::span<const QuotaInfo, kQuotaCount> quota_table() { return kQuotas; }

const QuotaInfo& info(Quota quota) { return kQuotas.at(static_cast<std::size_t>(quota)); }

std::string_view name(Quota quota) { return info(quota).name; }

std::optional<Quota> parse_quota(std::string_view text) {
  for (const QuotaInfo& each : kQuotas) {
    if (each.name == text) return each.quota;
  }
  return std::nullopt;
}

QuotaLimits default_quotas(Environment environment) {
  QuotaLimits out;
  for (std::size_t i = 0; i < kQuotaCount; ++i) {
    const bool sandbox = environment == Environment::sandbox;
    out.limits.at(i) = sandbox ? kQuotas.at(i).sandbox : kQuotas.at(i).production;
  }
  return out;
}

std::optional<std::int64_t> parse_quota_limit(Quota quota, std::string_view text) {
  if (text == kUnlimitedWord) return kUnlimited;
  int shift = 0;
  for (const Unit& unit : kUnits) {
    if (quota != Quota::file_bytes || !text.ends_with(unit.name)) continue;
    text.remove_suffix(unit.name.size());
    shift = unit.shift;
    break;
  }
  const auto value = whole_number<std::int64_t>(text, 0, kUnlimited >> shift);
  return value ? std::optional(*value << shift) : std::nullopt;
}

std::string quota_limit_text(Quota quota, std::int64_t limit) {
  if (limit == kUnlimited) return std::string(kUnlimitedWord);
  for (const Unit& unit : kUnits) {
    const std::int64_t size = std::int64_t{1} << unit.shift;
    if (quota == Quota::file_bytes && limit >= size && limit % size == 0) {
      return std::to_string(limit / size) + std::string(unit.name);
    }
  }
  return std::to_string(limit);
}

Result<QuotaLimits> parse_quota_limits(std::string_view text, QuotaLimits base) {
  std::set<Quota> given;
  while (!text.empty()) {
    const std::string_view item = next_part(text, ',');
    const auto equals = item.find('=');
    const std::string_view key = trimmed(item.substr(0, equals));
    const auto quota = parse_quota(key);
    if (!quota) {
      return unexpected(Slug::validation_failed,
                        "\"" + std::string(key) + "\" is not a quota. Use one of " + all_names() +
                            did_you_mean(key, quota_names()));
    }
    const std::string_view value =
        equals == std::string_view::npos ? "" : trimmed(item.substr(equals + 1));
    const auto limit = parse_quota_limit(*quota, value);
    if (!limit) {
      return unexpected(Slug::validation_failed,
                        "\"" + std::string(value) + "\" is not a valid limit for " +
                            std::string(key) + ". " + std::string(kQuotaLimitForm));
    }
    if (!given.insert(*quota).second) {
      return unexpected(Slug::validation_failed,
                        "\"" + std::string(key) + "\" has two limits. Keep one of them");
    }
    base.limits.at(static_cast<std::size_t>(*quota)) = *limit;
  }
  return base;
}

std::string quota_limits_text(const QuotaLimits& limits) {
  return join(kQuotas, ",", [&](const QuotaInfo& each) {
    return std::string(each.name) + "=" + quota_limit_text(each.quota, limits.of(each.quota));
  });
}

Result<void> check_quota(Quota quota, std::int64_t used, std::int64_t more, std::int64_t limit) {
  if (more <= limit - std::min(used, limit)) return {};
  const QuotaInfo& row = info(quota);
  const std::string of = std::to_string(used) + " of " + std::to_string(limit);
  return unexpected(Problem(Slug::quota_exceeded,
                            "The quota " + std::string(row.name) + " is exhausted: " + of + " " +
                                std::string(row.counts) + ". " + std::string(row.remedy) +
                                ", or ask the operator for a higher limit.",
                            {{"quota." + std::string(row.name), "is exhausted: " + of + " used"}}));
}

bool is_nearly_used(std::int64_t used, std::int64_t limit) {
  return limit != kUnlimited && used > limit / 5 * 4 + limit % 5 * 4 / 5;
}

}  // namespace coffer
