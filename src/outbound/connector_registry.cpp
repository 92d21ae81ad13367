#include "outbound/connector_registry.h"

#include "base/check.h"

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

Result<ProviderQuote> ConnectorRegistry::quote(const ConnectorTerms& terms, const QuoteAsk& ask) {
  return driver(terms).quote(terms, ask);
}

Result<PayoutAnswer> ConnectorRegistry::submit(const ConnectorTerms& terms, const Payout& payout) {
  return driver(terms).submit(terms, payout);
}

Result<PayoutAnswer> ConnectorRegistry::payout_status(const ConnectorTerms& terms,
                                                      const Payout& payout) {
  return driver(terms).payout_status(terms, payout);
}

Result<PayoutAnswer> ConnectorRegistry::cancel(const ConnectorTerms& terms, const Payout& payout) {
  return driver(terms).cancel(terms, payout);
}

Result<CollectionAnswer> ConnectorRegistry::collect(const ConnectorTerms& terms,
                                                    const Collection& collection) {
  return driver(terms).collect(terms, collection);
}

Result<CollectionAnswer> ConnectorRegistry::collection_status(const ConnectorTerms& terms,
                                                              const Collection& collection) {
  return driver(terms).collection_status(terms, collection);
}

Result<CollectionAnswer> ConnectorRegistry::expire(const ConnectorTerms& terms,
                                                   const Collection& collection) {
  return driver(terms).expire(terms, collection);
}

Result<ReferenceAnswer> ConnectorRegistry::issue_reference(const ConnectorTerms& terms,
                                                           const ReferenceAsk& ask) {
  return driver(terms).issue_reference(terms, ask);
}

}  // namespace coffer::outbound
