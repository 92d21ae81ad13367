// Accepting a payment: one durable commit with the replay check, the rules, the hold, the record,
// the `payment.initiated` event and the settlement job (docs/contract.md#payments).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/payments/payment.h"
#include "flows/context.h"
#include "flows/payments/make_quote.h"
#include "store/payments/payments.h"

namespace coffer::flows {

struct Submission {
  PaymentId id;
  bool replayed = false;  // an identical request was accepted earlier under this transactionId
};

/// Sees the payment in the transaction that accepts it, or validates it. A Problem rejects it.
using PaymentCheck = std::function<Result<void>(store::WriteTx&, const store::PaymentRecord&)>;

/// Returns when the acceptance is on disk. With `validate_only`, runs every check and stores
/// nothing. Problems: `not-found` (a wallet that the caller does not own), `wallet-not-verified`,
/// `validation-failed`, `trustline-missing`, `amount-precision`, `amount-out-of-range`,
/// `insufficient-funds`, `transaction-id-conflict`, `association-suspended`, and those of the
/// commit queue. A rejected submission does not use up its transactionId.
Result<Submission> submit_payment(const Context& context, const Caller& caller,
                                  const PaymentRequest& request, std::string_view request_id,
                                  bool validate_only, const PaymentCheck& check = {});

/// Compares `request` with the payment `stored` under the same transactionId: returns the first
/// acknowledgement, or `transaction-id-conflict` with the fields that differ. `quoted` is for
/// requests that coffer quotes: their quotes are compared by content, because each submission gets
/// a new one.
Result<Submission> replay_submission(const Context& context, const Tenant& tenant,
                                     const store::PaymentRecord& stored, PaymentRequest request,
                                     const QuoteRequest* quoted);

/// The Problem `transaction-id-conflict` with the fields that differ from the first submission.
Unexpected transaction_id_conflict(const std::vector<std::string>& differing);

/// The payment accepted earlier under this transactionId, if any.
Result<std::optional<store::PaymentRecord>> find_submission(const Context& context,
                                                            const Tenant& tenant,
                                                            std::string_view transaction_id);

}  // namespace coffer::flows
