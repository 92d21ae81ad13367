// On-ramp references (docs/contract.md#references): registration, and incoming payments.
#pragma once

#include <string>
#include <string_view>

#include "domain/identity/tenant.h"
#include "flows/context.h"
#include "store/payments/payments.h"
#include "store/providers/connectors.h"
#include "store/providers/references.h"

namespace coffer::flows {

struct NewReference {
  ConnectorId connector;
  std::string settlement_account;  // as the caller sent it
  std::string customer_id;
};

/// Calls the provider without an open transaction, then stores the issued references. `not-found`
/// (a settlement account that is malformed or not the caller's; the connector; a customer unknown
/// to the provider), `references-exist`, `conflict` (the provider could not assign a reference),
/// `trustline-missing`, `wallet-not-verified`, `validation-failed` (the connector issues no
/// references), and failures of the provider.
Result<store::ReferenceRow> register_reference(const Context& context, const Caller& caller,
                                               const NewReference& request);

/// A customer's payment, as the provider reports it.
struct ReferenceArrival {
  std::string reference;
  std::string provider_payment_id;  // counted once per connector
  Amount amount;                    // in the connector's currency
  Payer payer;
  bool simulated = false;  // requested by a sandbox route, so quotas apply
};
struct ArrivedPayment {
  PaymentId id;
  bool known = false;  // reported before
};
/// Accepts the payment in one durable commit; settlement credits the wallet. `not-found` for an
/// unknown reference, `conflict` if the ID was reported before with a different amount or
/// reference, `amount-precision` or `amount-out-of-range`.
Result<ArrivedPayment> accept_reference_payment(const Context& context,
                                                const ConnectorTerms& connector,
                                                const ReferenceArrival& arrival,
                                                std::string_view request_id);

/// Inside the settlement command: credits the wallet from the provider's clearing account. Waits
/// while the wallet may not transact.
void settle_reference_payment(const Context& context, store::WriteTx& tx,
                              store::SettlementView& payment);

}  // namespace coffer::flows
