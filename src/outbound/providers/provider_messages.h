// Writes and reads the JSON of the provider protocol (docs/provider-protocol.md).
//
// Responses are untrusted: anything that does not follow the protocol exactly is `provider-error`
// with a constant reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/json_body.h"
#include "outbound/providers/connector.h"

namespace coffer::outbound {

/// The failure that a provider reports with this code. Some failures belong to coffer and cannot be
/// reported by a provider.
std::optional<FailureCode> provider_failure(std::string_view code);

std::string quote_body(const ConnectorTerms& terms, const QuoteAsk& ask);
std::string payout_body(const ConnectorTerms& terms, const Payout& payout);
std::string collection_body(const ConnectorTerms& terms, const Collection& collection);
std::string refund_body(const ConnectorTerms& terms, const Refund& refund);
std::string reference_body(const ConnectorTerms& terms, const ReferenceAsk& ask);

/// Each amount has the right decimal places; whether the price is consistent, quote_fault decides.
Result<ProviderQuote> read_quote(const ConnectorTerms& terms, const http::JsonValue& body);
/// The response must have the ID, and the amounts if it repeats them, of the payment.
Result<PayoutResponse> read_payout(const ConnectorTerms& terms, const Payout& payout,
                                   const http::JsonValue& body);
Result<CollectionResponse> read_collection(const ConnectorTerms& terms,
                                           const Collection& collection,
                                           const http::JsonValue& body);
Result<RefundResponse> read_refund(const Refund& refund, const http::JsonValue& body);
Result<ReferenceResponse> read_reference(const http::JsonValue& body);

}  // namespace coffer::outbound
