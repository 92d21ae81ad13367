#include "outbound/providers/sandbox_connector.h"

#include <array>

#include "base/digest.h"
#include "domain/providers/quote.h"

namespace coffer::outbound {
namespace {

constexpr int kStaysPending = 1201;
constexpr int kInReview = 1202;
constexpr int kFailsAndReturns = 1301;
constexpr int kFailsAndKeeps = 1303;
constexpr int kTimeout = 1401;
constexpr int kError = 1402;
constexpr int kPaysTooLittle = 1501;
constexpr int kPaysTooMuch = 1502;
constexpr int kPaysNearlyNothing = 1503;
constexpr int kRebind = 2001;
constexpr int kNotRegistered = 2002;
constexpr int kCannotAssign = 2003;
constexpr int kRelated = 2004;

std::string digest_of(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part).append("\n");
  return to_hex(sha256(text));
}

std::string reference_of(const PaymentId& id) {
  return "SBX-" + digest_of({id.to_string()}).substr(0, 16);
}

/// The failure of a call that never reached the provider; success for all others.
Result<void> reach(int digits) {
  if (digits == kTimeout) {
    return unexpected(Slug::provider_timeout, "The payment provider did not respond in time.");
  }
  if (digits == kError) {
    return unexpected(Slug::provider_error, "The payment provider failed.");
  }
  return {};
}

bool never_arrives(int digits) { return digits == kTimeout || digits == kError; }

PayoutResponse payout_failed(FailureCode code, ProviderRefund refund) {
  PayoutResponse response{.state = PayoutState::failed, .failure = code, .refund = refund};
  response.message = info(code).message;
  return response;
}

/// The state of an accepted or rejected payout at this age.
PayoutResponse payout_at(const Payout& payout, std::int64_t age_ms) {
  const int digits = sandbox_digits(payout.recipient.account);
  PayoutResponse response;
  if (const auto rejection = sandbox_rejection(digits)) {
    response = payout_failed(*rejection, ProviderRefund::returned);
  } else if (digits == kStaysPending) {
    response.state = PayoutState::pending;
  } else if (digits == kInReview) {
    response.state = age_ms < kSandboxReviewMs ? PayoutState::in_review : PayoutState::succeeded;
  } else if (digits == kFailsAndReturns) {
    response = payout_failed(FailureCode::provider_error, ProviderRefund::returned);
  } else if (digits == kFailsAndKeeps) {
    response = payout_failed(FailureCode::provider_error, ProviderRefund::refused);
  } else {
    response.state = PayoutState::succeeded;
  }
  response.provider_reference = reference_of(payout.id);
  return response;
}

/// A payout with the outcome of the refund.
Payout as_payout(const Refund& refund) {
  Payout out;
  out.id = PaymentId{refund.id.uuid};
  out.recipient.account = std::to_string(sandbox_refund(sandbox_digits(refund.payer.account)));
  out.first_sent_at = refund.first_sent_at;
  return out;
}

std::map<std::string, std::string> instructions(std::string_view reference) {
  return {{"bankName", "Sandbox Bank"},
          {"accountName", "Coffer Sandbox"},
          {"accountNumber", "0000000001"},
          {"paymentReference", std::string(reference)}};
}

CollectionResponse collection_at(const ConnectorTerms& terms, const Collection& collection,
                                 Timestamp now) {
  const int digits = sandbox_digits(collection.payer.account);
  CollectionResponse response;
  response.provider_reference = reference_of(collection.id);
  response.instructions = instructions(response.provider_reference);
  response.expires_at = collection.expires_at;
  if (const auto rejection = sandbox_rejection(digits)) {
    response.state = CollectionState::failed;
    response.failure = *rejection;
    response.message = info(*rejection).message;
  } else if (digits == kStaysPending) {
    response.state =
        now < collection.expires_at ? CollectionState::pending : CollectionState::expired;
  } else if (digits == kInReview && now < collection.first_sent_at.plus_ms(kSandboxReviewMs)) {
    response.state = CollectionState::pending;
  } else {
    response.state = CollectionState::collected;
    response.collected = sandbox_collected(digits, collection.send, terms.send_decimals());
  }
  return response;
}

IssuedReference issued(const ConnectorTerms& terms, const ReferenceAsk& ask, int number) {
  const std::string digest = digest_of(
      {terms.id.to_string(), ask.settlement_account, ask.customer_id, std::to_string(number)});
  const std::string reference = "REF" + digest.substr(0, 12);
  return {reference, instructions(reference)};
}

}  // namespace

int sandbox_digits(std::string_view account) {
  constexpr int kDigits = 4;
  constexpr std::string_view kSeparators = " -";
  int value = 0;
  int place = 1;
  int count = 0;
  for (auto at = account.rbegin(); at != account.rend() && count < kDigits; ++at) {
    if (kSeparators.find(*at) != std::string_view::npos) continue;
    if (*at < '0' || *at > '9') return 0;
    value += (*at - '0') * place;
    place *= 10;
    ++count;
  }
  return count == kDigits ? value : 0;
}

std::optional<FailureCode> sandbox_rejection(int digits) {
  constexpr int kFirst = 1101;
  constexpr std::array kRejections = {
      FailureCode::insufficient_funds, FailureCode::account_closed,
      FailureCode::account_not_found,  FailureCode::name_mismatch,
      FailureCode::limit_exceeded,     FailureCode::compliance_rejected};
  const int index = digits - kFirst;
  if (index < 0 || index >= static_cast<int>(kRejections.size())) return std::nullopt;
  return kRejections[static_cast<std::size_t>(index)];
}

int sandbox_refund(int digits) {
  constexpr int kFirst = 1601;
  constexpr std::array kAsPayouts = {kStaysPending, kInReview, 1102, kFailsAndReturns};
  const int index = digits - kFirst;
  if (index < 0 || index >= static_cast<int>(kAsPayouts.size())) return 0;
  return kAsPayouts[static_cast<std::size_t>(index)];
}

std::optional<Amount> sandbox_collected(int digits, Amount send, int decimals) {
  constexpr Rate kTenthLess{9, 10};
  constexpr Rate kTenthMore{11, 10};
  if (digits == kPaysNearlyNothing) {
    std::int64_t smallest = Amount::kUnitsPerWhole;
    for (int i = 0; i < decimals; ++i) smallest /= 10;
    return Amount::from_units(smallest);
  }
  if (digits != kPaysTooLittle && digits != kPaysTooMuch) return std::nullopt;
  const auto paid =
      multiply(send, digits == kPaysTooLittle ? kTenthLess : kTenthMore, Rounding::down);
  return paid ? std::optional(truncate_to(*paid, decimals)) : std::nullopt;
}

Result<ProviderQuote> SandboxConnector::quote(const ConnectorTerms& terms, const QuoteAsk& ask) {
  COFFER_TRY(const Price price, ask.exact_receive
                                    ? price_exact_receive(terms, ask.amount, std::nullopt)
                                    : price_exact_send(terms, ask.amount, std::nullopt));
  constexpr int kExact = 9;  // the places of a rate
  return ProviderQuote{{price.send, price.receive, price.fee, price.rate, kExact},
                       clock_.now().plus_ms(kQuoteLifetimeMs),
                       std::nullopt};
}

Result<PayoutResponse> SandboxConnector::submit(const ConnectorTerms&, const Payout& payout) {
  const int digits = sandbox_digits(payout.recipient.account);
  COFFER_TRY_VOID(reach(digits));
  if (digits == kFailsAndReturns || digits == kFailsAndKeeps) {
    // Accepted: the failure is visible only in a later request.
    PayoutResponse accepted;
    accepted.provider_reference = reference_of(payout.id);
    return accepted;
  }
  return payout_at(payout, clock_.now().ms - payout.first_sent_at.ms);
}

Result<PayoutResponse> SandboxConnector::payout_status(const ConnectorTerms&,
                                                       const Payout& payout) {
  if (never_arrives(sandbox_digits(payout.recipient.account))) {
    return PayoutResponse{.state = PayoutState::never_arrived};
  }
  return payout_at(payout, clock_.now().ms - payout.first_sent_at.ms);
}

Result<PayoutResponse> SandboxConnector::cancel(const ConnectorTerms& terms, const Payout& payout) {
  const int digits = sandbox_digits(payout.recipient.account);
  if (!never_arrives(digits)) return payout_status(terms, payout);
  return payout_failed(
      digits == kTimeout ? FailureCode::provider_timeout : FailureCode::provider_error,
      ProviderRefund::returned);
}

Result<CollectionResponse> SandboxConnector::collect(const ConnectorTerms& terms,
                                                     const Collection& collection) {
  COFFER_TRY_VOID(reach(sandbox_digits(collection.payer.account)));
  CollectionResponse response = collection_at(terms, collection, clock_.now());
  // The payer pays after the instructions were shown.
  if (response.state == CollectionState::collected) {
    response.state = CollectionState::pending;
    response.collected.reset();
  }
  return response;
}

Result<CollectionResponse> SandboxConnector::collection_status(const ConnectorTerms& terms,
                                                               const Collection& collection) {
  if (never_arrives(sandbox_digits(collection.payer.account))) {
    return CollectionResponse{.state = CollectionState::never_arrived};
  }
  return collection_at(terms, collection, clock_.now());
}

Result<CollectionResponse> SandboxConnector::expire(const ConnectorTerms& terms,
                                                    const Collection& collection) {
  if (never_arrives(sandbox_digits(collection.payer.account))) {
    return CollectionResponse{.state = CollectionState::expired};
  }
  CollectionResponse response = collection_at(terms, collection, clock_.now());
  if (response.state == CollectionState::pending) response.state = CollectionState::expired;
  return response;
}

Result<RefundResponse> SandboxConnector::refund(const ConnectorTerms& terms, const Refund& refund) {
  return submit(terms, as_payout(refund));
}

Result<RefundResponse> SandboxConnector::refund_status(const ConnectorTerms& terms,
                                                       const Refund& refund) {
  return payout_status(terms, as_payout(refund));
}

Result<ReferenceResponse> SandboxConnector::issue_reference(const ConnectorTerms& terms,
                                                            const ReferenceAsk& ask) {
  constexpr int kRelatedCount = 2;
  const int digits = sandbox_digits(ask.customer_id);
  COFFER_TRY_VOID(reach(digits));
  ReferenceResponse response;
  if (digits == kNotRegistered) {
    response.kind = ReferenceResponse::Kind::customer_not_registered;
    return response;
  }
  if (digits == kCannotAssign) {
    response.kind = ReferenceResponse::Kind::cannot_assign;
    return response;
  }
  response.issued = issued(terms, ask, 0);
  if (digits == kRebind) response.issued.metadata.reset();
  if (digits == kRelated) {
    for (int i = 1; i <= kRelatedCount; ++i) response.related.push_back(issued(terms, ask, i));
  }
  return response;
}

}  // namespace coffer::outbound
