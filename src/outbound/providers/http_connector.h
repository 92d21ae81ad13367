// The driver for real providers: the provider protocol over HTTP (docs/provider-protocol.md).
#pragma once

#include "base/clock.h"
#include "base/random.h"
#include "http/client.h"
#include "outbound/providers/breaker.h"
#include "outbound/providers/connector.h"
#include "outbound/providers/provider_http.h"
#include "outbound/wire/resolver.h"

namespace coffer::outbound {

/// Every call is one signed request on its own connection, within the endpoint's timeout. A
/// response is accepted only if it follows the protocol exactly; any other is `provider-error`. In
/// particular, a 404 without the protocol's code never counts as "never arrived". Times from
/// providers are assumed to agree with the machine's clock and are converted to times of `clock`.
/// Thread-safe.
class HttpConnector final : public Connector {
 public:
  /// All references must outlive the connector.
  HttpConnector(const Clock& clock, Resolver& resolver, http::Client& client, Random& random,
                Breakers& breakers)
      : clock_(clock), http_(clock, resolver, client, random, breakers) {}

  Result<ProviderQuote> quote(const ConnectorTerms& terms, const QuoteAsk& ask) override;
  Result<PayoutResponse> submit(const ConnectorTerms& terms, const Payout& payout) override;
  Result<PayoutResponse> payout_status(const ConnectorTerms& terms, const Payout& payout) override;
  Result<PayoutResponse> cancel(const ConnectorTerms& terms, const Payout& payout) override;
  Result<CollectionResponse> collect(const ConnectorTerms& terms,
                                     const Collection& collection) override;
  Result<CollectionResponse> collection_status(const ConnectorTerms& terms,
                                               const Collection& collection) override;
  Result<CollectionResponse> expire(const ConnectorTerms& terms,
                                    const Collection& collection) override;
  Result<RefundResponse> refund(const ConnectorTerms& terms, const Refund& refund) override;
  Result<RefundResponse> refund_status(const ConnectorTerms& terms, const Refund& refund) override;
  Result<ReferenceResponse> issue_reference(const ConnectorTerms& terms,
                                            const ReferenceAsk& ask) override;

 private:
  Result<CollectionResponse> by_own_clock(Result<CollectionResponse> answer) const;

  const Clock& clock_;
  ProviderHttp http_;
};

}  // namespace coffer::outbound
