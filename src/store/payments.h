// Payment records: what was asked, where it stands, and the lists integrators read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/payment.h"
#include "domain/tenant.h"
#include "store/wallets.h"
#include "store/write_tx.h"

namespace coffer::store {

/// One transaction record with public ids and codes resolved.
struct PaymentRecord {
  std::int64_t key = 0;
  PaymentId id;
  std::int64_t tenant = 0;
  std::int64_t application = 0;
  std::string request_id;
  PaymentRequest request;
  PaymentStatus status = PaymentStatus::initiated;
  int version = 1;
  std::optional<AssetCode> sending_asset;  // empty when the legs differ in it
  int sending_decimals = 7;
  std::optional<Amount> sending_amount;
  std::optional<int> receiving_decimals;
  std::optional<Amount> receiving_amount;
  std::optional<std::string> path;
  std::optional<FailureCode> failure;
  std::vector<int> leg_decimals;
  std::optional<std::string> ledger_hash;  // 32 bytes
  Timestamp created_at;
  std::optional<Timestamp> processing_at;
  std::optional<Timestamp> completed_at;
  std::optional<Timestamp> refund_pending_at;
  std::optional<Timestamp> refund_closed_at;
  Timestamp updated_at;
};

/// Row keys that a new payment refers to, resolved by the flow.
struct PaymentKeys {
  struct Leg {
    std::int64_t source_wallet = 0;
    std::int64_t destination_wallet = 0;
    std::int64_t asset = 0;
  };
  std::vector<Leg> legs;
  std::optional<std::int64_t> receiving_asset;
};

/// What settlement needs, by row keys.
struct SettlementView {
  std::int64_t key = 0;
  std::int64_t tenant = 0;
  Environment environment = Environment::sandbox;
  PaymentType type = PaymentType::p2p_own;
  PaymentStatus status = PaymentStatus::initiated;
  int version = 1;
  std::optional<std::int64_t> receiving_asset;
  std::optional<Amount> min_receiving;
  PaymentKeys keys;
  std::vector<Amount> amounts;  // per leg
};

/// A change of status; `from` is checked against the stored one.
struct StatusChange {
  PaymentStatus to = PaymentStatus::processing;
  std::optional<FailureCode> failure;
  std::optional<Amount> receiving_amount;
  std::optional<std::string> path;
};

/// The record and its key under this transactionId, whatever application of the tenant sent it.
std::optional<PaymentRecord> find_by_transaction_id(Connection& db, const Tenant& tenant,
                                                    std::string_view transaction_id);
std::optional<PaymentRecord> find_payment(Connection& db, const Tenant& tenant, PaymentId id);
/// For the operator and for events: no tenant is asked, so never on an integrator's route.
std::optional<PaymentRecord> find_payment_by_key(Connection& db, std::int64_t payment);

struct NewPayment {
  PaymentId id;
  std::int64_t application = 0;
  std::string_view request_id;
  const PaymentRequest& request;
  const PaymentKeys& keys;
  std::optional<Amount> total;  // sum of the legs when they share an asset
};
/// Writes the record in status `initiated`; returns its key.
std::int64_t insert_payment(WriteTx& tx, const Tenant& tenant, const NewPayment& payment);

SettlementView settlement_view(Connection& db, std::int64_t payment);
/// Moves the status along the transition table, sets the time of the new status and raises the
/// version. A change that the table forbids is a bug and throws.
void change_status(WriteTx& tx, SettlementView& payment, const StatusChange& change);

// Settlement jobs: written with the payment, removed with its settlement.
struct SettlementJob {
  Timestamp due_at;
  std::int64_t payment = 0;
};
void add_settlement_job(WriteTx& tx, const SettlementJob& job);
void remove_settlement_job(WriteTx& tx, const SettlementJob& job);
/// Puts a job off that could not be done, a little longer each time.
void postpone_settlement_job(WriteTx& tx, const SettlementJob& job);
/// False when somebody else has removed it.
bool has_settlement_job(Connection& db, const SettlementJob& job);
/// Jobs due at or before `now`, oldest first.
std::vector<SettlementJob> due_settlement_jobs(Connection& db, Timestamp now, int limit);
std::optional<Timestamp> next_settlement_due(Connection& db);
std::int64_t count_settlement_jobs(Connection& db);
/// The open job of a payment, if any.
std::optional<SettlementJob> find_settlement_job(Connection& db, std::int64_t payment);

}  // namespace coffer::store
