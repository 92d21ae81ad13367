// What a command sees while it runs on the writer's thread: the connection, one `now` for the whole
// batch, the balances, and the means to say who has to look once the commit is on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "domain/identity/tenant.h"
#include "store/connection.h"
#include "store/identity/quota_book.h"
#include "store/ledger/balance_book.h"

namespace coffer {
class Counter;  // base/telemetry/metrics.h
}

namespace coffer::store {

/// Workers that a commit can give work to.
enum class Signal { settlement, webhooks, providers, notifications };

class WriteTx {
 public:
  WriteTx(Connection& writer, const QuotaDefaults& quotas)
      : writer_(writer), balances_(writer), quotas_(writer, quotas) {}
  WriteTx(const WriteTx&) = delete;
  WriteTx& operator=(const WriteTx&) = delete;

  Connection& db() { return writer_; }
  BalanceBook& balances() { return balances_; }
  /// What tenants use of their quotas. Store functions that write or free counted rows report here.
  QuotaBook& quotas() { return quotas_; }
  /// `quota-exceeded` when the tenant may not have `more` of what the quota counts, or no more
  /// bytes of the file. For what a tenant asks for anew; never for what has begun, and never for
  /// what makes room.
  Result<void> room_for(const Tenant& tenant, Quota quota, std::int64_t more = 1) {
    COFFER_TRY_VOID(quotas_.judge(tenant, quota, more, now_));
    if (quota == Quota::file_bytes) return {};
    return quotas_.judge(tenant, Quota::file_bytes, 1, now_);
  }
  /// Read once per batch; never goes back from one commit to the next.
  Timestamp now() const { return now_; }
  /// The worker is woken after the commit. Only a hint: the work itself is a row.
  void signal(Signal signal) { signals_ |= 1U << static_cast<unsigned>(signal); }
  /// Counts one once the commit is on disk, and nothing when the command is taken back. The counter
  /// outlives the queue.
  void count(Counter& counter) { counted_.push_back(&counter); }
  /// The command changes associations or applications: cached identities end with the commit. Call
  /// it after the change.
  void touch_tenancy() {
    tenancy_touched_ = true;
    statuses_.clear();
  }
  /// As the commands before this one left it, also those of the same batch. Kept in memory from one
  /// commit to the next.
  AssociationStatus association_status(const Tenant& tenant);
  /// Next event sequence of a tenant, rising by one.
  std::int64_t next_sequence(std::int64_t tenant);
  /// Last link of the hash chain inside this batch; the journal reads and replaces it.
  std::string& chain_head() { return chain_head_; }

 private:
  friend class CommitQueue;
  Connection& writer_;
  BalanceBook balances_;
  QuotaBook quotas_;
  Timestamp now_;
  unsigned signals_ = 0;
  bool tenancy_touched_ = false;
  std::unordered_map<std::int64_t, std::int64_t> sequences_;
  std::string chain_head_;  // empty: read from the journal at first use
  // To take the running command back: how many numbers it drew per tenant, and the link before it.
  std::vector<std::int64_t> drawn_by_command_;
  std::string chain_head_before_;
  std::vector<Counter*> counted_;
  std::size_t counted_before_ = 0;                                // the running command
  std::unordered_map<std::int64_t, AssociationStatus> statuses_;  // by tenant
};

}  // namespace coffer::store
