// Wallets, beneficiaries and quotes of all tenants, for the operator, newest first.
//
// They do not check the tenant, so never use them for an integrator's route.
#pragma once

#include <optional>
#include <string>

#include "store/ledger/wallets.h"
#include "store/operations/messages.h"
#include "store/parties/beneficiaries.h"
#include "store/payments/quotes.h"
#include "store/rows/key_walk.h"

namespace coffer::store {

struct WalletsWanted {
  TenantKeys tenants;
  std::optional<WalletStatus> status;
  /// An ID, an account number, a public key, or part of a name in any case.
  std::optional<std::string> text;
  bool oldest_first = false;
};
RowPage<Listed<WalletRow>> newest_wallets(Connection& db, const WalletsWanted& wanted,
                                          const PageAt& page);

/// Keys of the wallets whose ID, account number or public key equals the text.
std::vector<std::int64_t> named_wallets(Connection& db, std::string_view text);

struct BeneficiariesWanted {
  TenantKeys tenants;
  std::optional<std::string> text;  // an ID, or beginnings of words
};
/// Beneficiaries that are not archived.
RowPage<Listed<BeneficiaryRow>> newest_beneficiaries(Connection& db,
                                                     const BeneficiariesWanted& wanted,
                                                     const PageAt& page);
/// Includes archived beneficiaries.
std::optional<Listed<BeneficiaryRow>> beneficiary_of_any(Connection& db, BeneficiaryId id);
std::optional<std::int64_t> beneficiary_key(Connection& db, BeneficiaryId id);

struct QuotesWanted {
  TenantKeys tenants;
  std::optional<std::int64_t> connector;
  std::optional<QuoteStatus> status;
  Timestamp now;  // determines which quotes have expired
};
RowPage<Listed<QuoteRow>> newest_quotes(Connection& db, const QuotesWanted& wanted,
                                        const PageAt& page);
RowPage<Notification> newest_notifications(Connection& db, std::optional<MessageState> state,
                                           const PageAt& page);

/// Public ID of the payment with this key.
PaymentId payment_id(Connection& db, std::int64_t payment);

}  // namespace coffer::store
