// The keyed digest of a payment, which settlement and every later step check before they act.
//
// It covers the row of the payment with its state, and the rows that never change after acceptance:
// legs and holds of a multi-transfer, cost, compliance details, additional fields, and the
// reference of a collection. The rest of a payment through a provider has its own digest
// (seal_provider_parts). The end of the journal and of the payments is sealed with each commit
// (ledger_head), so that rows that are missing at the end, and older versions of rows, are found.
//
// Digest: the first 8 bytes of HMAC-SHA256(row key, `payment|key|tenant|` || text || state). `text`
// has the rows of kPaymentParts (payment_seal.cpp) in the form of append_canonical(), each with a
// line feed; `state` has kStateColumns in the same form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/operations/message.h"
#include "domain/payments/payment.h"
#include "store/file/connection.h"
#include "store/rows/sealed_totals.h"

namespace coffer::store {

class WriteTx;
struct ChainHead;

inline constexpr std::size_t kPaymentDigestBytes = 8;

/// The columns of a payment that change.
struct PaymentState {
  PaymentStatus status = PaymentStatus::initiated;
  int version = 1;
  std::optional<FailureCode> failure = std::nullopt;
  std::optional<FailureCode> refund_failure = std::nullopt;
  std::optional<Amount> receiving_amount = std::nullopt;
  std::optional<std::string> path = std::nullopt;
  std::optional<std::int64_t> processing_after = std::nullopt;  // ms after the acceptance
  std::optional<std::int64_t> completed_after = std::nullopt;
  std::int64_t updated_after = 0;
  std::optional<Timestamp> refund_pending_at = std::nullopt;
  std::optional<Timestamp> refund_closed_at = std::nullopt;
  std::optional<Timestamp> corrected_at = std::nullopt;
  std::optional<PaymentStatus> corrected_from = std::nullopt;
  std::optional<Amount> refunded = std::nullopt;  // given back after success
  bool operator==(const PaymentState&) const = default;
};

/// What the digest covers, as read from the file.
struct SealedPayment {
  std::int64_t key = 0;
  std::int64_t tenant = 0;
  PaymentType type = PaymentType::p2p_own;
  Timestamp created_at = {};
  PaymentState state = {};
  std::string text = {};
  std::string mac = {};  // stored
  bool operator==(const SealedPayment&) const = default;
};

/// The row keys of a new payment, resolved by the flow.
struct PaymentKeys {
  struct Leg {
    std::optional<std::int64_t> source_wallet;
    std::optional<std::int64_t> destination_wallet;
    std::optional<std::int64_t> asset;  // empty: a currency outside the ledger
    bool operator==(const Leg&) const = default;
  };
  std::vector<Leg> legs;
  std::optional<std::int64_t> receiving_asset;
  std::optional<std::int64_t> beneficiary;
  std::optional<std::int64_t> destination;
  std::optional<std::int64_t> connector;
  std::optional<std::int64_t> quote;
  bool operator==(const PaymentKeys&) const = default;
};

/// What settlement reads, in row keys.
struct SettlementView {
  std::int64_t key = 0;
  std::int64_t tenant = 0;
  Environment environment = Environment::sandbox;
  PaymentType type = PaymentType::p2p_own;
  PaymentStatus status = PaymentStatus::initiated;
  int version = 1;
  /// As in the file; `status` and `version` may be newer (pass_processing).
  SealedPayment sealed;
  std::optional<Timestamp> settle_at;  // empty: not a payment that the ledger settles next
  std::optional<std::int64_t> receiving_asset;
  std::optional<Amount> min_receiving;
  std::optional<Amount> receiving_amount;
  PaymentKeys keys;
  std::vector<Amount> amounts;           // per leg
  std::optional<MessageChannel> notify;  // empty: no notification
  bool operator==(const SettlementView&) const = default;
};

/// Whether a provider gives back money that it collected: of an on-ramp that succeeded.
inline bool is_refunding(const SettlementView& payment) {
  return payment.status == PaymentStatus::refund_pending && payment.type != PaymentType::offramp;
}
/// Whether the payment has succeeded, even if money was given back since.
inline bool was_paid(const SettlementView& payment) {
  const bool kept =
      payment.status == PaymentStatus::refund_failed && payment.type != PaymentType::offramp;
  return payment.status == PaymentStatus::succeeded || payment.sealed.state.refunded || kept ||
         is_refunding(payment);
}

/// A payment that the ledger settles at `due_at`. Written with the payment and removed by the next
/// change of its status, so that settlement resumes after a crash.
struct SettlementJob {
  Timestamp due_at;
  std::int64_t payment = 0;
};

/// The columns of `payments p` that read_sealed() reads from a row of a statement, from `at` on.
std::string_view sealed_payment_columns();
SealedPayment read_sealed(const Query& row, int at, std::int64_t payment);
/// Reads the rows that the digest also covers, and compares it. Throws ForeignChange
/// (store/rows/guarded_rows.h) if another program inserted or changed the payment. Without keys,
/// compares nothing.
void check_sealed(Connection& db, SealedPayment& payment);
/// The same for a payment with this key, if there is one.
void require_intact_payment(Connection& db, std::int64_t payment);
/// The text of a stored payment; empty if it does not exist.
std::string payment_text(Connection& db, std::int64_t payment);

/// The columns of a new row that never change.
struct NewPaymentRow {
  PaymentType type = PaymentType::p2p_own;
  Uuid id;
  std::string_view transaction_id;
  std::int64_t application = 0;
  std::string_view request_id;
  std::optional<std::int64_t> source_wallet;
  std::optional<std::int64_t> destination_wallet;
  std::optional<std::int64_t> sending_asset;
  std::optional<Amount> sending_amount;
  std::optional<std::int64_t> receiving_asset;
  std::optional<Amount> min_receiving;
  std::optional<std::string> from_ref;
  std::optional<std::string> to_ref;
  std::optional<std::string> description;
  std::optional<std::string> memo;
  std::int64_t notify = 0;
  Timestamp created_at;
  std::optional<std::int64_t> beneficiary;
  std::optional<std::int64_t> destination;
  std::optional<std::int64_t> connector;
  std::optional<std::int64_t> quote;
  std::optional<std::string> metadata;
};
/// Whether the digest covers only the row of the payment.
bool has_one_row(PaymentType type);
/// A new payment of which has_one_row() is true, with its digest.
SealedPayment seal_new_payment(Connection& writer, std::int64_t key, std::int64_t tenant,
                               const NewPaymentRow& row, const PaymentState& state);
/// The digest after a change of the state.
std::string changed_payment_digest(Connection& writer, const SealedPayment& payment);
/// Writes the digest of a new payment with other rows. Call it when all of them are stored.
void seal_payment(WriteTx& tx, std::int64_t key, PaymentType type);

/// Whether the digest of the changing columns of the provider part, and of the instructions for the
/// payer, is correct. Also true without keys, and without such a part.
bool has_intact_provider_part(Connection& db, std::int64_t payment);

/// The end of the ledger, read at first use. Logs if it is not where the seal says. Then the seal
/// stays as it is, so that verification finds the change.
ChainHead& ledger_head(WriteTx& tx);
/// Counts a change of the state.
void note_versions(WriteTx& tx, std::int64_t payment, const PaymentState& before,
                   const PaymentState& after);
/// Call this before executing a payment in progress, as read from the file. Throws ForeignChange if
/// another program replaced it by an older version of itself, after it had made progress or ended.
void require_open(WriteTx& tx, const SealedPayment& payment);
/// Writes the digests of the provider parts that changed (WriteTx::provider_parts), and seals the
/// end if it moved. Call it before each commit.
void seal_ledger(WriteTx& tx);

/// Checks payments in a range of keys. `fault`: a sentence about the first row that is missing or
/// does not match its digest; empty if all match.
struct PaymentPiece {
  std::int64_t rows = 0;
  std::int64_t versions =
      0;  // the sum of their versions, and of the changes of their provider parts
  std::string fault;
};
PaymentPiece check_payments(Connection& db, std::int64_t first, std::int64_t last);
/// Compares the number of payments and the sum of their versions with the seal. The sum decreases
/// if a row is replaced by an older version of itself.
std::string ledger_end_fault(Connection& db, std::int64_t payments, std::int64_t versions);
/// Compares the last entry set with the seal.
std::string journal_end_fault(Connection& db, std::int64_t journal, std::string_view link);

}  // namespace coffer::store
