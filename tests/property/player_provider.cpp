// Quotes, off-ramps, on-ramps and references.
#include <algorithm>

#include "domain/payments/compliance.h"
#include "flows/payments/make_quote.h"
#include "flows/providers/arrivals.h"
#include "flows/providers/connector_changes.h"
#include "flows/providers/provider_callback.h"
#include "flows/providers/refunds.h"
#include "http/json_body.h"
#include "property/player.h"
#include "property/steps.h"

namespace coffer::property {
namespace {

constexpr FailureCode kDecidedFailures[] = {FailureCode::account_closed,
                                            FailureCode::operator_failed};

}  // namespace

/// Usually a moment; sometimes as long as the longest delay.
std::int64_t Player::some_pause() {
  if (dice_.one_in(12)) return dice_.roll(300'000);
  return dice_.one_in(3) ? 0 : dice_.roll(2'000);
}

// Quotes
// -------------------------------------------------------------------------------------------

void Player::ask_price() {
  PriceQuestion question;
  question.connector = index(kQuotedConnectors);
  const ConnectorTerms& terms = world_.connectors[question.connector].terms;
  question.exact_receive = dice_.one_in(4);
  const std::int64_t step =
      step_of(question.exact_receive ? terms.receive_decimals() : terms.send_decimals());
  std::int64_t amount =
      step * (1 + dice_.roll(terms.max_amount.units() / step / (dice_.one_in(3) ? 1 : 50)));
  // Most off-ramps are of an amount that a wallet has.
  if (terms.direction == Direction::off_ramp && !question.exact_receive && !dice_.one_in(4)) {
    amount %= 100 * Amount::kUnitsPerWhole;
  }
  if (!dice_.one_in(8)) amount = std::max(amount, terms.min_amount.units());
  if (dice_.one_in(10)) amount += 1;
  if (dice_.one_in(20)) amount = terms.max_amount.units() + step;
  question.amount = amount;
  if (terms.direction == Direction::off_ramp && dice_.one_in(2)) {
    question.beneficiary = dice_.one_in(8) ? index(world_.beneficiaries.size()) : 0;
  }
  flows::QuoteRequest request{
      Amount::from_units(amount), question.exact_receive, terms.id, {}, {}, {}, {}};
  if (question.beneficiary) request.beneficiary = world_.beneficiaries[*question.beneficiary].id;
  const std::int64_t now = world_.clock.now().ms;
  Verdict verdict = model_.judge_question(question);
  const auto got = flows::make_quote(world_.context(), world_.caller().tenant, request);
  ModelQuote expected;
  if (verdict.wrong.empty()) {
    verdict = model_.judge_price(question, *world_.provider.last_quote(), now, expected);
    if (verdict.wrong.empty() && model_.exceeds(expected, now)) {
      verdict.wrong.insert(Slug::limit_exceeded);
    }
  }
  expect(got.has_value() == verdict.wrong.empty(),
         got ? "a quote is given" : "no quote is given: " + got.error().detail);
  if (!got) {
    did("no quote " + std::string(info(got.error().slug).name));
    return expect(got.error().slug == verdict.slug(),
                  "no quote for another reason: " + std::string(info(got.error().slug).name));
  }
  did("quoted");
  const Price& price = got->quote.price;
  expect(price.send.units() == expected.send && price.receive.units() == expected.receive,
         "quote: price");
  expect(price.fee.units() == expected.fee, "quote: fee");
  expect(price.total.units() == expected.total, "quote: total");
  expect(got->quote.expires_at.ms == expected.expires_at, "quote: time");
  expected.id = got->quote.id;
  model_.add_quote(expected);
}

std::optional<PaymentRequest> Player::some_quoted_request() {
  const auto& quotes = model_.quotes();
  if (quotes.empty()) return std::nullopt;
  // Usually one of the last few, which may still be valid.
  const std::size_t recent = std::min<std::size_t>(quotes.size(), 4);
  const ModelQuote& quote =
      dice_.one_in(5) ? dice_.pick(quotes) : quotes[quotes.size() - 1 - index(recent)];
  const WorldConnector& connector = world_.connectors[quote.connector];
  bool out = connector.terms.direction == Direction::off_ramp;
  if (dice_.one_in(30)) out = !out;
  std::size_t wallet = index(2);
  if (dice_.one_in(10)) wallet = index(world_.wallets.size());
  if (!out && dice_.one_in(5)) wallet = kReviewedWallet;
  PaymentRequest request;
  request.transaction_id = "t" + std::to_string(++last_id_);
  request.type = out ? PaymentType::offramp : PaymentType::onramp;
  request.quote = quote.id;
  if (dice_.one_in(40)) request.quote->uuid.bytes[15] ^= 1;
  TransferLeg leg;
  (out ? leg.source_wallet : leg.destination_wallet) = world_.wallets[wallet].id;
  if (dice_.one_in(4)) leg.refs.to_ref = "inv-" + std::to_string(dice_.roll(100));
  request.legs = {leg};
  if (out) {
    request.beneficiary =
        world_.beneficiaries[dice_.one_in(15) ? index(world_.beneficiaries.size()) : 0].id;
    request.compliance = Compliance{std::string(purpose_of_payment_terms().front().code),
                                    std::string(source_of_funds_terms().front().code),
                                    std::string(relationship_terms().front().code)};
  } else {
    request.payer = Payer{"Joe", "12345678", {}};
  }
  return request;
}

void Player::let_quote_expire() {
  if (model_.quotes().empty()) return;
  const std::size_t which = index(model_.quotes().size());
  const std::int64_t now = world_.clock.now().ms;
  const Verdict verdict = model_.judge_expiry(which, now);
  const auto got =
      flows::expire_quote(world_.context(), world_.caller().tenant, model_.quotes()[which].id);
  expect(got.has_value() == verdict.wrong.empty(), "letting a quote expire");
  if (!got) return expect(got.error().slug == verdict.slug(), "rejection to let a quote expire");
  did("quote expired by hand");
  model_.expire_quote(which, now);
}

/// The operator pauses a connector, resumes it, or sets a fee for the association.
void Player::change_terms() {
  const std::size_t connector = index(kQuotedConnectors);
  const ConnectorTerms& terms = world_.connectors[connector].terms;
  const std::int64_t kind = dice_.roll(4);
  if (kind == 0) {
    did("connector paused");
    world_.set_paused(connector, true);
    return model_.set_paused(connector, true);
  }
  if (kind == 1 || terms.direction == Direction::on_ramp) {
    for (std::size_t i = 0; i < kQuotedConnectors; ++i) {
      world_.set_paused(i, false);
      model_.set_paused(i, false);
    }
    return;
  }
  const AssociationId association = world_.caller().tenant.association;
  if (kind == 2 && model_.has_fee(connector)) {
    flows::remove_fee(world_.context(), association, terms.id, TransactionType::b2c).value();
    return model_.set_fee(connector, {});
  }
  did("fee of its own");
  const FeeRule fee{Amount::from_units(step_of(terms.send_decimals()) * dice_.roll(100)),
                    static_cast<int>(dice_.roll(500))};
  static_cast<void>(
      flows::set_fee(
          world_.context(), association, terms.id, TransactionType::b2c,
          FeeChange().set<&FeeRule::fixed>(fee.fixed).set<&FeeRule::basis_points>(fee.basis_points))
          .value());
  model_.set_fee(connector, fee);
}

// In progress
// ----------------------------------------------------------------------------------------

void Player::run_providers(std::int64_t lane, std::int64_t advance_ms) {
  world_.clock.advance_ms(advance_ms);
  const std::int64_t now = world_.clock.now().ms;
  const auto limit = static_cast<int>(1 + dice_.roll(12));
  const std::size_t before = model_.provider_jobs(lane);
  int taken = 0;
  const auto expected = model_.begin_round(lane, limit, now, taken);
  const auto round = flows::run_provider_jobs(world_.context(), lane, limit, claims_).value();
  expect(round.done == taken, "number of jobs at providers");
  expect(round.next_due.has_value() == (before > static_cast<std::size_t>(taken)),
         "more to ask providers");
  const auto talks = world_.provider.take_talks();
  expect(talks.size() == expected.size(), "number of calls to providers");
  for (std::size_t i = 0; i < talks.size(); ++i) {
    const std::string id = model_.transaction_of(talks[i].id);
    expect(id == expected[i].transaction_id,
           "a provider is asked about " + id + ", expected " + expected[i].transaction_id);
    expect(talks[i].call == expected[i].call, id + ": call " + std::string(name(talks[i].call)) +
                                                  ", expected " +
                                                  std::string(name(expected[i].call)));
    expect(talks[i].address == expected[i].address,
           id + ": asked at " + talks[i].address + ", expected " + expected[i].address);
    did("call " + std::string(name(talks[i].call)));
    model_.hear(id, talks[i].reply, now);
  }
  for (const ExpectedCall& call : expected) check_record(call.transaction_id);
}

const ModelPayment* Player::some_provider_payment() {
  std::vector<const ModelPayment*> all, open;
  for (const auto& [id, payment] : model_.payments()) {
    if (!payment.side) continue;
    all.push_back(&payment);
    if (payment.side->state != ProviderState::over) open.push_back(&payment);
  }
  if (!open.empty() && !dice_.one_in(6)) return dice_.pick(open);
  return all.empty() ? nullptr : dice_.pick(all);
}

void Player::decide() {
  const ModelPayment* payment = some_provider_payment();
  if (payment == nullptr) return;
  std::optional<FailureCode> failure;
  if (dice_.one_in(2)) failure = kDecidedFailures[dice_.roll(2)];
  const std::string id = payment->request.transaction_id;
  const PaymentId record_id = payment->id;
  const Verdict verdict = model_.decide(id, failure, world_.clock.now().ms);
  const auto got =
      flows::decide_payment(world_.context(), world_.caller().tenant, record_id, failure);
  expect(got.has_value() == verdict.wrong.empty(), "deciding payment " + id);
  if (!got) return expect(got.error().slug == verdict.slug(), "rejection to decide payment " + id);
  did("decided");
  check_record(id);
}

/// A provider's callback reports a change.
void Player::hurry() {
  const ModelPayment* payment = some_provider_payment();
  if (payment == nullptr) return;
  const ConnectorTerms& terms = world_.connectors[payment->side->connector].terms;
  flows::hear_update(world_.context(), terms, payment->id, http::JsonValue()).value();
  did("hurried");
  model_.hurry(payment->request.transaction_id, world_.clock.now().ms);
}

/// To one of three addresses, among them the present one.
void Player::move_connector() {
  const std::string address = "https://provider" + std::to_string(dice_.roll(3)) + ".example";
  const bool free = model_.may_move(kFarConnector, address);
  const bool confirmed = dice_.one_in(2);
  const auto moved = flows::set_connector_endpoint(
      world_.context(), world_.connectors[kFarConnector].terms.id, {address, {}, confirmed});
  expect(moved.has_value() == (free || confirmed), "moving a connector to " + address);
  if (!moved) return did("connector stays");
  did(free ? "connector moved" : "connector moved away from payments");
  model_.move(kFarConnector, address);
}

/// A bank sends a payout back: usually a part that is left, or all of it; sometimes more, another
/// currency, or before the end of the payout. Each report arrives twice.
void Player::send_back() {
  std::vector<const ModelPayment*> all, paid;
  for (const auto& [id, payment] : model_.payments()) {
    if (!payment.side || payment.request.type != PaymentType::offramp) continue;
    all.push_back(&payment);
    if (payment.was_paid() && payment.returned < payment.side->receive) paid.push_back(&payment);
  }
  if (all.empty()) return;
  const ModelPayment& payment = *dice_.pick(paid.empty() || dice_.one_in(5) ? all : paid);
  const ConnectorTerms& terms = world_.connectors[payment.side->connector].terms;
  const std::int64_t step = step_of(terms.receive_decimals());
  const auto left = static_cast<std::int64_t>(payment.side->receive - payment.returned);
  std::int64_t units = std::max(left, step);
  if (!dice_.one_in(3)) units = step * (1 + dice_.roll(units / step));
  if (dice_.one_in(15)) units = left + step;
  if (dice_.one_in(20)) units += 1;
  ModelReturn report{"R" + std::to_string(++last_return_), units, !dice_.one_in(20),
                     dice_.one_in(4)};
  const flows::ReturnReport told{payment.id.to_string(),
                                 report.id,
                                 Amount::from_units(units).to_string(Amount::kScale),
                                 report.right_currency ? terms.currency : "ZZZ",
                                 "closed",
                                 report.with_fee};
  const std::string id = payment.request.transaction_id;
  const std::int64_t now = world_.clock.now().ms;
  flows::accept_return(world_.context(), terms, told).value();
  model_.hear_return(id, report, now);
  check_record(id);
  did(payment.was_paid() ? "returned" : "return that waits or is disputed");
  flows::accept_return(world_.context(), terms, told).value();
}

void Player::pay_on_reference() {
  const WorldReference& reference = dice_.pick(world_.references);
  const ConnectorTerms& terms = world_.connectors[kReferenceConnector].terms;
  const bool again = last_arrival_ > 0 && dice_.one_in(4);
  std::int64_t units = step_of(2) * (1 + dice_.roll(dice_.one_in(8) ? 200 : 10'000'000));
  if (dice_.one_in(10)) units += 1;
  if (again && dice_.one_in(2)) units = last_reference_payment_.legs[0].amount.units();
  const Amount amount = Amount::from_units(units);
  const std::string currency = dice_.one_in(12) ? "EUR" : terms.currency;
  const flows::ReferenceArrival arrival{
      reference.text,
      "a" + std::to_string(again ? last_arrival_ : last_arrival_ + 1),
      amount.to_string(Amount::kScale),
      currency,
      {"Joe", "12345678", {}}};
  ReferenceOutcome outcome{model_.reference_price(units), {}};
  if (currency != terms.currency) {
    outcome.failure = FailureCode::wrong_currency;
  } else if (units % step_of(2) != 0) {
    outcome.failure = FailureCode::amount_precision;
  } else if (outcome.receive == 0) {
    outcome.failure = FailureCode::underpaid;
  }
  const auto got = flows::accept_reference_payment(world_.context(), terms, arrival, "r");
  expect(got.has_value(),
         got ? "an arrival is accepted" : "an arrival is rejected: " + got.error().detail);
  if (!got) return;
  expect(got->known == again, "an arrival that is known");
  if (again) return did("arrival again");
  did(outcome.failure ? "arrival that fails" : "arrival");
  ++last_arrival_;
  PaymentRequest& request = last_reference_payment_ = PaymentRequest();
  request.type = PaymentType::onramp_reference;
  request.transaction_id = "ref-" + got->id->to_string();
  TransferLeg leg;
  leg.destination_wallet = world_.wallets[reference.wallet].id;
  leg.sending_asset = *AssetCode::parse(currency);
  leg.amount = amount;
  leg.refs.to_ref = reference.text;
  leg.description = "Payment on " + reference.text;
  request.legs = {leg};
  request.payer = arrival.payer;
  request.receiving_asset = terms.asset.code;
  model_.accept_reference(request, *got->id, outcome, world_.clock.now().ms);
}

}  // namespace coffer::property
