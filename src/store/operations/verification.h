// The invariants, the hash chain and the audit log of a file that is served, in slices.
//
// A verification of everything in one snapshot keeps the write-ahead log growing until it is done.
// Here each step looks at a few rows, with whatever belongs to them, in a read transaction of its
// own; what is written between two steps cannot make a step wrong. Rows that never change again are
// looked at once, and remembered: the journal with its entries, settled payments, events, the audit
// log. What can change is looked at in every round: balances, open payments, webhooks, deliveries,
// sums.
//
// Only one snapshot of everything (verify() in store/invariants.h) finds what was changed in old
// rows since; that runs on copies.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "store/invariants.h"
#include "store/ledger/journal.h"
#include "store/operations/event_walk.h"

namespace coffer::store {

/// What a slice did.
struct VerifiedRows {
  std::int64_t rows = 0;
  bool round_over = false;
};

/// What slices ask, for who wants to know how SQLite finds it.
std::vector<std::string> slice_queries();

/// One thread.
class Verification {
 public:
  /// Takes steps on `db`, which is inside a read transaction, until about `rows_max` rows were
  /// looked at, `ms_max` have passed or the round is over. The first step of a table may be the
  /// last.
  VerifiedRows slice(Connection& db, std::int64_t rows_max, std::int64_t ms_max);
  /// Since the present round began, or of the last one when it is over.
  const std::vector<Violation>& violations() const { return violations_; }
  /// The last entry set that was looked at.
  std::int64_t position() const { return journal_.last; }

 private:
  struct Position {
    std::int64_t last = 0;
  };
  using Step = bool (Verification::*)(Connection&, VerifiedRows&);
  bool walk_journal(Connection& db, VerifiedRows& done);
  bool walk_chain(Connection& db, VerifiedRows& done);
  bool walk_audit_log(Connection& db, VerifiedRows& done);
  bool walk_payments(Connection& db, VerifiedRows& done);
  bool walk_events(Connection& db, VerifiedRows& done);
  bool walk_accounts(Connection& db, VerifiedRows& done);
  bool walk_webhooks(Connection& db, VerifiedRows& done);
  bool walk_deliveries(Connection& db, VerifiedRows& done);
  bool walk_sums(Connection& db, VerifiedRows& done);
  bool look_at_few(Connection& db, VerifiedRows& done);
  void begin_round();
  bool walk_keys(Connection& db, Walk walk, Position& from, VerifiedRows& done);
  void check_range(Connection& db, Walk walk, const KeyRange& keys);
  void add(std::string_view invariant, std::string detail);

  static const std::array<Step, 10> kSteps;
  std::vector<Violation> violations_;
  std::size_t at_ = 0;  // in kSteps
  bool begun_ = false;
  // Kept from round to round.
  Position journal_;
  ChainPosition chain_;
  ChainPosition acts_;
  std::int64_t next_block_ = 0;         // of payments
  std::set<std::int64_t> open_blocks_;  // with a payment that can change
  EventWalk events_;
  // From the beginning in every round.
  Position accounts_;
  Position webhooks_;
  std::set<std::int64_t> blocks_left_;
  std::array<std::int64_t, 2> delivery_{};  // webhook, sequence
  std::array<std::int64_t, 3> sum_{};       // connector, level, first_at
  std::string sum_destination_;
};

}  // namespace coffer::store
