#include "outbound/providers/connector_registry.h"

#include "base/check.h"
#include "base/telemetry/metrics.h"

namespace coffer::outbound {

Connector& ConnectorRegistry::driver(const ConnectorTerms& terms) {
  switch (terms.driver) {
    case DriverKind::sandbox:
      return sandbox_;
    case DriverKind::http:
      return http_;
  }
  throw InternalError("unknown driver");
}

/// Empty for drivers that respond immediately, because they need no slot.
Result<std::optional<Slots::Slot>> ConnectorRegistry::place_to_wait(const ConnectorTerms& terms) {
  constexpr int kRetryAfterS = 5;
  if (!terms.calls_out()) return std::optional<Slots::Slot>();
  const Lock lock(mutex_);
  auto slot = waiting_.try_emplace(terms.key, kRequestsWaitingMax).first->second.try_take();
  if (slot) return slot;
  return unexpected(
      Problem(
          Slug::provider_unavailable,
          "The payment provider is slow, and too many requests already wait for it. Retry later.")
          .retry_after(kRetryAfterS));
}

/// All calls go through this function, so that they are counted for every driver.
template <class Response, class Ask>
Result<Response> ConnectorRegistry::call(
    Result<Response> (Connector::*function)(const ConnectorTerms&, const Ask&),
    std::string_view name, const ConnectorTerms& terms, const Ask& ask) {
  const Stopwatch watch;
  auto response = (driver(terms).*function)(terms, ask);
  if (metrics_ == nullptr) return response;
  const std::string connector = terms.id.to_string();
  metrics_
      ->counter("coffer_connector_calls_total", "Calls to payment providers, by result.",
                {{"connector", connector},
                 {"call", name},
                 {"outcome", response ? "ok" : info(response.error().slug).name}})
      .add();
  metrics_
      ->histogram("coffer_connector_call_duration_seconds",
                  "Duration of calls to payment providers, in seconds.", kLatencyBuckets,
                  {{"connector", connector}})
      .observe(watch.elapsed_us());
  return response;
}

Result<ProviderQuote> ConnectorRegistry::quote(const ConnectorTerms& terms, const QuoteAsk& ask) {
  COFFER_TRY(const auto place, place_to_wait(terms));
  return call(&Connector::quote, "quote", terms, ask);
}

Result<PayoutResponse> ConnectorRegistry::submit(const ConnectorTerms& terms,
                                                 const Payout& payout) {
  return call(&Connector::submit, "submit", terms, payout);
}

Result<PayoutResponse> ConnectorRegistry::payout_status(const ConnectorTerms& terms,
                                                        const Payout& payout) {
  return call(&Connector::payout_status, "payout_status", terms, payout);
}

Result<PayoutResponse> ConnectorRegistry::cancel(const ConnectorTerms& terms,
                                                 const Payout& payout) {
  return call(&Connector::cancel, "cancel", terms, payout);
}

Result<CollectionResponse> ConnectorRegistry::collect(const ConnectorTerms& terms,
                                                      const Collection& collection) {
  return call(&Connector::collect, "collect", terms, collection);
}

Result<CollectionResponse> ConnectorRegistry::collection_status(const ConnectorTerms& terms,
                                                                const Collection& collection) {
  return call(&Connector::collection_status, "collection_status", terms, collection);
}

Result<CollectionResponse> ConnectorRegistry::expire(const ConnectorTerms& terms,
                                                     const Collection& collection) {
  return call(&Connector::expire, "expire", terms, collection);
}

Result<RefundResponse> ConnectorRegistry::refund(const ConnectorTerms& terms,
                                                 const Refund& refund) {
  return call(&Connector::refund, "refund", terms, refund);
}

Result<RefundResponse> ConnectorRegistry::refund_status(const ConnectorTerms& terms,
                                                        const Refund& refund) {
  return call(&Connector::refund_status, "refund_status", terms, refund);
}

Result<ReferenceResponse> ConnectorRegistry::issue_reference(const ConnectorTerms& terms,
                                                             const ReferenceAsk& ask) {
  COFFER_TRY(const auto place, place_to_wait(terms));
  return call(&Connector::issue_reference, "issue_reference", terms, ask);
}

}  // namespace coffer::outbound
