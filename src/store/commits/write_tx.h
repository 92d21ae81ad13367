// The interface of a command on the writer's thread: the connection, one `now` for the whole batch,
// the balances, and signals to workers after the commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "domain/identity/tenant.h"
#include "store/commits/balance_book.h"
#include "store/commits/quota_book.h"
#include "store/file/connection.h"
#include "store/rows/row_buffer.h"

namespace coffer {
class Counter;  // base/telemetry/metrics.h
}

namespace coffer::store {

class KnownRows;     // store/ledger/known_rows.h
class OpenPayments;  // store/payments/open_payments.h

/// Workers that can have work after a commit.
enum class Signal { settlement, webhooks, providers, notifications };

/// The rows that most commands insert. They are gathered in memory until a statement uses their
/// tables, at the latest until the commit.
class NewRows {
 public:
  explicit NewRows(Connection& writer);
  ~NewRows();
  NewRows(const NewRows&) = delete;
  NewRows& operator=(const NewRows&) = delete;
  std::size_t size() const { return journal.size() + entries.size() + events.size(); }
  void write();
  void clear();

  RowBuffer journal;
  RowBuffer entries;
  RowBuffer events;

 private:
  Connection& writer_;
};

/// The end of the ledger: the last row of the journal, the number of payments, and the sum of their
/// versions (store/payments/payment_seal.h).
struct ChainHead {
  std::int64_t journal = 0;
  std::string link = {};  // empty: read all from the file at first use
  std::int64_t payments = 0;
  std::int64_t versions = 0;
  bool continues = true;  // false: another program changed the end
  bool operator==(const ChainHead&) const = default;
};

class WriteTx {
 public:
  /// All arguments must outlive this object.
  WriteTx(Connection& writer, KnownRows& known, OpenPayments& open_payments,
          const QuotaDefaults& quotas)
      : writer_(writer),
        new_rows_(writer),
        balances_(writer),
        known_(known),
        quotas_(writer, quotas),
        open_payments_(open_payments) {}
  WriteTx(const WriteTx&) = delete;
  WriteTx& operator=(const WriteTx&) = delete;

  Connection& db() { return writer_; }
  NewRows& new_rows() { return new_rows_; }
  BalanceBook& balances() { return balances_; }
  /// Wallets, trustlines and assets, for commands that read them for every payment.
  KnownRows& known() { return known_; }
  /// Quota usage of tenants. Store functions that write or free counted rows report here.
  QuotaBook& quotas() { return quotas_; }
  /// `quota-exceeded` if `more` would exceed the tenant's quota, or if the tenant has no bytes
  /// left. Call it for new requests of a tenant, but not for operations in progress or for requests
  /// that free a quota.
  Result<void> check_quota(const Tenant& tenant, Quota quota, std::int64_t more = 1) {
    COFFER_TRY_VOID(quotas_.judge(tenant, quota, more, now_));
    if (quota == Quota::file_bytes) return {};
    return quotas_.judge(tenant, Quota::file_bytes, 1, now_);
  }
  /// Read once per batch; never decreases from one commit to the next.
  Timestamp now() const { return now_; }
  /// Wakes the worker after the commit. This is only a hint, because the work itself is stored as a
  /// row.
  void signal(Signal signal) { signals_ |= 1U << static_cast<unsigned>(signal); }
  /// Increments the counter after the commit, unless the command is rolled back. The counter must
  /// outlive the queue.
  void count(Counter& counter) { counted_.push_back(&counter); }
  /// Call it after a change of associations or applications. The commit then invalidates cached
  /// identities.
  void touch_tenancy() {
    tenancy_touched_ = true;
    statuses_.clear();
  }
  /// The status after all earlier commands, including those of the same batch. Kept in memory
  /// between commits.
  AssociationStatus association_status(const Tenant& tenant);
  /// An ID for a new row of a noun that integrators list. IDs ascend, so rows are in the order of
  /// time and of ID (docs/contract.md#collections).
  template <class IdType>
  IdType new_id(Random& random) {
    return IdType{ids_.next(random, now_)};
  }
  /// The next event sequence of a tenant.
  std::int64_t next_sequence(std::int64_t tenant);
  /// The end of the ledger in this batch; read it through ledger_head().
  ChainHead& chain_head() { return chain_head_; }
  /// The payments in progress; read with the end of the ledger.
  OpenPayments& open_payments() { return open_payments_; }
  /// The end that the file's seal has.
  ChainHead& sealed_head() { return sealed_head_; }
  /// Payments whose provider parts changed in this batch; they get new digests before the commit.
  std::vector<std::int64_t>& provider_parts() { return provider_parts_; }

 private:
  friend class CommitQueue;
  void begin_command();
  /// Undoes the changes of the running command in memory.
  void roll_back_command();
  /// Discards in-memory copies of rows, because after a rollback they may contain undone changes.
  void forget_rows();
  void forget_batch();

  Connection& writer_;
  NewRows new_rows_;
  BalanceBook balances_;
  KnownRows& known_;
  QuotaBook quotas_;
  Timestamp now_;
  AscendingIds ids_;
  unsigned signals_ = 0;
  bool tenancy_touched_ = false;
  std::unordered_map<std::int64_t, std::int64_t> sequences_;
  ChainHead chain_head_;
  ChainHead sealed_head_;
  OpenPayments& open_payments_;
  std::vector<std::int64_t> provider_parts_;
  // To roll back the running command: the number of sequences it drew per tenant, and the previous
  // link.
  std::vector<std::int64_t> drawn_by_command_;
  ChainHead chain_head_before_;
  std::vector<Counter*> counted_;
  std::size_t counted_before_ = 0;                                // before the running command
  std::unordered_map<std::int64_t, AssociationStatus> statuses_;  // by tenant
};

}  // namespace coffer::store
