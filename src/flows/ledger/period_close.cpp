#include "flows/ledger/period_close.h"

#include "base/numbers.h"
#include "base/text/whole_number.h"

namespace coffer::flows {
namespace {

Timestamp start_of(std::int64_t period) { return *Timestamp::parse(period_text(period) + "-01"); }

/// The only month that can be closed next; nullopt: the ledger is empty.
std::optional<std::int64_t> next_period(store::Connection& db,
                                        const std::optional<store::ClosedPeriod>& last) {
  if (last) return last->period + 1;
  const auto first = store::first_entry_at(db);
  return first ? parse_period(first->to_string().substr(0, 7)) : std::nullopt;
}

Result<void> check_next(store::Connection& db, std::int64_t period,
                        const std::optional<store::ClosedPeriod>& last, Timestamp now) {
  const std::string month = period_text(period);
  const auto refused = [&](const std::string& why) -> Result<void> {
    return unexpected(Slug::conflict, month + " cannot be closed: " + why);
  };
  if (start_of(period + 1) > now) {
    return refused("it has not ended. A month ends at midnight UTC.");
  }
  const auto next = next_period(db, last);
  if (!next) return refused("the ledger has no entries.");
  if (period == *next) return {};
  if (period > *next) return refused("close " + period_text(*next) + " first.");
  return refused(last ? "it is already closed."
                      : "the ledger begins in " + period_text(*next) + ".");
}

}  // namespace

std::string period_text(std::int64_t period) {
  return zero_padded(period / 12, 4) + '-' + zero_padded(period % 12 + 1, 2);
}

std::optional<std::int64_t> parse_period(std::string_view text) {
  const auto at = Timestamp::parse(std::string(text) + "-01");
  if (!at || text.size() != 7) return std::nullopt;
  return *whole_number<std::int64_t>(text.substr(0, 4), 0, 9'999) * 12 +
         *whole_number<std::int64_t>(text.substr(5), 1, 12) - 1;
}

Result<store::ClosedPeriod> close_period(const Context& context, std::int64_t period) {
  using store::ClosedPeriod;
  // The entries of a month that has ended are final, so its balances are read before the commit.
  COFFER_TRY(auto cut, context.read([&](store::Connection& db) -> Result<ClosedPeriod> {
    const auto last = store::last_closed_period(db);
    COFFER_TRY_VOID(check_next(db, period, last, context.queue.now()));
    return store::cut_period(db, period, start_of(period + 1), last);
  }));
  return context.write([&](store::WriteTx& tx) -> Result<ClosedPeriod> {
    COFFER_TRY_VOID(check_next(tx.db(), period, store::last_closed_period(tx.db()), tx.now()));
    cut.closed_at = tx.now();
    store::insert_closed_period(tx, cut);
    return cut;
  });
}

}  // namespace coffer::flows
