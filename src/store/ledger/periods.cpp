#include "store/ledger/periods.h"

#include "store/ledger/journal.h"
#include "store/ledger/statements.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr std::size_t kDigestStep = 64 * 1024;

constexpr Column<ClosedPeriod> kPeriodColumns[] = {
    column<&ClosedPeriod::period>("period"),  column<&ClosedPeriod::journal>("journal"),
    blob_column<&ClosedPeriod::link>("link"), column<&ClosedPeriod::accounts>("accounts"),
    column<&ClosedPeriod::digest>("digest"),  column<&ClosedPeriod::closed_at>("closed_at"),
};
const std::string kPeriods = select(kPeriodColumns) + " FROM closed_periods ORDER BY period";
const std::string kLastPeriod = kPeriods + " DESC LIMIT 1";
const std::string kInsertPeriod = ColumnList{}.add(kPeriodColumns).insert_into("closed_periods");
constexpr const char* kLinkAt = "SELECT link FROM journal WHERE journal = ?";
constexpr const char* kFirstAt = "SELECT at FROM journal ORDER BY journal LIMIT 1";
constexpr const char* kBalancesAt =
    "SELECT * FROM (SELECT a.account, (SELECT e.balance_after FROM entries e"
    " WHERE e.account = a.account AND e.entry < ?1 ORDER BY e.entry DESC LIMIT 1) AS balance"
    " FROM accounts a) WHERE balance IS NOT NULL ORDER BY account";

/// Sets the link, the number of accounts and the digest for the balances after `journal`.
void add_balances(Connection& db, ClosedPeriod& period, const Sha256& before) {
  if (period.journal > 0) {
    Query link(db, kLinkAt, period.journal);
    period.link = link.step() ? link.blob(0) : std::string();
  } else {
    period.link = genesis_link();
  }
  std::string text = std::to_string(period.period) + '|' + std::to_string(period.journal) + '|' +
                     period.link + '\n';
  period.digest = before;
  period.accounts = 0;
  const auto add = [&] {
    period.digest = sha256({as_text(Sha256(period.digest)), text});
    text.clear();
  };
  Query balances(db, kBalancesAt, (period.journal + 1) * kLinesPerSet);
  for (; balances.step(); ++period.accounts) {
    text += std::to_string(balances.integer(0)) + ' ' + std::to_string(balances.integer(1)) + '\n';
    if (text.size() >= kDigestStep) add();
  }
  add();
}

}  // namespace

std::vector<ClosedPeriod> list_closed_periods(Connection& db) {
  return all_rows<ClosedPeriod>(Query(db, kPeriods.c_str()), kPeriodColumns);
}

std::optional<ClosedPeriod> last_closed_period(Connection& db) {
  auto row = first_row<ClosedPeriod>(db, kLastPeriod, kPeriodColumns);
  if (row) require_intact(db, "closed_periods", row->period);
  return row;
}

std::optional<Timestamp> first_entry_at(Connection& db) { return first_time(db, kFirstAt); }

ClosedPeriod cut_period(Connection& db, std::int64_t period, Timestamp end,
                        const std::optional<ClosedPeriod>& before) {
  ClosedPeriod out{.period = period};
  out.journal = entries_between(db, {}, end).to / kLinesPerSet - 1;
  add_balances(db, out, before ? before->digest : Sha256{});
  return out;
}

void insert_closed_period(WriteTx& tx, const ClosedPeriod& period) {
  insert_row(tx.db(), kInsertPeriod, kPeriodColumns, period);
}

std::string verify_closed_periods(Connection& db) {
  std::optional<ClosedPeriod> before;
  for (const ClosedPeriod& stored : list_closed_periods(db)) {
    ClosedPeriod found = stored;
    add_balances(db, found, before ? before->digest : Sha256{});
    const bool follows = !before || stored.period == before->period + 1;
    if (!follows || found.link != stored.link || found.accounts != stored.accounts ||
        found.digest != stored.digest) {
      return "closed period " + std::to_string(stored.period / 12) + '-' +
             std::to_string(stored.period % 12 + 1) + " has other balances";
    }
    before = stored;
  }
  return {};
}

}  // namespace coffer::store
