// On-ramp references (docs/contract.md#references): registering them, and what arrives on them.
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
  std::string settlement_account;  // as the caller wrote it
  std::string customer_id;
};

/// Asks the provider with no transaction open, then stores what it issued. `not-found` (settlement
/// account not one of the caller's, malformed ones included; connector; customer the provider does
/// not know), `references-exist`, `conflict` (the provider could not assign), `trustline-missing`,
/// `wallet-not-verified`, `validation-failed` (no references from this connector), and the
/// provider's faults.
Result<store::ReferenceRow> register_reference(const Context& context, const Caller& caller,
                                               const NewReference& request);

/// A customer's payment, as the provider tells it.
struct ReferenceArrival {
  std::string reference;
  std::string provider_payment_id;  // each counts once per connector
  Amount amount;                    // in the connector's currency
  Payer payer;
  bool simulated = false;  // asked for by the tenant in the sandbox: quotas apply
};
struct ArrivedPayment {
  PaymentId id;
  bool known = false;  // told before
};
/// One durable acceptance; settlement credits the wallet. `not-found` for an unknown reference,
/// `conflict` when the id was told before with another amount or reference, `amount-precision` or
/// `amount-out-of-range`.
Result<ArrivedPayment> accept_reference_payment(const Context& context,
                                                const ConnectorTerms& connector,
                                                const ReferenceArrival& arrival,
                                                std::string_view request_id);

/// Inside the settlement's command: credits the wallet from the provider's clearing account. Waits
/// while the wallet may not transact.
void settle_reference_payment(const Context& context, store::WriteTx& tx,
                              store::SettlementView& payment);

}  // namespace coffer::flows
