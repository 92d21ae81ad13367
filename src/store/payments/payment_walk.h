// Row keys of the payments that match a filter, for a tenant's list and for the operator's lists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/payments/payment.h"
#include "domain/providers/provider_payment.h"
#include "store/lists/key_walk.h"

namespace coffer::store {

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
  std::optional<Timestamp> updated_from;  // inclusive
  std::optional<FailureCode> failure;
  std::optional<OpenItem> open_item;  // unbooked or contradicted
  /// Beginning of the transactionId, or of the account number of a wallet on either side.
  std::optional<std::string> text;

  bool operator==(const PaymentsWanted&) const = default;
};

/// The payments of one page in the order of their acceptance.
class PaymentWalk {
 public:
  /// All arguments must outlive this object.
  PaymentWalk(Connection& db, const PaymentsWanted& wanted, Order order, RowBudget& budget);

  /// Whether an index serves one of the filters, so that a few payments are found among many.
  bool is_narrow() const;
  /// `also`: a further set that must contain the payments.
  KeyWalk::Found read(std::optional<std::int64_t> beyond, int limit,
                      std::unique_ptr<KeySet> also = {});
  /// Whether the payment in the current row of `q` matches. Its first columns are
  /// COFFER_PAYMENT_FILTER_COLUMNS.
  bool fits(const Query& q);
  const KeyWalk& walk() const { return walk_; }

 private:
  KeySets sets();
  std::unique_ptr<KeySet> of_wallet(std::int64_t wallet) const;
  std::unique_ptr<KeySet> of_reference() const;
  std::unique_ptr<KeySet> of_status() const;
  std::unique_ptr<KeySet> of_failure() const;
  std::unique_ptr<KeySet> of_text();
  bool text_fits(const Query& q) const;
  bool failure_fits(std::int64_t payment) const;
  std::vector<std::int64_t> tenants() const;
  std::unique_ptr<KeySet> of_kind(bool by_tenant) const;
  void add_kinds(KeySets& out, std::int64_t tenant) const;
  std::vector<PaymentType> types() const;
  bool legs_fit(const Query& q);

  Connection& db_;
  const PaymentsWanted& wanted_;
  RowBudget& budget_;
  KeyWalk walk_;
  std::int64_t lowest_;
  std::int64_t below_;
  std::vector<std::int64_t> text_wallets_;  // whose account number begins with the text
  bool text_is_narrow_ = false;             // its payments form a separate set
};

#define COFFER_PAYMENT_FILTER_COLUMNS                                                          \
  "p.payment, p.tenant, p.type, p.status, p.sending_asset, p.receiving_asset,"                 \
  " p.source_wallet, p.destination_wallet, p.from_ref, p.to_ref, p.updated_at, p.beneficiary," \
  " p.connector, p.transaction_id"

/// Key of the first payment created at or after `at`, or one beyond the last. Times never decrease
/// from one payment to the next, so a binary search needs few reads.
std::int64_t first_payment_since(Connection& db, Timestamp at);
/// 0 if there are no payments.
std::int64_t last_payment(Connection& db);

}  // namespace coffer::store
