// Payment records: the request, its state, and the lists that integrators read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/operations/message.h"
#include "domain/payments/payment.h"
#include "domain/payments/refund.h"
#include "domain/providers/connector.h"
#include "domain/providers/provider_payment.h"
#include "store/commits/write_tx.h"
#include "store/payments/payment_seal.h"

namespace coffer::store {

/// The additional fields of a payment through a provider.
struct ProviderPart {
  ConnectorId connector;
  Direction direction = Direction::off_ramp;
  std::string currency;  // of the side that is not on the ledger, as it arrived
  int currency_decimals = 2;
  Amount fee;  // in the sending currency
  Amount total;
  ProviderState state = ProviderState::fresh;
  bool in_review = false;
  std::optional<Timestamp> expires_at;
  std::optional<std::string> provider_reference;
  std::optional<Amount> collected;  // paid by the payer of an on-ramp, in the sending currency
  std::optional<Amount> quoted_receiving;  // of the quote, if there is one
  OpenItem open_item = OpenItem::none;
  std::map<std::string, std::string> instructions;
};

/// One transaction record, with public IDs and codes.
struct PaymentRecord {
  std::int64_t key = 0;
  PaymentId id;
  std::int64_t tenant = 0;
  std::int64_t application = 0;
  std::string request_id;
  PaymentRequest request;
  PaymentStatus status = PaymentStatus::initiated;
  int version = 1;
  std::optional<AssetCode> sending_asset;  // empty if the assets of the legs differ
  int sending_decimals = 7;
  std::optional<Amount> sending_amount;
  std::optional<int> receiving_decimals;
  std::optional<Amount> receiving_amount;
  std::optional<std::string> path;
  std::optional<std::string> metadata;  // that of the request, as a JSON object
  std::optional<FailureCode> failure;
  std::optional<FailureCode> refund_failure;  // why coffer could not credit the refund
  std::vector<int> leg_decimals;
  std::optional<ProviderPart> provider;
  std::optional<std::string> ledger_hash;  // 32 bytes
  Timestamp created_at;
  std::optional<Timestamp> processing_at;
  std::optional<Timestamp> completed_at;
  std::optional<Timestamp> refund_pending_at;
  std::optional<Timestamp> refund_closed_at;
  std::optional<Timestamp> corrected_at;        // an operator replaced a final status
  std::optional<PaymentStatus> corrected_from;  // that status
  /// What was given back after success, oldest first. Of an on-ramp also what waits for the
  /// provider, or failed.
  struct Refund {
    Amount amount;  // in the sending asset
    Timestamp at;   // of the present state
    std::string reason;
    std::optional<Timestamp> asked_at = std::nullopt;  // of an on-ramp: of the reversal
    RefundState state = RefundState::booked;           // or waiting, or failed
    std::optional<FailureCode> failure = std::nullopt;
  };
  std::vector<Refund> refunds;
  Timestamp updated_at;
};

/// The price of a new payment through a provider.
struct ProviderTerms {
  Amount fee;
  Amount total;
  Amount receiving;
  std::optional<TransactionType> type;
  // of a payment on a reference, if it is not the connector's
  std::optional<std::string> arrived_currency = std::nullopt;
};

/// A change of status. `from` is compared with the stored status.
struct StatusChange {
  PaymentStatus to = PaymentStatus::processing;
  std::optional<FailureCode> failure;
  std::optional<Amount> receiving_amount;
  std::optional<std::string> path;
  std::optional<FailureCode> refund_failure = std::nullopt;
  // The total that is given back after success, with this change.
  std::optional<Amount> refunded = std::nullopt;
};

/// The state after a change at `now`. `passed`: the payment also passed `processing`.
PaymentState state_after(const SealedPayment& payment, const StatusChange& change, int version,
                         bool passed, Timestamp now);

/// The record and its key under this transactionId, from any application of the tenant.
std::optional<PaymentRecord> find_by_transaction_id(Connection& db, const Tenant& tenant,
                                                    std::string_view transaction_id);
/// Call this for a payment that was found by its ID. Throws ForeignChange
/// (store/rows/guarded_rows.h) if the index of IDs leads to another payment.
void require_payment_id(Connection& db, std::int64_t payment, PaymentId id);
std::optional<PaymentRecord> find_payment(Connection& db, const Tenant& tenant, PaymentId id);
/// For the operator and for events. Does not check the tenant, so never call it for an integrator's
/// route.
std::optional<PaymentRecord> find_payment_by_key(Connection& db, std::int64_t payment);

/// The unit of the receiving side: an asset, or the currency of the provider. nullopt if the record
/// has no receiving side.
struct Denomination {
  std::string code;
  int decimals = Amount::kScale;
};
std::optional<Denomination> receiving_denomination(const PaymentRecord& record);

struct NewPayment {
  PaymentId id;
  std::int64_t application = 0;
  std::string_view request_id;
  const PaymentRequest& request;
  const PaymentKeys& keys;
  std::optional<Amount> total;  // sum of the legs if they have the same asset
  std::optional<ProviderTerms> provider = std::nullopt;
  std::optional<Timestamp> settle_at = std::nullopt;  // empty: a provider has the next step
};
/// Writes the record in status `initiated`; returns its key. When all of its rows are stored, call
/// seal_payment().
std::int64_t insert_payment(WriteTx& tx, const Tenant& tenant, const NewPayment& payment);

/// Throws ForeignChange if another program inserted or changed the payment.
SettlementView settlement_view(Connection& db, std::int64_t payment);
/// The same for a job. A payment that this process has accepted, and not changed since, comes from
/// memory (store/payments/open_payments.h).
SettlementView settlement_view(WriteTx& tx, const SettlementJob& job);
/// Moves the status along the transition table, sets the time of the new status, increments the
/// version and removes the settlement job. A change that the table forbids is a bug and throws.
void change_status(WriteTx& tx, SettlementView& payment, const StatusChange& change);
/// Changes the status from `initiated` to `processing` only in `payment`. For a command that also
/// ends the payment: the next change_status writes both changes with their times.
void pass_processing(SettlementView& payment);

/// Sets the time of the next attempt, for a payment in progress.
void schedule_settlement(WriteTx& tx, const SettlementJob& job);
/// Postpones a failed job, with a longer delay after each attempt. No effect if the job changed in
/// the meantime.
void postpone_settlement(WriteTx& tx, const SettlementJob& job);
/// Jobs due at or before `now`, oldest first.
std::vector<SettlementJob> due_settlements(Connection& db, Timestamp now, int limit);
std::optional<Timestamp> next_settlement_due(Connection& db);

/// The value of `metadata_terms.term`. Different texts can have the same.
std::int64_t metadata_term(std::string_view key, std::string_view text);
/// metadata_term(key, text) for SQL.
SqlFunction metadata_term_function();

}  // namespace coffer::store
