// The driver for real providers: the provider protocol over HTTP (docs/provider-protocol.md).
#pragma once

#include "base/clock.h"
#include "base/random.h"
#include "http/client.h"
#include "outbound/providers/breaker.h"
#include "outbound/providers/connector.h"
#include "outbound/providers/provider_http.h"
#include "outbound/resolver.h"

namespace coffer::outbound {

/// Every call is one signed request, a connection of its own, within the endpoint's timeout. An
/// answer counts only when it is exactly what the protocol says; anything else is
/// `provider-error`, and in particular a 404 without the protocol's code never passes for "never
/// arrived". Providers tell times by their own clocks, which are taken to agree with the machine's;
/// here they become times of `clock`. Thread safe.
class HttpConnector final : public Connector {
 public:
  /// Everything referred to outlives the connector.
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
  Result<ReferenceResponse> issue_reference(const ConnectorTerms& terms,
                                            const ReferenceAsk& ask) override;

 private:
  Result<CollectionResponse> by_own_clock(Result<CollectionResponse> answer) const;

  const Clock& clock_;
  ProviderHttp http_;
};

}  // namespace coffer::outbound
