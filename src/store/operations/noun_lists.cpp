#include "store/operations/noun_lists.h"

#include "base/check.h"
#include "base/text/unicode.h"
#include "domain/parties/search_words.h"
#include "store/parties/beneficiary_terms.h"

namespace coffer::store {
namespace {

constexpr KeyIndex kWallets = COFFER_KEY_INDEX("wallet", "wallets", "true");
constexpr KeyIndex kWalletsOfTenant =
    COFFER_KEY_INDEX("wallet", "wallets INDEXED BY wallets_by_tenant", "tenant = ?3");
constexpr KeyIndex kWalletsOfStatus = COFFER_KEY_INDEX(
    "wallet", "wallets INDEXED BY wallets_not_verified", "status = ?3 AND status <> 1");
static_assert(stored(WalletStatus::verified) == 1);
constexpr const char* kWalletOfId = "SELECT wallet FROM wallets WHERE id = ?";
constexpr const char* kWalletBrief = "SELECT tenant, status, name FROM wallets WHERE wallet = ?";

// Beneficiaries that are not archived are in the index of their tenant. A list over all tenants
// also reads archived ones.
constexpr KeyIndex kBeneficiaries = COFFER_KEY_INDEX("beneficiary", "beneficiaries", "true");
constexpr KeyIndex kBeneficiariesOfTenant =
    COFFER_KEY_INDEX("beneficiary", "beneficiaries INDEXED BY beneficiaries_by_tenant",
                     "tenant = ?3 AND archived_at IS NULL");
constexpr const char* kTenants = "SELECT tenant FROM tenants WHERE association IS NOT NULL";
constexpr const char* kBeneficiaryOfId = "SELECT beneficiary FROM beneficiaries WHERE id = ?";
constexpr const char* kBeneficiaryBrief =
    "SELECT tenant, archived_at IS NULL FROM beneficiaries WHERE beneficiary = ?";

constexpr KeyIndex kQuotes = COFFER_KEY_INDEX("quote", "quotes", "true");
constexpr const char* kQuoteBrief =
    "SELECT tenant, connector, payment IS NOT NULL, expires_at FROM quotes WHERE quote = ?";
constexpr KeyIndex kNotifications =
    COFFER_KEY_INDEX("message", "messages INDEXED BY notifications", "payment IS NOT NULL");
constexpr KeyIndex kNotificationsFailed = COFFER_KEY_INDEX(
    "message", "messages INDEXED BY notifications_failed", "state = 2 AND payment IS NOT NULL");
static_assert(stored(MessageState::failed) == 2);
constexpr const char* kMessageState = "SELECT state FROM messages WHERE message = ?";

/// The rows of some tenants, or of all.
KeySources of_tenants(const KeyWalk& walk, const TenantKeys& tenants, const KeyIndex& all,
                      const KeyIndex& one) {
  if (!tenants) return {walk.along(all)};
  KeySources out;
  for (const std::int64_t tenant : *tenants) out.push_back(walk.along(one, tenant));
  return out;
}

std::int64_t tenant_in(Connection& db, const char* brief, std::int64_t key) {
  const auto tenant = first_integer(db, brief, key);
  COFFER_CHECK(tenant.has_value());
  return *tenant;
}

}  // namespace

std::vector<std::int64_t> named_wallets(Connection& db, std::string_view text) {
  if (const auto id = WalletId::parse(text)) return integers(db, kWalletOfId, *id);
  auto out = integers(db, "SELECT wallet FROM wallets WHERE account_number = ?", text);
  return out.empty() ? integers(db, "SELECT wallet FROM wallets WHERE public_key = ?", text) : out;
}

RowPage<Listed<WalletRow>> newest_wallets(Connection& db, const WalletsWanted& wanted,
                                          const PageAt& page) {
  KeyWalk walk(db, page, wanted.oldest_first ? Order::ascending : Order::descending);
  std::vector<KeySources> filters{of_tenants(walk, wanted.tenants, kWallets, kWalletsOfTenant)};
  if (wanted.status && *wanted.status != WalletStatus::verified) {
    filters.push_back({walk.along(kWalletsOfStatus, *wanted.status)});
  }
  std::vector<std::int64_t> named;
  if (wanted.text) named = named_wallets(db, *wanted.text);
  if (!named.empty()) filters.push_back({walk.known(named)});
  const auto fits = [&](std::int64_t wallet) {
    Query q(db, kWalletBrief, wallet);
    if (!q.step() || !contains(wanted.tenants, q.integer(0))) return false;
    if (wanted.status && *wanted.status != q.enumeration<WalletStatus>(1)) return false;
    if (!wanted.text) return true;
    return named.empty() ? fold_case(q.text(2)).find(fold_case(*wanted.text)) != std::string::npos
                         : contains(named, wallet);
  };
  return walk.rows(filters, fits, [&](std::int64_t key) {
    return Listed<WalletRow>{*find_wallet_by_key(db, key), tenant_in(db, kWalletBrief, key)};
  });
}

RowPage<Listed<BeneficiaryRow>> newest_beneficiaries(Connection& db,
                                                     const BeneficiariesWanted& wanted,
                                                     const PageAt& page) {
  KeyWalk walk(db, page);
  TermsWanted terms;
  std::vector<KeySources> filters;
  if (wanted.text) {
    if (const auto id = BeneficiaryId::parse(*wanted.text)) {
      filters.push_back({walk.known(integers(db, kBeneficiaryOfId, *id))});
    } else {
      terms.words = search_words(*wanted.text);
      filters =
          term_filters(db, walk, wanted.tenants ? *wanted.tenants : integers(db, kTenants), terms);
    }
  }
  if (filters.empty()) {
    filters.push_back(of_tenants(walk, wanted.tenants, kBeneficiaries, kBeneficiariesOfTenant));
  }
  const auto fits = [&](std::int64_t beneficiary) {
    walk.spend(1);
    Query q(db, kBeneficiaryBrief, beneficiary);
    return q.step() && contains(wanted.tenants, q.integer(0)) && q.boolean(1) &&
           beneficiary_fits(db, beneficiary, terms);
  };
  return walk.rows(filters, fits, [&](std::int64_t key) {
    return Listed<BeneficiaryRow>{*find_beneficiary_by_key(db, key),
                                  tenant_in(db, kBeneficiaryBrief, key)};
  });
}

std::optional<Listed<BeneficiaryRow>> beneficiary_of_any(Connection& db, BeneficiaryId id) {
  const auto key = beneficiary_key(db, id);
  if (!key) return std::nullopt;
  return Listed<BeneficiaryRow>{*find_beneficiary_by_key(db, *key),
                                tenant_in(db, kBeneficiaryBrief, *key)};
}

std::optional<std::int64_t> beneficiary_key(Connection& db, BeneficiaryId id) {
  return first_integer(db, kBeneficiaryOfId, id);
}

RowPage<Listed<QuoteRow>> newest_quotes(Connection& db, const QuotesWanted& wanted,
                                        const PageAt& page) {
  KeyWalk walk(db, page);
  const auto fits = [&](std::int64_t quote) {
    Query q(db, kQuoteBrief, quote);
    if (!q.step() || !contains(wanted.tenants, q.integer(0))) return false;
    if (wanted.connector && *wanted.connector != q.integer(1)) return false;
    return !wanted.status || *wanted.status == quote_status(q.boolean(2), q.time(3), wanted.now);
  };
  return walk.rows({{walk.along(kQuotes)}}, fits, [&](std::int64_t key) {
    return Listed<QuoteRow>{*find_quote_by_key(db, key), tenant_in(db, kQuoteBrief, key)};
  });
}

RowPage<Notification> newest_notifications(Connection& db, std::optional<MessageState> state,
                                           const PageAt& page) {
  KeyWalk walk(db, page);
  const bool failed = state == MessageState::failed;
  const auto fits = [&](std::int64_t key) {
    return !state || first_integer(db, kMessageState, key) == static_cast<std::int64_t>(*state);
  };
  return walk.rows({{walk.along(failed ? kNotificationsFailed : kNotifications)}}, fits,
                   [&](std::int64_t key) { return *find_notification(db, key); });
}

PaymentId payment_id(Connection& db, std::int64_t payment) {
  Query q(db, "SELECT id FROM payments WHERE payment = ?", payment);
  COFFER_CHECK(q.step());
  return q.id<PaymentId>(0);
}

}  // namespace coffer::store
