#include "flows/providers/refunds.h"

#include <algorithm>

#include "base/telemetry/log.h"
#include "domain/providers/quote.h"
#include "flows/ledger/market_changes.h"
#include "flows/payments/payment_steps.h"
#include "flows/providers/arrivals.h"
#include "flows/providers/contradictions.h"
#include "flows/providers/provider_movements.h"
#include "store/payments/payment_seal.h"
#include "store/providers/arrivals.h"
#include "store/providers/connectors.h"
#include "store/rows/guarded_rows.h"

namespace coffer::flows {
namespace {

using store::ProviderView;
using store::RefundRow;

/// Amount and currency in one form, so that a repeated report has the same text.
std::string report_text(const ReturnReport& report) {
  const auto stored = stored_amount(report.amount);
  const bool exact = stored && !stored->cut;
  return (exact ? stored->amount.to_string(Amount::kScale) : report.amount) + " " +
         report.currency + (report.with_fee ? " with fee" : "");
}

bool note_return(store::WriteTx& tx, std::int64_t payment, const ReturnReport& report) {
  return note_report(
      tx, payment, ProviderCall::status,
      "returned: " + report_text(report) + " of " + report.payout + " as " + report.return_id);
}

void leave_to_operator(store::WriteTx& tx, const ProviderView& view) {
  log_error("providers", "a returned payout contradicts its payment",
            {{"payment_key", view.payment.key}, {"connector_key", *view.payment.keys.connector}});
  if (is_checking(view.open_item)) return end_check(tx, view, true);
  store::set_open_item(tx, view.payment.key, OpenItem::contradicted);
}

/// What was booked for a payment so far.
std::vector<store::Movement> return_movements(store::WriteTx& tx, const ProviderView& view,
                                              const RefundRow& row) {
  std::vector<store::Movement> out = refund_movements(tx, view);
  out.front().posting.amount = row.amount;
  if (out.size() > 1) out.back().posting.amount = row.fee;
  std::erase_if(out, [](const auto& movement) { return movement.posting.amount.is_zero(); });
  return out;
}

/// Sets the amount and the fee that go back; false if the return contradicts the payout.
bool price_return(store::WriteTx& tx, const ProviderView& view, RefundRow& row) {
  const auto received = view.payment.receiving_amount;
  if (!was_paid(view.payment) || !row.returned || !received) return false;
  const GivenBack before = given_back(tx.db(), view.payment);
  const auto returned = before.returned.add(*row.returned);
  if (!returned || *returned > *received) return false;
  const Amount sent = view.payment.amounts.front();
  const auto connector = store::find_connector_by_key(tx.db(), *view.payment.keys.connector);
  const int decimals = connector->terms.send_decimals();
  row.amount = credit_for(sent, *returned, *received, decimals) - before.of_returns;
  row.fee = row.with_fee ? view.fee - before.fee : Amount();
  return before.parts < kRefundsMax && before.amount + row.amount <= sent;
}

void settle_return(const Context& context, store::WriteTx& tx, ProviderView& view, RefundRow row) {
  std::vector<store::Movement> movements;
  bool good = price_return(tx, view, row);
  if (good) {
    movements = return_movements(tx, view, row);
    good = std::ranges::all_of(movements, [&](const store::Movement& movement) {
      return is_covered(tx, {movement}) &&
             may_enter(tx, view.payment.environment, movement.posting);
    });
  }
  if (good) return book_refund(context, tx, view.payment, row, movements);
  row.state = RefundState::disputed;
  row.amount = row.fee = Amount();
  store::change_refund(tx, row);
  leave_to_operator(tx, view);
}

bool awaits_end(PaymentStatus status) {
  return !is_settled(status) || status == PaymentStatus::refund_pending;
}

void put_return_aside(const Context& context, store::WriteTx& tx, std::int64_t connector,
                      const ReturnReport& report) {
  const auto known = store::find_arrivals(tx.db(), connector, report.return_id);
  const bool repeated = std::ranges::any_of(known, [&](const store::ArrivalRow& one) {
    return one.reference == report.payout && one.amount == report.amount &&
           one.currency == report.currency;
  });
  if (repeated) return;
  put_aside(context, tx, connector,
            {report.payout, report.return_id, report.amount, report.currency, {}, false});
}

/// Handles an ID that was reported before: a repetition, or a contradiction.
void returned_before(store::WriteTx& tx, RefundRow known, const ReturnReport& report,
                     std::optional<std::int64_t> payment) {
  if (known.payment == payment && known.report == report_text(report)) return;
  if (known.state == RefundState::waiting) {
    known.state = RefundState::disputed;
    store::change_refund(tx, known);
  }
  if (note_return(tx, known.payment, report)) {
    leave_to_operator(tx, store::provider_view(tx, known.payment));
  }
}

RefundRow return_row(store::WriteTx& tx, const ConnectorTerms& connector, const ProviderView& view,
                     const ReturnReport& report) {
  RefundRow row;
  row.payment = view.payment.key;
  row.tenant = view.payment.tenant;
  row.reason = report.reason;
  row.connector = connector.key;
  row.return_id = report.return_id;
  row.report = report_text(report);
  row.with_fee = report.with_fee;
  const auto amount = stored_amount(report.amount);
  const bool usable = amount && !amount->cut && report.currency == connector.currency &&
                      truncate_to(amount->amount, connector.receive_decimals()) == amount->amount;
  if (usable) row.returned = amount->amount;
  // The ID was reported before with an unknown payout: an operator compares both.
  const bool strayed = !store::find_arrivals(tx.db(), connector.key, report.return_id).empty();
  if (strayed) row.state = RefundState::disputed;
  return row;
}

Result<void> take_return(const Context& context, store::WriteTx& tx,
                         const ConnectorTerms& connector, const ReturnReport& report) {
  const auto id = PaymentId::parse(report.payout);
  auto payment = id ? store::find_provider_payment(tx.db(), connector.key, *id) : std::nullopt;
  std::optional<ProviderView> view;
  if (payment) view = store::provider_view(tx, *payment);
  if (view && view->payment.type != PaymentType::offramp) {
    view.reset();
    payment.reset();
  }
  // This callback credits a wallet.
  if (connector.endpoint && connector.endpoint->retired &&
      (!view || view->endpoint != connector.endpoint->key)) {
    return unexpected(Slug::unauthorized,
                      "payout.returned must be signed with the connector's current secret, or with "
                      "that of the address that got the payout.");
  }
  if (const auto known = store::find_return(tx.db(), connector.key, report.return_id)) {
    returned_before(tx, *known, report, payment);
    return {};
  }
  if (!view) {
    put_return_aside(context, tx, connector.key, report);
    return {};
  }
  RefundRow row = return_row(tx, connector, *view, report);
  store::insert_refund(tx, row);
  note_return(tx, *payment, report);
  if (row.state == RefundState::disputed) {
    leave_to_operator(tx, *view);
  } else if (awaits_end(view->payment.status)) {
    if (store::find_provider_job(tx.db(), *payment)) store::hurry_provider_job(tx, *payment);
    tx.signal(store::Signal::providers);
  } else {
    settle_return(context, tx, *view, std::move(row));
  }
  return {};
}

}  // namespace

GivenBack given_back(store::Connection& db, const store::SettlementView& payment) {
  GivenBack out;
  for (const RefundRow& row : store::refunds_of(db, payment.key)) {
    if (row.state != RefundState::booked) continue;
    out.amount = out.amount + row.amount;
    out.fee = out.fee + row.fee;
    out.debited = out.debited + row.held.value_or(Amount());
    ++out.parts;
    if (!row.returned) continue;
    out.of_returns = out.of_returns + row.amount;
    out.returned = out.returned + *row.returned;
  }
  if (out.amount + out.fee == payment.sealed.state.refunded.value_or(Amount())) return out;
  throw store::ForeignChange("refunds of payment " + std::to_string(payment.key) +
                             " were hidden by another program");
}

void book_refund(const Context& context, store::WriteTx& tx, store::SettlementView& payment,
                 RefundRow& row, const std::vector<store::Movement>& movements) {
  row.state = RefundState::booked;
  row.booked_at = tx.now();
  if (!movements.empty()) {
    store::post(tx, payment, store::JournalKind::refund, movements);
    row.journal = store::ledger_head(tx).journal;
  }
  row.key == 0 ? store::insert_refund(tx, row) : store::change_refund(tx, row);
  if (movements.empty()) return;
  store::StatusChange change;
  change.refunded = payment.sealed.state.refunded.value_or(Amount()) + row.total();
  change.to = PaymentStatus::refund_pending;
  if (payment.status == PaymentStatus::succeeded) advance(context, tx, payment, change);
  change.to = PaymentStatus::refunded;
  advance(context, tx, payment, change);
}

void settle_returns(const Context& context, store::WriteTx& tx, ProviderView& view,
                    RefundState state) {
  for (RefundRow& row : store::refunds_of(tx.db(), view.payment.key)) {
    if (row.state == state) settle_return(context, tx, view, std::move(row));
  }
}

Result<void> accept_return(const Context& context, const ConnectorTerms& connector,
                           const ReturnReport& report) {
  return context.write(
      [&](store::WriteTx& tx) { return take_return(context, tx, connector, report); });
}

}  // namespace coffer::flows
