#include "property/provider.h"

#include "property/steps.h"

namespace coffer::property {
namespace {

using namespace outbound;

/// Requests about some payments never arrive before they are given up.
bool never_arrives(const PaymentId& id) { return id.uuid.bytes[15] % 8 == 0; }

}  // namespace

template <class Answer>
Result<Answer> DiceProvider::say(const ConnectorTerms& terms, const PaymentId& id,
                                 ProviderCall call, Result<Answer> answer) {
  const std::string address = terms.endpoint ? terms.endpoint->base_url : std::string();
  if (answer) {
    talks_.push_back({id, call, flows::ProviderReply(*answer), address});
  } else {
    talks_.push_back({id, call, flows::ProviderReply(unexpected(answer.error())), address});
  }
  return answer;
}

Unexpected DiceProvider::fault() {
  switch (dice_.roll(3)) {
    case 0:
      return unexpected(Slug::provider_timeout, "no answer");
    case 1:
      return unexpected(Problem(Slug::provider_unavailable, "no connection")
                            .retry_after(static_cast<int>(1 + dice_.roll(5))));
    default:
      return unexpected(Slug::provider_error, "garbage");
  }
}

FailureCode DiceProvider::some_failure() {
  return dice_.pick(std::vector<FailureCode>{
      FailureCode::insufficient_funds, FailureCode::account_closed, FailureCode::account_not_found,
      FailureCode::name_mismatch, FailureCode::limit_exceeded, FailureCode::compliance_rejected});
}

// Prices
// -------------------------------------------------------------------------------------------

ProviderQuote DiceProvider::priced(const ConnectorTerms& terms, const QuoteAsk& ask) {
  const std::int64_t send_step = step_of(terms.send_decimals());
  const std::int64_t receive_step = step_of(terms.receive_decimals());
  const bool off_ramp = terms.direction == Direction::off_ramp;
  ProviderQuote out;
  out.rate = {1 + dice_.roll(1'000), 1 + dice_.roll(1'000)};
  out.rate_places = static_cast<int>(dice_.roll(10));
  out.send = ask.amount;
  const std::int64_t fee_max = out.send.units() / send_step / 10;
  out.fee = Amount::from_units(send_step * dice_.roll(fee_max + 1));
  if (ask.exact_receive) {
    // At least the amount that arrives, and at most one step more.
    const auto priced =
        multiply(ask.amount, {out.rate.denominator, out.rate.numerator}, Rounding::up);
    const Amount up = truncate_to(priced.value(), terms.send_decimals());
    out.send = up < *priced ? up + Amount::from_units(send_step) : up;
    out.receive = ask.amount;
    if (!off_ramp) out.send = out.send + out.fee;
    return finished(std::move(out));
  }
  const Amount converted = off_ramp ? out.send : out.send - out.fee;
  out.receive =
      truncate_to(multiply(converted, out.rate, Rounding::down).value(), terms.receive_decimals());
  // Within one unit of its last place.
  if (dice_.one_in(2)) out.receive = out.receive + Amount::from_units(receive_step);
  return finished(std::move(out));
}

ProviderQuote DiceProvider::finished(ProviderQuote out) {
  if (dice_.one_in(3)) out.expires_at = clock_.now().plus_ms(1 + dice_.roll(200'000));
  if (dice_.one_in(2)) out.reference = "q" + std::to_string(dice_.roll(1'000'000));
  return out;
}

/// Makes it contradict the request or itself.
void DiceProvider::spoil(const ConnectorTerms& terms, ProviderQuote& quote) {
  switch (dice_.roll(8)) {
    case 6:  // contradicts the rate
      quote.receive =
          quote.receive + quote.receive + Amount::from_units(2 * step_of(terms.receive_decimals()));
      return;
    case 7:
      quote.rate.numerator *= 1'000;
      return;
    case 0:
      quote.receive = Amount();
      return;
    case 1:
      quote.fee = Amount::from_units(-step_of(terms.send_decimals()));
      return;
    case 2:
      quote.rate.denominator = 0;
      return;
    case 3:
      quote.expires_at = clock_.now();
      return;
    case 4:
      quote.receive = Amount::from_units(quote.receive.units() + 1);  // too many decimal places
      return;
    default:
      quote.fee = Amount::from_units(quote.fee.units() + 1);
  }
}

Result<ProviderQuote> DiceProvider::quote(const ConnectorTerms& terms, const QuoteAsk& ask) {
  if (trouble(12)) {
    last_quote_ = Result<ProviderQuote>(fault());
  } else {
    ProviderQuote quote = priced(terms, ask);
    if (trouble(12)) spoil(terms, quote);
    last_quote_ = Result<ProviderQuote>(quote);
  }
  return *last_quote_;
}

// Payouts
// ------------------------------------------------------------------------------------------

PayoutResponse DiceProvider::first_answer(const PaymentId& id) {
  PayoutResponse answer;
  if (dice_.one_in(2)) answer.provider_reference = "p-" + id.to_string().substr(0, 8);
  const std::int64_t kind = dice_.roll(10);
  if (kind < 4) {
    answer.state = PayoutState::succeeded;
  } else if (kind < 7) {
    answer.state = PayoutState::pending;
  } else if (kind < 8) {
    answer.state = PayoutState::in_review;
  } else {
    answer.state = PayoutState::failed;
    if (!dice_.one_in(4)) answer.failure = some_failure();
    answer.message = "rejected";
  }
  return answer;
}

void DiceProvider::move_on(PayoutResponse& answer) {
  const bool waits = answer.state == PayoutState::pending || answer.state == PayoutState::in_review;
  if (waits && (calm_ || !dice_.one_in(3))) {
    const std::int64_t kind = dice_.roll(8);
    if (kind < 4) {
      answer.state = PayoutState::succeeded;
    } else if (kind < 5 && !calm_) {
      answer.state =
          answer.state == PayoutState::pending ? PayoutState::in_review : PayoutState::pending;
    } else {
      answer.state = PayoutState::failed;
      answer.failure = some_failure();
      answer.refund = dice_.pick(std::vector<ProviderRefund>{
          ProviderRefund::returned, ProviderRefund::pending, ProviderRefund::refused});
    }
  }
  if (answer.state == PayoutState::failed && answer.refund == ProviderRefund::pending &&
      (calm_ || dice_.one_in(2))) {
    answer.refund = dice_.one_in(2) ? ProviderRefund::refused : ProviderRefund::returned;
  }
}

Result<PayoutResponse> DiceProvider::placed(const PaymentId& id, bool lost) {
  if (lost || trouble(8)) return fault();
  const auto it = payouts_.find(id.uuid);
  const PayoutResponse answer =
      it != payouts_.end() ? it->second : payouts_.emplace(id.uuid, first_answer(id)).first->second;
  if (trouble(8)) return fault();
  return answer;
}

Result<PayoutResponse> DiceProvider::submit(const ConnectorTerms& terms, const Payout& payout) {
  return say<PayoutResponse>(terms, payout.id, ProviderCall::submit,
                             placed(payout.id, never_arrives(payout.id)));
}

Result<RefundResponse> DiceProvider::refund(const ConnectorTerms& terms, const Refund& refund) {
  return say<RefundResponse>(terms, refund.payment, ProviderCall::refund,
                             placed(PaymentId{refund.id.uuid}, false));
}

Result<RefundResponse> DiceProvider::refund_status(const ConnectorTerms& terms,
                                                   const Refund& refund) {
  return say<RefundResponse>(terms, refund.payment, ProviderCall::refund_status,
                             standing(PaymentId{refund.id.uuid}));
}

Result<PayoutResponse> DiceProvider::standing(const PaymentId& id) {
  if (trouble(8)) return fault();
  const auto it = payouts_.find(id.uuid);
  if (it == payouts_.end() || trouble(30))
    return PayoutResponse{.state = PayoutState::never_arrived};
  move_on(it->second);
  PayoutResponse answer = it->second;
  if (trouble(40)) answer.state = PayoutState::succeeded;  // regardless of earlier responses
  return answer;
}

Result<PayoutResponse> DiceProvider::payout_status(const ConnectorTerms& terms,
                                                   const Payout& payout) {
  return say<PayoutResponse>(terms, payout.id, ProviderCall::status, standing(payout.id));
}

Result<PayoutResponse> DiceProvider::cancel(const ConnectorTerms& terms, const Payout& payout) {
  if (trouble(8)) return say<PayoutResponse>(terms, payout.id, ProviderCall::cancel, fault());
  if (!payouts_.contains(payout.id.uuid)) {
    PayoutResponse never;
    never.state = PayoutState::failed;
    never.failure = FailureCode::provider_timeout;
    payouts_.emplace(payout.id.uuid, never);
  }
  return say<PayoutResponse>(terms, payout.id, ProviderCall::cancel, payouts_.at(payout.id.uuid));
}

// Collections
// --------------------------------------------------------------------------------------

/// The payer pays: the requested amount, reported or not, or any amount up to twice that.
void DiceProvider::collect_now(CollectionResponse& answer, Amount asked) {
  answer.state = CollectionState::collected;
  const std::int64_t kind = dice_.roll(4);
  if (kind == 0) answer.collected = asked;
  if (kind > 1) answer.collected = Amount::from_units(1 + dice_.roll(2 * asked.units()));
}

Result<CollectionResponse> DiceProvider::collect(const ConnectorTerms& terms,
                                                 const Collection& collection) {
  const ProviderCall call = ProviderCall::collect;
  if (never_arrives(collection.id) || trouble(8)) {
    return say<CollectionResponse>(terms, collection.id, call, fault());
  }
  if (!collections_.contains(collection.id.uuid)) {
    CollectionResponse answer;
    answer.instructions = {{"reference", "pay-" + std::to_string(dice_.roll(1'000'000))}};
    if (dice_.one_in(2)) answer.expires_at = clock_.now().plus_ms(1 + dice_.roll(20'000));
    const std::int64_t kind = dice_.roll(10);
    if (kind == 0) {
      answer.state = CollectionState::failed;
      if (dice_.one_in(2)) answer.failure = some_failure();
    } else if (kind == 1) {
      collect_now(answer, collection.send);
    }
    collections_.emplace(collection.id.uuid, answer);
  }
  if (trouble(8)) return say<CollectionResponse>(terms, collection.id, call, fault());
  return say<CollectionResponse>(terms, collection.id, call, collections_.at(collection.id.uuid));
}

Result<CollectionResponse> DiceProvider::standing_collection(const Collection& collection) {
  if (trouble(8)) return fault();
  const auto it = collections_.find(collection.id.uuid);
  if (it == collections_.end() || trouble(30)) {
    return CollectionResponse{.state = CollectionState::never_arrived};
  }
  CollectionResponse& answer = it->second;
  if (answer.state == CollectionState::pending && (calm_ || dice_.one_in(2))) {
    if (dice_.one_in(5)) {
      answer.state = CollectionState::failed;
      answer.failure = some_failure();
    } else {
      collect_now(answer, collection.send);
    }
  }
  return answer;
}

Result<CollectionResponse> DiceProvider::collection_status(const ConnectorTerms& terms,
                                                           const Collection& collection) {
  return say<CollectionResponse>(terms, collection.id, ProviderCall::collection_status,
                                 standing_collection(collection));
}

Result<CollectionResponse> DiceProvider::expire(const ConnectorTerms& terms,
                                                const Collection& collection) {
  const ProviderCall call = ProviderCall::expire;
  if (trouble(8)) return say<CollectionResponse>(terms, collection.id, call, fault());
  CollectionResponse& answer = collections_.try_emplace(collection.id.uuid).first->second;
  if (answer.state == CollectionState::pending) {
    if (dice_.one_in(4)) {
      collect_now(answer, collection.send);
    } else {
      answer.state = CollectionState::expired;
    }
  }
  return say<CollectionResponse>(terms, collection.id, call, answer);
}

Result<ReferenceResponse> DiceProvider::issue_reference(const ConnectorTerms&,
                                                        const ReferenceAsk& ask) {
  ReferenceResponse answer;
  answer.issued.reference = "REF-" + ask.customer_id;
  return answer;
}

}  // namespace coffer::property
