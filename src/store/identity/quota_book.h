// The writer's copy of what tenants use of their quotas.
//
// Every store function that writes or frees counted rows reports here, in its own command; flows
// judge. Counters of a batch are written once, before COMMIT, and the copy is kept from one batch
// to the next: the writer is the only one who changes the rows. A command that is rolled back takes
// its changes here back too.
//
// file_bytes is an estimate of what the rows of a tenant take with their indexes: a constant for
// each kind of row and the length of long texts (row_bytes.h). It falls when deliveries are pruned.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "domain/identity/quota.h"
#include "store/connection.h"

namespace coffer::store {

class QuotaBook {
 public:
  QuotaBook(Connection& writer, const QuotaDefaults& defaults)
      : writer_(writer), defaults_(defaults) {}

  /// Counts `more` (or less, when negative) whatever the limit.
  void add(std::int64_t tenant, Quota quota, std::int64_t more);
  void add_bytes(std::int64_t tenant, std::int64_t bytes) { add(tenant, Quota::file_bytes, bytes); }
  /// Counts `more` open quotes that expire then (milliseconds UTC, rounded up to ten seconds), so
  /// that nothing has to be written when they do.
  void add_open_quotes(std::int64_t tenant, Timestamp expires_at, std::int64_t more);
  /// The rule of domain/identity/quota.h, for `more` beyond what is used.
  Result<void> judge(const Tenant& tenant, Quota quota, std::int64_t more, Timestamp now);
  /// For one tenant; nullopt: the default applies again.
  void set_limit(std::int64_t tenant, Quota quota, std::optional<std::int64_t> limit,
                 Timestamp now);

  void begin_command() { undo_.clear(); }
  void roll_back_command();
  /// Writes every changed counter; logs a quota that passes 80 %.
  void flush(Timestamp now);
  /// The batch failed.
  void forget();

 private:
  struct Counter {
    std::int64_t used = 0;
    std::int64_t stored = 0;
  };
  struct Use {
    std::array<Counter, kQuotaCount> counters{};  // open_quotes: unused
    std::map<std::int64_t, Counter> open_quotes;  // by the time at which they have expired
    std::array<std::optional<std::int64_t>, kQuotaCount> limits{};
    Environment environment = Environment::sandbox;
    bool dirty = false;
  };
  Use& load(std::int64_t tenant);
  /// For a change, which a roll-back takes back.
  Use& change(std::int64_t tenant);
  std::int64_t limit(const Use& use, Quota quota) const;
  void store(std::int64_t tenant, Use& use, Quota quota, std::int64_t until, Counter& counter);
  void store_open_quotes(std::int64_t tenant, Use& use, Timestamp now);

  Connection& writer_;
  const QuotaDefaults defaults_;
  std::unordered_map<std::int64_t, Use> uses_;
  std::vector<std::pair<std::int64_t, Use>> undo_;  // first change of each tenant, by the command
  std::vector<std::int64_t> dirty_;
};

}  // namespace coffer::store
