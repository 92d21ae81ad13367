#include "outbound/providers/http_connector.h"

#include "outbound/providers/provider_messages.h"

namespace coffer::outbound {
namespace {

template <class Id>
std::string path_of(std::string_view collection, const Id& id, std::string_view act = {}) {
  return "/" + std::string(collection) + "/" + id.to_string() + std::string(act);
}

/// The parsed response, or a Problem whose reason is logged.
template <class T>
Result<T> judged(const ConnectorTerms& terms, std::string_view call, const ProviderReply& reply,
                 Result<T> read) {
  if (read) return read;
  return provider_error(terms, call, read.error().detail, reply);
}

/// 422 with a code of the protocol is a definite rejection by the provider.
std::optional<FailureCode> rejection(const ProviderReply& reply) {
  constexpr int kUnprocessable = 422;
  return reply.status == kUnprocessable ? provider_failure(reply.code) : std::nullopt;
}

PayoutResponse rejected(FailureCode code, const ProviderReply& reply) {
  return {.state = PayoutState::failed,
          .failure = code,
          .message = reply.message,
          .provider_reference = {},
          .refund = ProviderRefund::returned};
}

constexpr int kNotFound = 404;
constexpr int kConflict = 409;

constexpr std::string_view kRejected = "the provider rejected the request";

}  // namespace

Result<CollectionResponse> HttpConnector::by_own_clock(Result<CollectionResponse> response) const {
  if (response && response->expires_at)
    response->expires_at = response->expires_at->plus_ms(clock_.ahead_ms());
  return response;
}

Result<ProviderQuote> HttpConnector::quote(const ConnectorTerms& terms, const QuoteAsk& ask) {
  COFFER_TRY(const auto reply,
             http_.call(terms, {"POST", "/quotes", quote_body(terms, ask), true}));
  if (!reply.accepted()) return provider_error(terms, "quote", kRejected, reply);
  auto quote = judged(terms, "quote", reply, read_quote(terms, reply.body));
  if (quote && quote->expires_at) quote->expires_at = quote->expires_at->plus_ms(clock_.ahead_ms());
  return quote;
}

Result<PayoutResponse> HttpConnector::submit(const ConnectorTerms& terms, const Payout& payout) {
  COFFER_TRY(const auto reply, http_.call(terms, {"POST", "/payouts", payout_body(terms, payout)}));
  if (const auto code = rejection(reply)) return rejected(*code, reply);
  if (!reply.accepted()) return provider_error(terms, "submit", kRejected, reply);
  return judged(terms, "submit", reply, read_payout(terms, payout, reply.body));
}

Result<PayoutResponse> HttpConnector::payout_status(const ConnectorTerms& terms,
                                                    const Payout& payout) {
  COFFER_TRY(const auto reply, http_.call(terms, {"GET", path_of("payouts", payout.id), {}}));
  if (reply.rejected_with(kNotFound, "payout_not_found")) {
    return PayoutResponse{.state = PayoutState::never_arrived};
  }
  if (!reply.accepted()) return provider_error(terms, "payout status", kRejected, reply);
  return judged(terms, "payout status", reply, read_payout(terms, payout, reply.body));
}

Result<PayoutResponse> HttpConnector::cancel(const ConnectorTerms& terms, const Payout& payout) {
  COFFER_TRY(const auto reply,
             http_.call(terms, {"POST", path_of("payouts", payout.id, "/cancel"), {}}));
  if (!reply.accepted()) return provider_error(terms, "cancel", kRejected, reply);
  return judged(terms, "cancel", reply, read_payout(terms, payout, reply.body));
}

Result<CollectionResponse> HttpConnector::collect(const ConnectorTerms& terms,
                                                  const Collection& collection) {
  Collection told = collection;
  told.expires_at = told.expires_at.plus_ms(-clock_.ahead_ms());
  COFFER_TRY(const auto reply,
             http_.call(terms, {"POST", "/collections", collection_body(terms, told)}));
  if (const auto code = rejection(reply)) {
    return CollectionResponse{
        .state = CollectionState::failed, .failure = code, .message = reply.message};
  }
  if (!reply.accepted()) return provider_error(terms, "collect", kRejected, reply);
  return by_own_clock(
      judged(terms, "collect", reply, read_collection(terms, collection, reply.body)));
}

Result<CollectionResponse> HttpConnector::collection_status(const ConnectorTerms& terms,
                                                            const Collection& collection) {
  COFFER_TRY(const auto reply,
             http_.call(terms, {"GET", path_of("collections", collection.id), {}}));
  if (reply.rejected_with(kNotFound, "collection_not_found")) {
    return CollectionResponse{.state = CollectionState::never_arrived};
  }
  if (!reply.accepted()) return provider_error(terms, "collection status", kRejected, reply);
  return by_own_clock(
      judged(terms, "collection status", reply, read_collection(terms, collection, reply.body)));
}

Result<CollectionResponse> HttpConnector::expire(const ConnectorTerms& terms,
                                                 const Collection& collection) {
  COFFER_TRY(const auto reply,
             http_.call(terms, {"POST", path_of("collections", collection.id, "/expire"), {}}));
  if (!reply.accepted()) return provider_error(terms, "expire", kRejected, reply);
  return by_own_clock(
      judged(terms, "expire", reply, read_collection(terms, collection, reply.body)));
}

Result<RefundResponse> HttpConnector::refund(const ConnectorTerms& terms, const Refund& refund) {
  COFFER_TRY(const auto reply, http_.call(terms, {"POST", "/refunds", refund_body(terms, refund)}));
  if (const auto code = rejection(reply)) return rejected(*code, reply);
  if (!reply.accepted()) return provider_error(terms, "refund", kRejected, reply);
  return judged(terms, "refund", reply, read_refund(refund, reply.body));
}

Result<RefundResponse> HttpConnector::refund_status(const ConnectorTerms& terms,
                                                    const Refund& refund) {
  COFFER_TRY(const auto reply, http_.call(terms, {"GET", path_of("refunds", refund.id), {}}));
  if (reply.rejected_with(kNotFound, "refund_not_found")) {
    return RefundResponse{.state = PayoutState::never_arrived};
  }
  if (!reply.accepted()) return provider_error(terms, "refund status", kRejected, reply);
  return judged(terms, "refund status", reply, read_refund(refund, reply.body));
}

Result<ReferenceResponse> HttpConnector::issue_reference(const ConnectorTerms& terms,
                                                         const ReferenceAsk& ask) {
  COFFER_TRY(const auto reply,
             http_.call(terms, {"POST", "/references", reference_body(terms, ask), true}));
  ReferenceResponse response;
  if (reply.rejected_with(kNotFound, "customer_not_registered")) {
    response.kind = ReferenceResponse::Kind::customer_not_registered;
    return response;
  }
  if (reply.rejected_with(kConflict, "cannot_assign")) {
    response.kind = ReferenceResponse::Kind::cannot_assign;
    return response;
  }
  if (!reply.accepted()) return provider_error(terms, "references", kRejected, reply);
  return judged(terms, "references", reply, read_reference(reply.body));
}

}  // namespace coffer::outbound
