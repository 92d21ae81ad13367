// The writer's copy of the quota usage of tenants.
//
// Every store function that writes or frees counted rows reports here, within its command; flows
// check the limits. The counters of a batch are written once, before COMMIT. The copy is kept
// between batches, because only the writer changes the rows. Rolling back a command also restores
// the counters here.
//
// file_bytes is an estimate of the space of a tenant's rows with their indexes: a constant per kind
// of row, plus the length of long texts (row_bytes.h). It decreases when deliveries are deleted.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "domain/identity/quota.h"
#include "store/file/connection.h"

namespace coffer::store {

/// Size in bytes of a row of each kind in the file, including its index entries, for the quota
/// `file_bytes`. tests/unit/store/identity/quota_book_test.cpp compares their sum with a file.
namespace row_bytes {
inline constexpr std::int64_t kPayment = 200;  // without its texts
inline constexpr std::int64_t kLeg = 90;
inline constexpr std::int64_t kRefund = 160;      // without its texts
inline constexpr std::size_t kMetadataTerm = 24;  // and the notation of its key and text
inline constexpr std::int64_t kEntrySet = 75;
inline constexpr std::int64_t kPosting = 75;  // two entries
inline constexpr std::int64_t kEvent = 28;
inline constexpr std::int64_t kEventBody = 20;
inline constexpr std::int64_t kDelivery = 50;
inline constexpr std::int64_t kAttempt = 48;
inline constexpr std::int64_t kQuote = 190;
inline constexpr std::int64_t kWallet = 700;  // with its metadata and first account
inline constexpr std::int64_t kBeneficiary = 400;
inline constexpr std::int64_t kDestination = 260;
inline constexpr std::int64_t kWebhook = 500;
inline constexpr std::int64_t kReference = 300;
}  // namespace row_bytes

class QuotaBook {
 public:
  QuotaBook(Connection& writer, const QuotaDefaults& defaults)
      : writer_(writer), defaults_(defaults) {}

  /// Adds `more` (which may be negative), regardless of the limit.
  void add(std::int64_t tenant, Quota quota, std::int64_t more);
  void add_bytes(std::int64_t tenant, std::int64_t bytes) { add(tenant, Quota::file_bytes, bytes); }
  /// Adds `more` open quotes that expire at this time, rounded up to ten seconds. Their expiry
  /// needs no write.
  void add_open_quotes(std::int64_t tenant, Timestamp expires_at, std::int64_t more);
  /// Checks the rule of domain/identity/quota.h for `more` in addition to the present usage.
  Result<void> judge(const Tenant& tenant, Quota quota, std::int64_t more, Timestamp now);
  /// Sets the limit of one tenant; nullopt restores the default.
  void set_limit(std::int64_t tenant, Quota quota, std::optional<std::int64_t> limit,
                 Timestamp now);

  void begin_command() { undo_.clear(); }
  void roll_back_command();
  /// Writes every changed counter, and logs a quota that exceeds 80 %.
  void flush(Timestamp now);
  /// Discards all changes after the batch failed.
  void forget();

 private:
  struct Counter {
    std::int64_t used = 0;
    std::int64_t stored = 0;
  };
  struct Use {
    std::array<Counter, kQuotaCount> counters{};  // the element open_quotes is unused
    std::map<std::int64_t, Counter> open_quotes;  // by time of expiry
    std::array<std::optional<std::int64_t>, kQuotaCount> limits{};
    Environment environment = Environment::sandbox;
    bool dirty = false;
  };
  Use& load(std::int64_t tenant);
  /// For a change that a rollback of the command undoes.
  Use& change(std::int64_t tenant);
  std::int64_t limit(const Use& use, Quota quota) const;
  void store(std::int64_t tenant, Use& use, Quota quota, std::int64_t until, Counter& counter);
  void store_open_quotes(std::int64_t tenant, Use& use, Timestamp now);

  Connection& writer_;
  const QuotaDefaults defaults_;
  std::unordered_map<std::int64_t, Use> uses_;
  // The state of each tenant before its first change by the command.
  std::vector<std::pair<std::int64_t, Use>> undo_;
  std::vector<std::int64_t> dirty_;
};

}  // namespace coffer::store
