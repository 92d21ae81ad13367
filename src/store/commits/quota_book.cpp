#include "store/commits/quota_book.h"

#include <algorithm>

#include "base/check.h"
#include "base/telemetry/log.h"

namespace coffer::store {
namespace {

constexpr const char* kStore =
    "INSERT INTO quota_use (tenant, quota, until, used) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (tenant, quota, until) DO UPDATE SET used = excluded.used";
constexpr const char* kSetLimit =
    "INSERT INTO quota_limits (tenant, quota, maximum, updated_at) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (tenant, quota) DO UPDATE SET maximum = excluded.maximum,"
    " updated_at = excluded.updated_at";

/// The time of counters that do not expire.
constexpr std::int64_t kForever = 0;
constexpr std::int64_t kExpiryStepMs = 10'000;

std::int64_t rounded_up(Timestamp at) {
  return (at.ms + kExpiryStepMs - 1) / kExpiryStepMs * kExpiryStepMs;
}

std::size_t index(Quota quota) { return static_cast<std::size_t>(quota); }

}  // namespace

QuotaBook::Use& QuotaBook::load(std::int64_t tenant) {
  const auto [it, fresh] = uses_.try_emplace(tenant);
  Use& use = it->second;
  if (!fresh) return use;
  {
    Query query(writer_, "SELECT environment FROM tenants WHERE tenant = ?", tenant);
    if (query.step()) use.environment = query.enumeration<Environment>(0);
  }
  {
    Query query(writer_, "SELECT quota, until, used FROM quota_use WHERE tenant = ?", tenant);
    while (query.step()) {
      const auto quota = query.enumeration<Quota>(0);
      const Counter counter{query.integer(2), query.integer(2)};
      if (quota == Quota::open_quotes) {
        use.open_quotes[query.integer(1)] = counter;
      } else {
        use.counters.at(index(quota)) = counter;
      }
    }
  }
  Query query(writer_, "SELECT quota, maximum FROM quota_limits WHERE tenant = ?", tenant);
  while (query.step()) {
    use.limits.at(index(query.enumeration<Quota>(0))) = query.integer(1);
  }
  return use;
}

QuotaBook::Use& QuotaBook::change(std::int64_t tenant) {
  Use& use = load(tenant);
  const bool known =
      std::ranges::any_of(undo_, [&](const auto& each) { return each.first == tenant; });
  if (!known) undo_.emplace_back(tenant, use);
  if (!use.dirty) dirty_.push_back(tenant);
  use.dirty = true;
  return use;
}

void QuotaBook::add(std::int64_t tenant, Quota quota, std::int64_t more) {
  COFFER_CHECK(quota != Quota::open_quotes);
  Counter& counter = change(tenant).counters.at(index(quota));
  // A wrong counter is a violation in `coffer verify`, but does not prevent freeing rows.
  counter.used = std::max<std::int64_t>(0, counter.used + more);
}

void QuotaBook::add_open_quotes(std::int64_t tenant, Timestamp expires_at, std::int64_t more) {
  Counter& counter = change(tenant).open_quotes[rounded_up(expires_at)];
  counter.used = std::max<std::int64_t>(0, counter.used + more);
}

std::int64_t QuotaBook::limit(const Use& use, Quota quota) const {
  return use.limits.at(index(quota)).value_or(defaults_.of(use.environment, quota));
}

Result<void> QuotaBook::judge(const Tenant& tenant, Quota quota, std::int64_t more, Timestamp now) {
  const Use& use = load(tenant.key);
  std::int64_t used = use.counters.at(index(quota)).used;
  for (auto it = use.open_quotes.upper_bound(now.ms);
       quota == Quota::open_quotes && it != use.open_quotes.end(); ++it) {
    used += it->second.used;
  }
  return check_quota(quota, used, more, limit(use, quota));
}

void QuotaBook::set_limit(std::int64_t tenant, Quota quota, std::optional<std::int64_t> limit,
                          Timestamp now) {
  change(tenant).limits.at(index(quota)) = limit;
  if (limit) {
    writer_.run(kSetLimit, tenant, quota, *limit, now);
  } else {
    writer_.run("DELETE FROM quota_limits WHERE tenant = ? AND quota = ?", tenant, quota);
  }
}

void QuotaBook::roll_back_command() {
  for (auto& [tenant, before] : undo_) {
    // Changes from before the command must still be written.
    const bool dirty = uses_.at(tenant).dirty;
    uses_.at(tenant) = std::move(before);
    uses_.at(tenant).dirty = dirty;
  }
  undo_.clear();
}

void QuotaBook::store(std::int64_t tenant, Use& use, Quota quota, std::int64_t until,
                      Counter& counter) {
  if (counter.used == counter.stored) return;
  writer_.run(kStore, tenant, quota, until, counter.used);
  const std::int64_t most = limit(use, quota);
  if (until == kForever && is_nearly_used(counter.used, most) &&
      !is_nearly_used(counter.stored, most)) {
    log_warning(
        "store", "a quota is more than 80 % used",
        {{"tenant", tenant}, {"quota", name(quota)}, {"used", counter.used}, {"limit", most}});
  }
  counter.stored = counter.used;
}

void QuotaBook::store_open_quotes(std::int64_t tenant, Use& use, Timestamp now) {
  const auto expired = use.open_quotes.upper_bound(now.ms);
  if (expired != use.open_quotes.begin()) {
    writer_.run("DELETE FROM quota_use WHERE tenant = ? AND quota = ? AND until <= ?", tenant,
                Quota::open_quotes, now);
    use.open_quotes.erase(use.open_quotes.begin(), expired);
  }
  for (auto& [until, counter] : use.open_quotes) {
    store(tenant, use, Quota::open_quotes, until, counter);
  }
}

void QuotaBook::flush(Timestamp now) {
  for (const std::int64_t tenant : dirty_) {
    Use& use = uses_.at(tenant);
    for (std::size_t i = 0; i < kQuotaCount; ++i) {
      store(tenant, use, static_cast<Quota>(i), kForever, use.counters.at(i));
    }
    store_open_quotes(tenant, use, now);
    use.dirty = false;
  }
  dirty_.clear();
}

void QuotaBook::forget() {
  uses_.clear();
  undo_.clear();
  dirty_.clear();
}

}  // namespace coffer::store
