// Limits of payments, the ends of days and months, and the reports of the books.
#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>

#include "flows/payments/limits.h"
#include "property/player.h"
#include "property/steps.h"

namespace coffer::property {
namespace {

using Holder = LimitKey::Holder;
using store::JournalKind;
using store::Report;

constexpr std::int64_t kBookDay = 86'400'000;
constexpr Wide kLargest = std::numeric_limits<std::int64_t>::max();

/// The column of an entry, by the documentation; -1: the entry is of no report.
int column_of(Report report, const store::BookEntry& entry) {
  const bool paid = entry.kind == JournalKind::payment;
  const bool given_back = entry.kind == JournalKind::refund;
  if (!paid && !given_back) return report == Report::conversion ? 0 : -1;
  switch (report) {
    case Report::settlement:
      return (given_back ? 2 : 0) + (entry.type == PaymentType::offramp ? 0 : 1);
    case Report::fees:
      return given_back ? 1 : 0;
    case Report::conversion:
      return given_back ? 2 : 1;
  }
  return -1;
}

AccountKind accounts_of(Report report) {
  switch (report) {
    case Report::settlement:
      return AccountKind::clearing;
    case Report::fees:
      return AccountKind::fee;
    case Report::conversion:
      return AccountKind::liquidity;
  }
  return AccountKind::clearing;
}

/// The day, or the pair of assets.
using RowKey = std::tuple<std::int64_t, std::int64_t, std::string, std::string>;
struct ExpectedRow {
  std::array<Wide, 4> moved{};
  std::int64_t entries = 0;
};

}  // namespace

void Player::act_on_books() {
  const std::int64_t kind = dice_.roll(6);
  if (kind < 4) return change_limit();
  if (kind < 5) return pass_midnight();
  check_report();
}

/// Around what is used now, so that the next payments are both accepted and rejected.
PaymentLimits Player::some_limits(const LimitKey& key) {
  const std::int64_t step = grain(key.asset);
  const ModelUse use =
      model_.limits().contains(key) ? model_.use_of(key, world_.clock.now().ms) : ModelUse{};
  const auto near = [&](Wide used) {
    const Wide units = used + Wide{step} * (1 + dice_.roll(100'000'000 / step * 1'000));
    const auto most = static_cast<std::int64_t>(std::min(units, kLargest - kLargest % step));
    return Amount::from_units(most - most % step);
  };
  PaymentLimits out;
  if (dice_.one_in(3)) out.per_payment = near(0);
  if (dice_.one_in(2)) out.per_day = near(use.day);
  if (dice_.one_in(2)) out.per_month = near(use.month);
  if (dice_.one_in(3)) out.payments_per_day = use.day_payments + dice_.roll(6);
  if (dice_.one_in(3)) out.payments_per_month = use.month_payments + dice_.roll(8);
  if (out == PaymentLimits()) out.per_day = near(use.day);
  return out;
}

void Player::change_limit() {
  LimitKey key{static_cast<Holder>(dice_.roll(3)), 0, index(2)};
  if (dice_.one_in(4)) key.asset = index(world_.assets.size());
  if (key.holder == Holder::wallet) key.wallet = index(kOwnWallets);
  flows::LimitOwner owner;
  if (key.holder == Holder::association) owner.association = world_.caller().tenant.association;
  if (key.holder == Holder::application) owner.application = world_.caller().application;
  if (key.holder == Holder::wallet) owner.wallet = world_.wallets[key.wallet].id;
  const bool known = model_.limits().contains(key);
  if (dice_.one_in(3) || model_.limits().size() > 4) {
    const LimitKey gone = key;
    const auto removed = flows::remove_limit(world_.context(), owner, code(gone.asset));
    expect(removed.has_value() == known, "removing a limit");
    model_.remove_limit(gone);
    return did(known ? "limit removed" : "no limit to remove");
  }
  const PaymentLimits limits = some_limits(key);
  PaymentLimitsChange change;
  change.set<&PaymentLimits::per_payment>(limits.per_payment);
  change.set<&PaymentLimits::per_day>(limits.per_day);
  change.set<&PaymentLimits::per_month>(limits.per_month);
  change.set<&PaymentLimits::payments_per_day>(limits.payments_per_day);
  change.set<&PaymentLimits::payments_per_month>(limits.payments_per_month);
  expect(flows::set_limit(world_.context(), owner, code(key.asset), change).has_value(),
         "setting a limit");
  model_.set_limit(key, limits);
  did(known ? "limit changed" : "limit set");
}

/// To the last millisecond of a day or month, or to the first one of the next.
void Player::pass_midnight() {
  using std::chrono::sys_days;
  const std::int64_t now = world_.clock.now().ms;
  std::int64_t midnight = now - now % kBookDay + kBookDay;
  const bool month = dice_.one_in(3);
  if (month) {
    const std::chrono::year_month_day date{sys_days(std::chrono::days(now / kBookDay))};
    const auto next = date.year() / date.month() + std::chrono::months(1);
    midnight = sys_days(next / 1).time_since_epoch().count() * kBookDay;
  }
  const std::int64_t to = midnight - (dice_.one_in(3) ? 1 : 0);
  world_.clock.advance_ms(std::max<std::int64_t>(to - now, 1));
  did(month ? "month ends" : "day ends");
}

void Player::check_limits() {
  const std::int64_t now = world_.clock.now().ms;
  const auto stored = world_.limits();
  expect(stored.size() == model_.limits().size(), "number of limits");
  std::map<LimitKey, ModelUse> uses;
  for (const store::LimitRow& row : stored) {
    LimitKey key;
    if (row.holder.application) key.holder = Holder::application;
    if (row.holder.wallet) key.holder = Holder::wallet;
    while (row.holder.wallet && world_.wallets[key.wallet].key != *row.holder.wallet) ++key.wallet;
    while (world_.assets[key.asset].key != row.holder.asset) ++key.asset;
    const LimitUse use = current_use(row.use, {now});
    const ModelUse found{use.day.amount.units(), use.month.amount.units(), use.day.payments,
                         use.month.payments};
    const ModelUse expected = model_.use_of(key, now);
    const auto words = [](const ModelUse& one) {
      return std::to_string(static_cast<std::int64_t>(one.day)) + "/" +
             std::to_string(one.day_payments) + " " +
             std::to_string(static_cast<std::int64_t>(one.month)) + "/" +
             std::to_string(one.month_payments);
    };
    expect(found == expected,
           "a limit has counted " + words(found) + ", expected " + words(expected));
    const auto before = uses_.find(key);
    const bool same_day = uses_at_ / kBookDay == now / kBookDay;
    if (before != uses_.end() && same_day && expected.day < before->second.day) did("limit frees");
    uses[key] = expected;
  }
  uses_ = std::move(uses);
  uses_at_ = now;
}

/// Any report of any days, compared with the exported journal.
void Player::check_report() {
  const auto report = static_cast<Report>(dice_.roll(3));
  const auto entries = world_.book_entries();
  const std::int64_t first = entries.front().at.ms / kBookDay;
  const std::int64_t days = world_.clock.now().ms / kBookDay - first + 1;
  const std::int64_t from = first + dice_.roll(days) - 1;
  const std::int64_t to = from + 1 + dice_.roll(days);
  store::ReportShare share;
  if (dice_.one_in(4)) share.tenant = world_.caller().tenant.key;
  if (report == Report::fees && dice_.one_in(2)) {
    share.connector = world_.connectors[index(2)].terms.key;
  }
  std::map<RowKey, ExpectedRow> expected;
  std::map<std::int64_t, Wide> balances;  // by account, at the start
  Wide most = 0;
  for (const store::BookEntry& entry : entries) {
    const std::int64_t day = entry.at.ms / kBookDay;
    if (entry.account.kind != accounts_of(report) || day >= to) continue;
    const auto payment = model_.payments().find(entry.transaction_id);
    const bool is_payment = payment != model_.payments().end();
    if (share.tenant && !is_payment) continue;
    if (share.connector &&
        world_.connectors[payment->second.side->connector].terms.key != *share.connector) {
      continue;
    }
    if (day < from) {
      balances[entry.account.key] += entry.amount.units();
      continue;
    }
    RowKey key{entry.account.key, report == Report::conversion ? 0 : day, "", ""};
    if (report == Report::conversion && is_payment) {
      std::get<2>(key) = payment->second.request.legs[0].sending_asset.value();
      std::get<3>(key) = payment->second.request.receiving_asset->value();
    }
    ExpectedRow& row = expected[key];
    Wide& moved = row.moved[static_cast<std::size_t>(column_of(report, entry))];
    moved += entry.amount.units();
    ++row.entries;
    most = std::max(most, moved < 0 ? -moved : moved);
  }
  if (most > kLargest) return did("report beyond the largest amount");
  const auto got = world_.report(report, {from * kBookDay}, {to * kBookDay}, share);
  expect(got.has_value(), got ? "a report" : "no report: " + got.error().detail);
  for (const store::ReportRow& row : *got) {
    const std::int64_t day = report == Report::conversion ? 0 : row.day.ms / kBookDay;
    const RowKey key{row.account.key, day, row.sold, row.bought};
    const ExpectedRow& wanted = expected[key];
    expect(row.entries == wanted.entries, "report: number of entries");
    Wide& balance = balances[row.account.key];
    expect(row.opening.units() == balance, "report: opening");
    for (std::size_t i = 0; i < wanted.moved.size(); ++i) {
      expect(row.moved[i].units() == wanted.moved[i], "report: column " + std::to_string(i));
      balance += wanted.moved[i];
    }
    expect(row.closing.units() == balance, "report: closing");
    expected.erase(key);
    if (row.entries == 0) expect(balance != 0, "report: a row without a balance or movement");
  }
  expect(expected.empty(), "report: a row is missing");
  did("report " + std::to_string(static_cast<int>(report)) + (share.connector ? " share" : ""));
}

}  // namespace coffer::property
