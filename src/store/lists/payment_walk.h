// Row keys of the payments that match a filter, for a tenant's list and for the operator's lists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/payments/payment.h"
#include "domain/providers/provider_payment.h"
#include "store/rows/key_walk.h"

namespace coffer::store {

/// Amounts in units of Amount, from `lowest` up to, but excluding, `below`.
struct AmountRange {
  std::int64_t lowest = 0;
  std::int64_t below = 0;
  bool operator==(const AmountRange&) const = default;
};

/// A filter in row keys.
struct PaymentsWanted {
  TenantKeys tenants;
  std::optional<std::int64_t> wallet;  // on either side, including legs
  std::optional<std::int64_t> beneficiary;
  std::optional<std::int64_t> connector;
  std::optional<PaymentStatus> status;
  std::optional<PaymentType> type;
  std::optional<Timestamp> from;         // created, inclusive
  std::optional<Timestamp> to;           // created, exclusive
  std::optional<std::int64_t> asset;     // sent or received, including legs
  std::optional<std::string> reference;  // equals fromRef or toRef, including those of legs
  std::optional<std::string> transaction_id;
  PaymentMetadata metadata;               // all of these texts
  std::optional<Timestamp> updated_from;  // inclusive
  std::optional<FailureCode> failure;
  std::optional<OpenItem> open_item;  // unbooked or contradicted
  std::optional<AmountRange> amount;  // sent or received; of a multi-transfer, the sum of its legs
  /// Beginning of the transactionId, or of the account number of a wallet on either side, including
  /// legs.
  std::optional<std::string> text;

  bool operator==(const PaymentsWanted&) const = default;
};

/// The payments of one page in the order of their acceptance.
class PaymentWalk {
 public:
  /// All arguments must outlive this object.
  PaymentWalk(Connection& db, const PaymentsWanted& wanted, KeyWalk& walk);

  /// Whether a filter may leave only a few payments among many.
  bool is_narrow() const;
  /// `also`: the keys of a further filter, if not empty.
  KeyPage read(const KeySources& also = {});
  /// Whether the payment in the current row of `q` matches. Its first columns are
  /// COFFER_PAYMENT_FILTER_COLUMNS.
  bool fits(const Query& q);

 private:
  std::vector<KeySources> filters();
  KeySources of_wallet(std::int64_t wallet) const;
  KeySources of_reference() const;
  KeySources of_statuses(const std::vector<PaymentStatus>& statuses) const;
  std::optional<KeySources> of_text();
  KeySources of_kind() const;
  void add_kinds(KeySources& out, std::int64_t tenant, PaymentType type) const;
  std::vector<std::int64_t> tenants() const;
  /// The sources of an index that starts with the tenant.
  template <class... Args>
  void add_of_tenants(KeySources& out, const KeyIndex& index, const Args&... args) const;
  bool legs_fit(const Query& q);
  bool metadata_fits(std::int64_t payment);
  bool amount_fits(std::int64_t payment);

  Connection& db_;
  const PaymentsWanted& wanted_;
  KeyWalk& walk_;
  const ListRange range_;
  std::vector<std::int64_t> text_wallets_;  // whose account number begins with the text
};

#define COFFER_PAYMENT_FILTER_COLUMNS                                                          \
  "p.payment, p.tenant, p.type, p.status, p.sending_asset, p.receiving_asset,"                 \
  " p.source_wallet, p.destination_wallet, p.from_ref, p.to_ref, p.updated_at, p.beneficiary," \
  " p.connector, p.transaction_id, p.failure"

/// Key of the first payment created at or after `at`, or one beyond the last. Times never decrease
/// from one payment to the next, so a binary search needs few reads.
std::int64_t first_payment_since(Connection& db, Timestamp at);
/// 0 if there are no payments.
std::int64_t last_payment(Connection& db);

}  // namespace coffer::store
