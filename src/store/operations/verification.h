// Verifies the invariants, the hash chain and the audit log of a served file in slices.
//
// Verifying everything in one snapshot would let the write-ahead log grow until the end. Here, each
// step checks a few rows and their related rows in its own read transaction; writes between two
// steps do not affect its result. Rows that never change again are checked once and remembered: the
// journal with its entries, settled payments, events, the audit log. Rows that can change are
// checked in every round: balances, open payments, webhooks, deliveries, sums, guarded rows.
//
// Later changes to old rows are detected only by verify() (store/invariants.h), which reads
// everything in one snapshot. It runs on copies.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "store/invariants.h"
#include "store/ledger/journal.h"
#include "store/lists/event_walk.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {

/// The work of one slice.
struct VerifiedRows {
  std::int64_t rows = 0;
  bool round_over = false;
};

/// The queries of all slices, for tests of their query plans.
std::vector<std::string> slice_queries();

/// For one thread.
class Verification {
 public:
  /// Performs steps on `db`, which is in a read transaction, until about `rows_max` rows were
  /// checked, `ms_max` have passed, or the round is over. May end after the first step of a table.
  VerifiedRows slice(Connection& db, std::int64_t rows_max, std::int64_t ms_max);
  /// Violations of the current round, or of the last one if it is over.
  const std::vector<Violation>& violations() const { return violations_; }
  /// The last verified entry set.
  std::int64_t position() const { return journal_.last; }

 private:
  struct Position {
    std::int64_t last = 0;
  };
  using Step = bool (Verification::*)(Connection&, VerifiedRows&);
  bool walk_journal(Connection& db, VerifiedRows& done);
  bool walk_chain(Connection& db, VerifiedRows& done);
  bool walk_audit_log(Connection& db, VerifiedRows& done);
  void note_refunds(Connection& db);
  bool walk_payments(Connection& db, VerifiedRows& done);
  bool walk_events(Connection& db, VerifiedRows& done);
  bool walk_accounts(Connection& db, VerifiedRows& done);
  bool walk_webhooks(Connection& db, VerifiedRows& done);
  bool walk_deliveries(Connection& db, VerifiedRows& done);
  bool walk_guarded_rows(Connection& db, VerifiedRows& done);
  bool walk_sums(Connection& db, VerifiedRows& done);
  bool walk_bodies(Connection& db, VerifiedRows& done);
  bool compare_end(Connection& db, VerifiedRows& done);
  bool look_at_few(Connection& db, VerifiedRows& done);
  void begin_round();
  bool walk_keys(Connection& db, Walk walk, Position& from, VerifiedRows& done);
  void check_range(Connection& db, Walk walk, const KeyRange& keys);
  void add(std::string_view invariant, std::string detail);

  static const std::array<Step, 13> kSteps;
  std::vector<Violation> violations_;
  std::size_t at_ = 0;  // index in kSteps
  bool begun_ = false;
  // Kept between rounds.
  Position journal_;
  ChainPosition chain_;
  ChainPosition acts_;
  std::int64_t next_block_ = 0;         // of payments
  std::set<std::int64_t> open_blocks_;  // blocks with a payment that can change
  std::int64_t refund_ = 0;             // the last one that was noted
  std::vector<std::int64_t> versions_;  // by block: the sum that the seal of the ledger contains
  EventWalk events_;
  // Restarted in every round.
  Position accounts_;
  Position webhooks_;
  GuardedPosition guarded_;
  std::int64_t body_ = 0;
  std::set<std::int64_t> blocks_left_;
  bool reads_all_again_ = false;  // the payments, because their versions differ from the seal
  std::array<std::int64_t, 2> delivery_{};  // webhook, sequence
  std::array<std::int64_t, 3> sum_{};       // connector, level, first_at
  std::string sum_destination_;
};

}  // namespace coffer::store
