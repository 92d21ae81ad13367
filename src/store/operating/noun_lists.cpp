#include "store/operating/noun_lists.h"

#include "base/check.h"
#include "domain/party/contact.h"

namespace coffer::store {
namespace {

#define NEWEST_WALLET " AND wallet < ?1 ORDER BY wallet DESC LIMIT ?2"
constexpr const char* kWallets =
    "SELECT wallet FROM wallets WHERE wallet < ?1 ORDER BY wallet DESC LIMIT ?2";
constexpr const char* kWalletsOfTenant =
    "SELECT wallet FROM wallets INDEXED BY wallets_by_tenant WHERE tenant = ?3" NEWEST_WALLET;
constexpr const char* kWalletsOfStatus =
    "SELECT wallet FROM wallets INDEXED BY wallets_not_verified"
    " WHERE status = ?3 AND status <> 1" NEWEST_WALLET;
constexpr const char* kWalletOfNumber = "SELECT wallet FROM wallets WHERE account_number = ?";
constexpr const char* kWalletOfKey = "SELECT wallet FROM wallets WHERE public_key = ?";
#undef NEWEST_WALLET
static_assert(stored(WalletStatus::verified) == 1);
constexpr const char* kWalletOfId = "SELECT wallet FROM wallets WHERE id = ?";
constexpr const char* kWalletBrief = "SELECT tenant, status, name FROM wallets WHERE wallet = ?";

// Live ones stand in the index of their tenant; all together they are met among the archived.
constexpr const char* kBeneficiaries =
    "SELECT beneficiary FROM beneficiaries WHERE beneficiary < ?1"
    " ORDER BY beneficiary DESC LIMIT ?2";
constexpr const char* kBeneficiariesOfTenant =
    "SELECT beneficiary FROM beneficiaries INDEXED BY beneficiaries_by_tenant"
    " WHERE tenant = ?3 AND archived_at IS NULL AND beneficiary < ?1"
    " ORDER BY beneficiary DESC LIMIT ?2";
constexpr const char* kBeneficiaryOfId = "SELECT beneficiary FROM beneficiaries WHERE id = ?";
constexpr const char* kBeneficiaryBrief =
    "SELECT tenant, archived_at IS NULL, search FROM beneficiaries WHERE beneficiary = ?";

constexpr const char* kQuotes =
    "SELECT quote FROM quotes WHERE quote < ?1 ORDER BY quote DESC LIMIT ?2";
constexpr const char* kQuoteBrief =
    "SELECT tenant, connector, payment IS NOT NULL, expires_at FROM quotes WHERE quote = ?";
constexpr const char* kNotifications =
    "SELECT notification FROM notifications WHERE notification < ?1"
    " ORDER BY notification DESC LIMIT ?2";
constexpr const char* kNotificationsFailed =
    "SELECT notification FROM notifications INDEXED BY notifications_failed"
    " WHERE state = 2 AND notification < ?1 ORDER BY notification DESC LIMIT ?2";
static_assert(stored(NotificationState::failed) == 2);
constexpr const char* kNotificationState = "SELECT state FROM notifications WHERE notification = ?";
constexpr const char* kPaymentId = "SELECT id FROM payments WHERE payment = ?";

/// What was named outright, if anything was.
KeySource only(std::vector<std::int64_t> keys) {
  return [keys = std::move(keys)](std::int64_t before, int) {
    std::vector<std::int64_t> out;
    for (const std::int64_t key : keys) {
      if (key < before) out.push_back(key);
    }
    return out;
  };
}

std::vector<KeySource> of_tenants(Connection& db, const TenantKeys& tenants, const char* all,
                                  const char* one) {
  if (!tenants) return {along(db, all)};
  std::vector<KeySource> out;
  for (const std::int64_t tenant : *tenants) out.push_back(along(db, one, tenant));
  return out;
}

template <class Row, class Load>
NewestPage<Row> page_of(const KeyPage& keys, Load&& load) {
  NewestPage<Row> out;
  for (const std::int64_t key : keys.keys) out.rows.push_back(load(key));
  out.next = keys.next;
  out.cut_short = keys.cut_short;
  return out;
}

std::vector<KeySource> wallet_sources(Connection& db, const WalletsWanted& wanted) {
  if (wanted.status && *wanted.status != WalletStatus::verified) {
    return {along(db, kWalletsOfStatus, static_cast<std::int64_t>(*wanted.status))};
  }
  return of_tenants(db, wanted.tenants, kWallets, kWalletsOfTenant);
}

std::int64_t tenant_in(Connection& db, const char* brief, std::int64_t key) {
  const auto tenant = first_integer(db, brief, key);
  COFFER_CHECK(tenant.has_value());
  return *tenant;
}

}  // namespace

std::vector<std::int64_t> named_wallets(Connection& db, std::string_view text) {
  if (const auto id = WalletId::parse(text)) return integers(db, kWalletOfId, *id);
  auto out = integers(db, kWalletOfNumber, text);
  return out.empty() ? integers(db, kWalletOfKey, text) : out;
}

NewestPage<WalletRow> newest_wallets(Connection& db, const WalletsWanted& wanted,
                                     const NewestAt& at) {
  std::optional<std::string> part;
  std::vector<KeySource> sources;
  if (wanted.text) {
    auto named = named_wallets(db, *wanted.text);
    if (named.empty())
      part = fold_case(*wanted.text);
    else
      sources = {only(std::move(named))};
  }
  if (sources.empty()) sources = wallet_sources(db, wanted);
  const auto fits = [&](std::int64_t wallet) {
    Query q(db, kWalletBrief, wallet);
    if (!q.step() || !contains(wanted.tenants, q.integer(0))) return false;
    if (wanted.status && *wanted.status != q.enumeration<WalletStatus>(1)) return false;
    return !part || fold_case(q.text(2)).find(*part) != std::string::npos;
  };
  return page_of<WalletRow>(newest_keys(sources, at, 1, fits), [&](std::int64_t key) {
    return Listed<WalletRow>{*find_wallet_by_key(db, key), tenant_in(db, kWalletBrief, key)};
  });
}

NewestPage<BeneficiaryRow> newest_beneficiaries(Connection& db, const BeneficiariesWanted& wanted,
                                                const NewestAt& at) {
  std::optional<std::string> part;
  auto sources = of_tenants(db, wanted.tenants, kBeneficiaries, kBeneficiariesOfTenant);
  if (wanted.text) {
    if (const auto id = BeneficiaryId::parse(*wanted.text)) {
      sources = {only(integers(db, kBeneficiaryOfId, *id))};
    } else {
      part = fold_case(*wanted.text);
    }
  }
  const auto fits = [&](std::int64_t beneficiary) {
    Query q(db, kBeneficiaryBrief, beneficiary);
    if (!q.step() || !contains(wanted.tenants, q.integer(0)) || !q.boolean(1)) return false;
    return !part || q.text(2).find(*part) != std::string::npos;
  };
  return page_of<BeneficiaryRow>(newest_keys(sources, at, 1, fits), [&](std::int64_t key) {
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

NewestPage<QuoteRow> newest_quotes(Connection& db, const QuotesWanted& wanted, const NewestAt& at) {
  const auto fits = [&](std::int64_t quote) {
    Query q(db, kQuoteBrief, quote);
    if (!q.step() || !contains(wanted.tenants, q.integer(0))) return false;
    if (wanted.connector && *wanted.connector != q.integer(1)) return false;
    return !wanted.status || *wanted.status == quote_status(q.boolean(2), q.time(3), wanted.now);
  };
  return page_of<QuoteRow>(newest_keys({along(db, kQuotes)}, at, 1, fits), [&](std::int64_t key) {
    return Listed<QuoteRow>{*find_quote_by_key(db, key), tenant_in(db, kQuoteBrief, key)};
  });
}

NotificationPage newest_notifications(Connection& db, std::optional<NotificationState> state,
                                      const NewestAt& at) {
  const char* sql = state == NotificationState::failed ? kNotificationsFailed : kNotifications;
  const KeyPage keys = newest_keys({along(db, sql)}, at, 1, [&](std::int64_t key) {
    return !state ||
           first_integer(db, kNotificationState, key) == static_cast<std::int64_t>(*state);
  });
  NotificationPage out{{}, keys.next, keys.cut_short};
  for (const std::int64_t key : keys.keys) out.rows.push_back(*find_notification_by_key(db, key));
  return out;
}

PaymentId payment_id(Connection& db, std::int64_t payment) {
  Query q(db, kPaymentId, payment);
  COFFER_CHECK(q.step());
  return q.id<PaymentId>(0);
}

}  // namespace coffer::store
