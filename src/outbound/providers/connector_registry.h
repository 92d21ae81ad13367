// All drivers behind one Connector, for the flows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "http/client.h"
#include "outbound/providers/breaker.h"
#include "outbound/providers/connector.h"
#include "outbound/providers/http_connector.h"
#include "outbound/providers/sandbox_connector.h"
#include "outbound/wire/resolver.h"
#include "outbound/wire/slots.h"

namespace coffer {
class Metrics;  // base/telemetry/metrics.h
}

namespace coffer::outbound {

/// Selects the driver that the terms contain. Calls of a driver that calls out go through the
/// circuit breaker of their connector; while it is open, they return `provider-unavailable`
/// immediately, with the seconds to wait. Client requests wait for quotes and references, so at
/// most kRequestsWaitingMax such calls per connector that calls out run at a time; further ones
/// also return `provider-unavailable` immediately. Thread-safe.
class ConnectorRegistry final : public Connector {
 public:
  static constexpr int kRequestsWaitingMax = 2;

  /// All references must outlive the registry. Without `metrics`, calls are not counted.
  ConnectorRegistry(const Clock& clock, Resolver& resolver, http::Client& client, Random& random,
                    Metrics* metrics = nullptr)
      : breakers_(clock),
        sandbox_(clock),
        http_(clock, resolver, client, random, breakers_),
        metrics_(metrics) {}

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

  /// State of the breaker of the connector with this row key; closed if it was never called.
  BreakerState breaker(std::int64_t connector_key) const { return breakers_.state(connector_key); }

 private:
  Connector& driver(const ConnectorTerms& terms);
  Result<std::optional<Slots::Slot>> place_to_wait(const ConnectorTerms& terms);
  template <class Response, class Ask>
  Result<Response> call(Result<Response> (Connector::*function)(const ConnectorTerms&, const Ask&),
                        std::string_view name, const ConnectorTerms& terms, const Ask& ask);

  Breakers breakers_;
  SandboxConnector sandbox_;
  HttpConnector http_;
  Metrics* const metrics_;
  Mutex mutex_;
  std::map<std::int64_t, Slots> waiting_ COFFER_GUARDED_BY(mutex_);  // by connector
};

}  // namespace coffer::outbound
