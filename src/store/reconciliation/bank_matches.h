// Matches of bank lines with payments, the payments that can be matched, and the comparison of
// books, provider and bank.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ids.h"
#include "domain/reconciliation/matching.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

struct BankMatchRow {
  std::int64_t key = 0;
  std::int64_t line = 0;
  MatchChoice choice;
  PaymentId payment_id;
  std::optional<std::int64_t> undoes;
  std::optional<std::string> reason;
  std::string actor;
  Timestamp at;
};
/// The matches of a line that are not undone. Throws ForeignChange if another program changed one.
std::vector<BankMatchRow> matches_of_line(Connection& db, std::int64_t line);
void insert_bank_match(WriteTx& tx, const BankMatchRow& row);
/// Whether a line is matched with this part of a payment.
bool is_matched(Connection& db, const MatchChoice& choice);
/// The sum of the lines that are matched with a target, in its currency; all of it if one of them
/// has several payments.
Amount matched_amount(Connection& db, const MatchTarget& target);

/// Calls `take` for what can be matched of the payments with keys from `next` on, at most `limit`
/// of one connector: one connector of the environment after the other. Returns false at the end.
struct TargetPosition {
  std::vector<std::int64_t> connectors;
  std::size_t at = 0;
  std::int64_t first = 0;  // payment keys
  std::int64_t next = 0;
  std::int64_t below = 0;
};
TargetPosition targets_between(Connection& db, Environment environment, Timestamp from,
                               Timestamp to);
bool next_targets(Connection& db, TargetPosition& from, int limit,
                  const std::function<void(const MatchTarget&)>& take);
bool is_in_environment(Connection& db, std::int64_t payment, Environment environment);
/// What can be matched of one payment.
std::vector<MatchTarget> targets_of_payment(Connection& db, std::int64_t payment);

/// Movements of one day, in the currency of the connector; negative: out of the account.
struct ReconciledDay {
  Timestamp day;
  Amount
      clearing;  // on the clearing account, in its asset: what coffer owes the provider increases
  Amount books;  // of the payments with these entries
  Amount provider;  // of the results that the provider reported
  Amount bank;      // of the lines
  Amount open;      // of the lines without a match, which `bank` contains
  std::int64_t open_lines = 0;
};
/// Days with a movement, in order; `to` is exclusive. Lines that are matched count for the
/// connector of their payment, others for the one of their file.
std::vector<ReconciledDay> reconciled_days(Connection& db, std::int64_t connector, Timestamp from,
                                           Timestamp to);

}  // namespace coffer::store
