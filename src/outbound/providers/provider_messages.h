// The JSON of the provider protocol, written and read (docs/provider-protocol.md).
//
// What is read is data of a stranger: `provider-error` with the reason, in constant words, for
// everything that is not exactly what the protocol says.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/json_body.h"
#include "outbound/providers/connector.h"

namespace coffer::outbound {

/// The failure a provider may report under this code. Some failures are coffer's own and no
/// provider's to report.
std::optional<FailureCode> provider_failure(std::string_view code);

std::string quote_body(const ConnectorTerms& terms, const QuoteAsk& ask);
std::string payout_body(const ConnectorTerms& terms, const Payout& payout);
std::string collection_body(const ConnectorTerms& terms, const Collection& collection);
std::string reference_body(const ConnectorTerms& terms, const ReferenceAsk& ask);

/// The side that was asked for must come back as it was asked.
Result<ProviderQuote> read_quote(const ConnectorTerms& terms, const QuoteAsk& ask,
                                 const http::JsonValue& body);
/// `id` is the one that was asked about.
Result<PayoutResponse> read_payout(const PaymentId& id, const http::JsonValue& body);
Result<CollectionResponse> read_collection(const ConnectorTerms& terms, const PaymentId& id,
                                           const http::JsonValue& body);
Result<ReferenceResponse> read_reference(const http::JsonValue& body);

}  // namespace coffer::outbound
