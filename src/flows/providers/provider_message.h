// The data that a provider gets about a payment, and the only function that calls a provider.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "domain/providers/provider_payment.h"
#include "flows/context.h"
#include "flows/payments/terms.h"
#include "outbound/providers/connector.h"
#include "store/payments/refunds.h"
#include "store/providers/connectors.h"
#include "store/providers/provider_payments.h"

namespace coffer::flows {

/// The connectors of one round. Unseals the secret of each endpoint once. For one thread.
class ConnectorCache {
 public:
  explicit ConnectorCache(const Context& context) : context_(context) {}
  /// Valid as long as the cache.
  Result<const ConnectorTerms*> get(const store::ConnectorRow& connector);

 private:
  const Context& context_;
  std::map<std::pair<std::int64_t, std::int64_t>, ConnectorTerms> terms_;  // connector, endpoint
};

struct ProviderMessage {
  const ConnectorTerms* terms = nullptr;  // in the cache that created it
  std::variant<outbound::Payout, outbound::Collection, outbound::Refund> content;
};
/// The message about the payment of `view`, whose connector is `connector`, or about its refund.
Result<ProviderMessage> provider_message(store::Connection& db, ConnectorCache& connectors,
                                         const store::ConnectorRow& connector,
                                         const store::ProviderView& view,
                                         const std::optional<store::RefundRow>& refund);

/// The result of a call: a response or a Problem.
using ProviderReply = Result<std::variant<outbound::PayoutResponse, outbound::CollectionResponse>>;

/// Blocks until the provider has responded or the timeout has passed. No transaction may be open.
ProviderReply call_provider(const Context& context, ProviderCall call,
                            const ProviderMessage& message);

/// Applies the reply with flows/providers/provider_outcome.h.
void apply_reply(const Context& context, store::WriteTx& tx, store::ProviderView& view, int asked,
                 const ProviderReply& reply);
/// Ends the check of a contradiction (flows/providers/provider_outcome.h).
void apply_check(store::WriteTx& tx, store::ProviderView& view, int asked,
                 const ProviderReply& reply);
/// The reply as text for the payment's history: `succeeded`, `failed: account_closed`,
/// `provider-timeout`.
std::string outcome_text(const ProviderReply& reply);

}  // namespace coffer::flows
