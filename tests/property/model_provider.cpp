// Quotes, off-ramps and on-ramps: the expected results of a provider's responses.
#include <algorithm>

#include "property/model.h"
#include "property/steps.h"

namespace coffer::property {
namespace {

using outbound::CollectionResponse;
using outbound::CollectionState;
using outbound::PayoutResponse;
using outbound::PayoutState;
using outbound::ProviderRefund;

constexpr int kSubmissions = 3;
constexpr std::int64_t kPausedMs = 30'000;
constexpr std::int64_t kReviewMs = 60'000;
constexpr std::int64_t kPayWithinMs = 3'600'000;
constexpr std::int64_t kQuoteMs = 120'000;

std::string address_of(const WorldConnector& connector) {
  const auto& endpoint = connector.terms.endpoint;
  return endpoint ? endpoint->base_url : std::string();
}

/// A quarter of a second, doubling, up to five minutes.
std::int64_t pause_after(int asked) {
  std::int64_t out = 250;
  for (int i = 0; i < asked && out < 300'000; ++i) out *= 2;
  return std::min<std::int64_t>(out, 300'000);
}

Wide up_to(Wide numerator, Wide denominator, Wide step) {
  const Wide whole = denominator * step;
  return (numerator + whole - 1) / whole * step;
}

/// Fixed plus a share, rounded up to the places of the currency.
Wide fee_of(const FeeRule& rule, Wide amount, int decimals) {
  return up_to(Wide{rule.fixed.units()} * 10'000 + amount * rule.basis_points, 10'000,
               step_of(decimals));
}

bool is_off_ramp(const WorldConnector& connector) {
  return connector.terms.direction == Direction::off_ramp;
}

}  // namespace

// Quotes
// -------------------------------------------------------------------------------------------

void Model::set_paused(std::size_t connector, bool paused) {
  connectors_[connector].terms.status = paused ? ConnectorStatus::paused : ConnectorStatus::active;
}

void Model::set_fee(std::size_t connector, const std::optional<FeeRule>& fee) {
  fees_of_.erase(connector);
  if (fee) fees_of_[connector] = *fee;
}

Verdict Model::judge_question(const PriceQuestion& question) const {
  const ConnectorTerms& terms = connectors_[question.connector].terms;
  Verdict verdict;
  if (terms.status == ConnectorStatus::paused) verdict.wrong.insert(Slug::conflict);
  const int decimals = question.exact_receive ? terms.receive_decimals() : terms.send_decimals();
  if (!fits(question.amount, decimals)) verdict.wrong.insert(Slug::amount_precision);
  if (question.exact_receive) return verdict;
  if (question.amount < terms.min_amount.units() || question.amount > terms.max_amount.units()) {
    verdict.wrong.insert(Slug::amount_out_of_range);
  }
  return verdict;
}

Verdict Model::judge_price(const PriceQuestion& question,
                           const Result<outbound::ProviderQuote>& answer, std::int64_t now,
                           ModelQuote& out) const {
  if (!answer) return {{answer.error().slug}};
  const ConnectorTerms& terms = connectors_[question.connector].terms;
  out.connector = question.connector;
  out.beneficiary = question.beneficiary;
  out.send = answer->send.units();
  out.receive = answer->receive.units();
  out.fee = answer->fee.units();
  const Rate rate = out.rate = answer->rate;
  const bool off_ramp = is_off_ramp(connectors_[question.connector]);
  // One unit of the received amount, and of the second decimal place of a computed sent amount.
  Wide slack = step_of(terms.receive_decimals());
  if (question.exact_receive && rate.denominator > 0) {
    const Wide cent = step_of(std::min(terms.send_decimals(), 2));
    slack += (cent * rate.numerator + rate.denominator - 1) / rate.denominator;
  }
  const bool answers = question.exact_receive ? out.receive >= question.amount &&
                                                    out.receive - question.amount <= slack
                                              : out.send == question.amount;
  // Multiplied by the rate's denominator.
  const Wide converted = off_ramp ? out.send : out.send - out.fee;
  Wide distance = Wide{out.receive} * rate.denominator - converted * rate.numerator;
  if (distance < 0) distance = -distance;
  Wide last_place = 2;
  for (int i = 0; i < answer->rate_places; ++i) last_place *= 10;
  const bool at_rate = distance * last_place <= (converted + slack * last_place) * rate.denominator;
  const bool sound =
      answers && at_rate && out.send > 0 && out.receive > 0 && out.fee >= 0 && rate.numerator > 0 &&
      rate.denominator > 0 && fits(out.send, terms.send_decimals()) &&
      fits(out.fee, terms.send_decimals()) && fits(out.receive, terms.receive_decimals()) &&
      (off_ramp ? !terms.endpoint || out.fee <= out.send : out.fee < out.send) &&
      (!answer->expires_at || answer->expires_at->ms > now);
  if (!sound) return {{Slug::provider_error}};
  if (out.send < terms.min_amount.units() || out.send > terms.max_amount.units()) {
    return {{Slug::amount_out_of_range}};
  }
  const auto own = fees_of_.find(question.connector);
  if (off_ramp && own != fees_of_.end()) {
    out.fee = fee_of(own->second, out.send, terms.send_decimals());
    if (wrong_ == WrongRule::fee_rounds_down && out.fee >= step_of(terms.send_decimals())) {
      out.fee -= step_of(terms.send_decimals());
    }
  }
  out.total = out.send + (off_ramp ? out.fee : 0);
  out.expires_at = now + kQuoteMs;
  if (answer->expires_at) out.expires_at = std::min(out.expires_at, answer->expires_at->ms);
  return {};
}

Verdict Model::judge_expiry(std::size_t quote, std::int64_t now) const {
  if (quotes_[quote].used) return {{Slug::quote_already_used}};
  if (quotes_[quote].expires_at <= now) return {{Slug::quote_expired}};
  return {};
}

const ModelQuote* Model::find_quote(const std::optional<QuoteId>& id) const {
  for (const ModelQuote& quote : quotes_) {
    if (id == quote.id) return &quote;
  }
  return nullptr;
}

// Submissions
// --------------------------------------------------------------------------------------

/// The quote if it can be executed, regardless of other errors.
const ModelQuote* Model::judge_quote(const PaymentRequest& request, std::int64_t now,
                                     std::set<Slug>& wrong) const {
  const ModelQuote* quote = find_quote(request.quote);
  if (quote == nullptr) {
    wrong.insert(Slug::not_found);
    return nullptr;
  }
  const WorldConnector& connector = connectors_[quote->connector];
  if (is_off_ramp(connector) != (request.type == PaymentType::offramp)) {
    wrong.insert(Slug::validation_failed);
    return nullptr;
  }
  if (quote->used && wrong_ != WrongRule::quote_works_twice) {
    wrong.insert(Slug::quote_already_used);
    return nullptr;
  }
  if (quote->expires_at <= now) {
    wrong.insert(Slug::quote_expired);
    return nullptr;
  }
  if (connector.terms.status == ConnectorStatus::paused) wrong.insert(Slug::conflict);
  return quote;
}

void Model::judge_quoted(const PaymentRequest& request, std::int64_t now,
                         std::set<Slug>& wrong) const {
  const ModelQuote* quote = judge_quote(request, now, wrong);
  const bool out = request.type == PaymentType::offramp;
  const TransferLeg& leg = request.legs[0];
  const WalletId id = out ? *leg.source_wallet : *leg.destination_wallet;
  judge_wallet(id, wrong);
  const auto wallet = wallet_index(id);
  if (quote != nullptr && wallet && !trusts(*wallet, connectors_[quote->connector].asset)) {
    wrong.insert(Slug::trustline_missing);
  }
  if (!out) return;
  const WorldBeneficiary* to = beneficiary(request.beneficiary);
  if (to == nullptr) {
    wrong.insert(Slug::not_found);
  } else if (quote != nullptr) {
    const bool same = !quote->beneficiary || &beneficiaries_[*quote->beneficiary] == to;
    if (!same || !to->symbol.empty()) wrong.insert(Slug::validation_failed);
  }
  if (!wrong.empty()) return;
  const Place from{*wallet, connectors_[quote->connector].asset};
  if (available(from) < quote->total) wrong.insert(Slug::insufficient_funds);
}

void Model::accept_quoted(ModelPayment& payment, std::int64_t now) {
  const ModelQuote& quote = *find_quote(payment.request.quote);
  quotes_[static_cast<std::size_t>(&quote - quotes_.data())].used = true;
  const WorldConnector& connector = connectors_[quote.connector];
  payment.side = ModelSide{quote.connector,
                           quote.send,
                           quote.receive,
                           quote.fee,
                           quote.total,
                           ProviderState::fresh,
                           0,
                           {},
                           quote.rate,
                           {}};
  payment.receiving = static_cast<std::int64_t>(quote.receive);
  if (is_off_ramp(connector)) {
    const Place from{*wallet_index(*payment.request.legs[0].source_wallet), connector.asset};
    payment.holds[from] = wrong_ == WrongRule::hold_leaves_out_the_fee ? quote.send : quote.total;
  }
  lanes_[connector.lane].insert({now, payment.order, payment.request.transaction_id});
}

Wide Model::reference_price(Wide amount) const {
  const ConnectorTerms& terms = connectors_[kReferenceConnector].terms;
  const Wide left = amount - fee_of(terms.fee, amount, terms.send_decimals());
  if (left <= 0) return 0;
  const Wide exact = left * terms.rate->numerator / terms.rate->denominator;
  return exact - exact % step_of(terms.receive_decimals());
}

void Model::accept_reference(const PaymentRequest& request, PaymentId id,
                             const ReferenceOutcome& outcome, std::int64_t now) {
  ModelPayment payment{request, id, ++last_order_, {}, PaymentStatus::initiated, {}, {}, {}, 0};
  if (outcome.failure) {
    payment.status = PaymentStatus::failed;
    payment.failure = outcome.failure;
  } else {
    payment.receiving = static_cast<std::int64_t>(outcome.receive);
    settlement_.insert({now, payment.order, request.transaction_id});
  }
  transactions_[id.uuid] = request.transaction_id;
  payments_.emplace(request.transaction_id, std::move(payment));
}

// Jobs
// ---------------------------------------------------------------------------------------------

std::size_t Model::provider_jobs(std::int64_t lane) const {
  const auto it = lanes_.find(lane);
  return it == lanes_.end() ? 0 : it->second.size();
}

Model::Jobs& Model::lane_of(const ModelPayment& payment) {
  return lanes_[connectors_[payment.side->connector].lane];
}

const Model::Job* Model::job_of(const ModelPayment& payment) const {
  if (!payment.side) return nullptr;
  const auto lane = lanes_.find(connectors_[payment.side->connector].lane);
  if (lane == lanes_.end()) return nullptr;
  for (const Job& job : lane->second) {
    if (job.order == payment.order) return &job;
  }
  return nullptr;
}

void Model::move_job(ModelPayment& payment, std::int64_t due, int asked) {
  const Job* job = job_of(payment);
  if (job == nullptr) return;
  lane_of(payment).erase(Job(*job));
  lane_of(payment).insert({due, payment.order, payment.request.transaction_id});
  payment.asked = asked;
}

bool Model::may_move(std::size_t connector, const std::string& address) const {
  const std::string present = address_of(connectors_[connector]);
  if (address == present) return true;
  return std::none_of(payments_.begin(), payments_.end(), [&](const auto& item) {
    const ModelPayment& payment = item.second;
    return payment.side && payment.side->connector == connector && payment.side->submissions > 0 &&
           payment.side->address == present && job_of(payment);
  });
}

void Model::move(std::size_t connector, const std::string& address) {
  connectors_[connector].terms.endpoint->base_url = address;
}

std::vector<ExpectedCall> Model::begin_round(std::int64_t lane, int limit, std::int64_t now,
                                             int& taken) {
  std::vector<std::string> due;
  for (const Job& job : lanes_[lane]) {
    if (job.due > now || static_cast<int>(due.size()) == limit) break;
    due.push_back(job.id);
  }
  taken = static_cast<int>(due.size());
  std::vector<ExpectedCall> calls;
  for (const std::string& id : due) {
    ModelPayment& payment = payments_.at(id);
    ModelSide& side = *payment.side;
    const bool out = is_off_ramp(connectors_[side.connector]);
    ProviderCall call = out ? ProviderCall::status : ProviderCall::collection_status;
    if (side.state == ProviderState::fresh) {
      const bool give_up = side.submissions == kSubmissions;
      call = out ? (give_up ? ProviderCall::cancel : ProviderCall::submit)
                 : (give_up ? ProviderCall::expire : ProviderCall::collect);
    } else if (!out && side.state == ProviderState::accepted && side.expires_at &&
               *side.expires_at <= now) {
      call = ProviderCall::expire;
    } else if (side.state == ProviderState::sent && !payment.gives_back() &&
               wrong_ == WrongRule::lost_submission_is_sent_again) {
      call = out ? ProviderCall::submit : ProviderCall::collect;
    }
    if (payment.gives_back()) {
      call =
          side.state == ProviderState::fresh ? ProviderCall::refund : ProviderCall::refund_status;
    }
    const bool starts = call == ProviderCall::submit || call == ProviderCall::collect;
    const bool sends = starts || call == ProviderCall::refund;
    if (starts && connectors_[side.connector].terms.status == ConnectorStatus::paused) {
      move_job(payment, now + kPausedMs, payment.asked);
      continue;
    }
    if (payment.status == PaymentStatus::initiated) payment.status = PaymentStatus::processing;
    if (sends) {
      side.state = ProviderState::sent;
      if (side.submissions == 0) side.address = address_of(connectors_[side.connector]);
      ++side.submissions;
    }
    calls.push_back({id, call, side.address});
  }
  return calls;
}

void Model::hurry(const std::string& transaction_id, std::int64_t now) {
  ModelPayment& payment = payments_.at(transaction_id);
  if (const Job* job = job_of(payment)) move_job(payment, std::min(job->due - 1, now), 0);
}

// Answers
// ------------------------------------------------------------------------------------------

void Model::end(ModelPayment& payment, PaymentStatus status) {
  payment.status = status;
  payment.side->state = ProviderState::over;
  if (const Job* job = job_of(payment)) lane_of(payment).erase(Job(*job));
  for (const ModelReturn& report : std::exchange(payment.waiting, {})) {
    settle_return(payment, report);
  }
}

void Model::hear_return(const std::string& transaction_id, const ModelReturn& report,
                        std::int64_t now) {
  ModelPayment& payment = payments_.at(transaction_id);
  if (job_of(payment) == nullptr) return settle_return(payment, report);
  payment.waiting.push_back(report);
  hurry(transaction_id, now);
}

/// The same share of the sent amount as of the received one; everything for everything.
void Model::settle_return(ModelPayment& payment, const ModelReturn& report) {
  const ModelSide& side = *payment.side;
  const ConnectorTerms& terms = connectors_[side.connector].terms;
  const Wide returned = payment.returned + report.amount;
  const bool usable = payment.was_paid() && report.right_currency &&
                      fits(report.amount, terms.receive_decimals()) && returned <= side.receive;
  if (!usable) return;
  const Wide step = step_of(terms.send_decimals());
  Wide share = side.send * returned / side.receive;
  if (wrong_ == WrongRule::return_rounds_up) share += step - 1;
  share -= share % step;
  const Wide credit = share - payment.of_returns;
  const bool fee_too = report.with_fee || wrong_ == WrongRule::return_gives_back_the_fee;
  const Wide fee = fee_too ? side.fee - payment.fee_given : 0;
  const std::size_t asset = connectors_[side.connector].asset;
  accounts_[{*wallet_index(*payment.request.legs[0].source_wallet), asset}].balance += credit + fee;
  clearing_[side.connector] -= credit;
  fees_[asset] -= fee;
  payment.returned = returned;
  payment.of_returns += credit;
  payment.given += credit;
  payment.fee_given += fee;
  if (payment.given + payment.fee_given > 0) payment.status = PaymentStatus::refunded;
}

void Model::ask_again(ModelPayment& payment, std::int64_t now) {
  std::int64_t due = now + pause_after(payment.asked);
  const auto expires = payment.side->expires_at;
  if (expires && now < *expires) due = std::min(due, *expires);
  move_job(payment, due, payment.asked + 1);
}

void Model::send_again(ModelPayment& payment, std::int64_t now) {
  if (payment.side->state == ProviderState::accepted) return ask_again(payment, now);
  payment.side->state = ProviderState::fresh;
  move_job(payment, now, payment.asked);
}

/// From here on, the provider has the money, and the operator its fee.
void Model::debit(ModelPayment& payment) {
  ModelSide& side = *payment.side;
  if (side.state == ProviderState::accepted) return;
  give_back(payment);
  const std::size_t asset = connectors_[side.connector].asset;
  accounts_[{*wallet_index(*payment.request.legs[0].source_wallet), asset}].balance -= side.total;
  clearing_[side.connector] += side.send;
  fees_[asset] += side.fee;
  side.state = ProviderState::accepted;
}

void Model::refund(ModelPayment& payment) {
  const ModelSide& side = *payment.side;
  const std::size_t asset = connectors_[side.connector].asset;
  const Wide fee = wrong_ == WrongRule::refund_keeps_the_fee ? 0 : side.fee;
  accounts_[{*wallet_index(*payment.request.legs[0].source_wallet), asset}].balance +=
      side.send + fee;
  clearing_[side.connector] -= side.send;
  fees_[asset] -= fee;
  end(payment, PaymentStatus::refunded);
}

void Model::payout_failed(ModelPayment& payment, const PayoutResponse& answer, std::int64_t now) {
  if (payment.status != PaymentStatus::refund_pending) {
    const FailureCode code = answer.failure.value_or(FailureCode::provider_error);
    if (payment.side->state != ProviderState::accepted &&
        answer.refund == ProviderRefund::returned) {
      fail(payment, code);
      return end(payment, PaymentStatus::failed);
    }
    debit(payment);
    payment.failure = code;
    payment.status = PaymentStatus::refund_pending;
  }
  switch (answer.refund) {
    case ProviderRefund::returned:
      return refund(payment);
    case ProviderRefund::refused:
      return end(payment, PaymentStatus::refund_failed);
    case ProviderRefund::pending:
      return ask_again(payment, now);
  }
}

void Model::end_refund(ModelPayment& payment, bool given) {
  ModelAccount& account = accounts_[receiver(payment)];
  account.held -= payment.share;
  if (given) {
    account.balance -= payment.share;
    clearing_[payment.side->connector] += payment.share;
    payment.given += payment.refunding;
    payment.shares += payment.share;
  }
  end(payment, given ? PaymentStatus::refunded : PaymentStatus::refund_failed);
}

void Model::hear_refund(ModelPayment& payment, const PayoutResponse& answer, std::int64_t now) {
  switch (answer.state) {
    case PayoutState::never_arrived:
      return send_again(payment, now);
    case PayoutState::pending:
    case PayoutState::in_review:
      payment.side->state = ProviderState::accepted;
      return ask_again(payment, now);
    case PayoutState::succeeded:
      return end_refund(payment, true);
    case PayoutState::failed:
      return end_refund(payment, false);
  }
}

void Model::hear_payout(ModelPayment& payment, const PayoutResponse& answer, std::int64_t now) {
  if (payment.side->state == ProviderState::over) return;
  if (payment.gives_back()) return hear_refund(payment, answer, now);
  const bool refunding = payment.status == PaymentStatus::refund_pending;
  switch (answer.state) {
    case PayoutState::never_arrived:
      return send_again(payment, now);
    case PayoutState::pending:
    case PayoutState::in_review:
      if (!refunding) debit(payment);
      return ask_again(payment, now);
    case PayoutState::succeeded:
      if (refunding) return end(payment, PaymentStatus::refund_failed);
      debit(payment);
      return end(payment, PaymentStatus::succeeded);
    case PayoutState::failed:
      return payout_failed(payment, answer, now);
  }
}

/// The rest after the fee at the rate of the quote; at most its share of the quoted amount, up to
/// the last place, and at most that amount.
Wide Model::credit_of(const ModelSide& side) const {
  if (!side.collected || *side.collected >= side.send) return side.receive;
  if (wrong_ == WrongRule::underpayment_is_ignored) return side.receive;
  const Wide left = *side.collected - side.fee;
  if (left <= 0) return 0;
  const Wide step = step_of(connectors_[side.connector].terms.receive_decimals());
  const Wide by_rate = left * side.rate.numerator / side.rate.denominator;
  const Wide share = side.receive * left / (side.send - side.fee);
  const bool exact = side.receive * left % (side.send - side.fee) == 0 && share % step == 0;
  const Wide bound = exact ? share : share - share % step + step;
  const Wide least = std::min({by_rate, bound, side.receive});
  return least - least % step;
}

void Model::collected(ModelPayment& payment, std::int64_t now) {
  ModelSide& side = *payment.side;
  const Place to{*wallet_index(*payment.request.legs[0].destination_wallet),
                 connectors_[side.connector].asset};
  const Wide credit = credit_of(side);
  if (credit == 0) {
    payment.failure = FailureCode::underpaid;
    return end(payment, PaymentStatus::failed);
  }
  if (!wallets_[to.first].usable && wrong_ != WrongRule::review_is_ignored) {
    return move_job(payment, now + kReviewMs, payment.asked);
  }
  accounts_[to].balance += credit;
  clearing_[side.connector] -= credit;
  payment.receiving = static_cast<std::int64_t>(credit);
  end(payment, PaymentStatus::succeeded);
}

void Model::hear_collection(ModelPayment& payment, const CollectionResponse& answer,
                            std::int64_t now) {
  ModelSide& side = *payment.side;
  if (side.state == ProviderState::over) return;
  switch (answer.state) {
    case CollectionState::never_arrived:
      return send_again(payment, now);
    case CollectionState::pending:
      if (side.state != ProviderState::accepted) {
        side.state = ProviderState::accepted;
        side.expires_at = answer.expires_at ? answer.expires_at->ms : now + kPayWithinMs;
      }
      return ask_again(payment, now);
    case CollectionState::collected:
      if (answer.collected) side.collected = answer.collected->units();
      return collected(payment, now);
    case CollectionState::failed:
      payment.failure = answer.failure.value_or(FailureCode::provider_error);
      return end(payment, PaymentStatus::failed);
    case CollectionState::expired:
      return end(payment, PaymentStatus::expired);
  }
}

void Model::hear(const std::string& transaction_id, const flows::ProviderReply& reply,
                 std::int64_t now) {
  ModelPayment& payment = payments_.at(transaction_id);
  if (!reply) {
    const std::int64_t wish = reply.error().retry_after_s.value_or(0) * 1'000;
    return move_job(payment, now + std::max(pause_after(payment.asked), wish), payment.asked + 1);
  }
  if (const auto* payout = std::get_if<PayoutResponse>(&*reply))
    return hear_payout(payment, *payout, now);
  hear_collection(payment, std::get<CollectionResponse>(*reply), now);
}

Verdict Model::decide(const std::string& transaction_id, std::optional<FailureCode> failure,
                      std::int64_t now) {
  ModelPayment& payment = payments_.at(transaction_id);
  if (!payment.side) return {{Slug::conflict}};
  const bool already =
      failure ? payment.failure == failure : payment.status == PaymentStatus::succeeded;
  if (already) return {};
  if (job_of(payment) == nullptr) return {{Slug::conflict}};
  if (payment.status == PaymentStatus::initiated) payment.status = PaymentStatus::processing;
  payment.asked = 0;
  if (payment.gives_back()) {
    end_refund(payment, !failure);
  } else if (is_off_ramp(connectors_[payment.side->connector])) {
    PayoutResponse answer;
    answer.state = failure ? PayoutState::failed : PayoutState::succeeded;
    answer.failure = failure;
    hear_payout(payment, answer, now);
  } else {
    CollectionResponse answer;
    answer.state = failure ? CollectionState::failed : CollectionState::collected;
    answer.failure = failure;
    hear_collection(payment, answer, now);
  }
  return {};
}

}  // namespace coffer::property
