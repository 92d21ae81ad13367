#include "store/operations/figures.h"

#include <array>
#include <map>

#include "base/check.h"
#include "domain/ledger/ledger.h"
#include "domain/payments/payment.h"
#include "domain/webhooks/webhook.h"
#include "store/ledger/journal.h"
#include "store/operations/backlog.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr const char* kAccounts =
    "SELECT asset, kind, balance FROM accounts INDEXED BY accounts_of_operator"
    " WHERE tenant = ? AND wallet IS NULL";
constexpr const char* kOpen =
    "SELECT a.asset, h.amount FROM payments p INDEXED BY payments_not_succeeded"
    " CROSS JOIN payment_holds h ON h.payment = p.payment"
    " CROSS JOIN accounts a ON a.account = h.account"
    " WHERE p.tenant = ? AND p.status = ? AND p.status <> 2 AND h.state = 0 LIMIT ?";
constexpr const char* kTenantsOfEnvironment =
    "SELECT tenant FROM tenants WHERE association IS NOT NULL AND environment = ?";
static_assert(stored(HoldState::open) == 0);
constexpr std::int64_t kHoldsMax = 5'000;

constexpr int kLatest = 200;
constexpr const char* kConnectorLatest =
    "SELECT count(*) FILTER (WHERE status NOT IN (0, 1)), count(*) FILTER (WHERE status = 2)"
    " FROM (SELECT status FROM payments INDEXED BY payments_of_connector WHERE connector = ?1"
    " ORDER BY payment DESC LIMIT ?2)";
static_assert(stored(PaymentStatus::initiated) == 0);
static_assert(stored(PaymentStatus::processing) == 1);
static_assert(stored(PaymentStatus::succeeded) == 2);
// Reads the first jobs of a lane (store/providers/provider_payments.h).
constexpr int kLaneLooksMax = 2'000;
constexpr const char* kConnectorInProgress =
    "SELECT count(*) FROM (SELECT payment FROM provider_jobs WHERE lane = ?1 LIMIT ?2) j"
    " CROSS JOIN payments p ON p.payment = j.payment WHERE p.connector = ?3";

constexpr const char* kRefundsFailed =
    "SELECT count(*) FROM (SELECT 1 FROM tenants t CROSS JOIN payments p"
    " INDEXED BY payments_not_succeeded WHERE p.tenant = t.tenant AND p.status = 6"
    " AND p.status <> 2 AND p.type = 5 LIMIT ?)";  // an on-ramp can be reversed again
static_assert(stored(PaymentStatus::refund_failed) == 6);
static_assert(stored(PaymentType::offramp) == 5);

constexpr const char* kWebhookWaits =
    "SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_undelivered"
    " WHERE webhook = ?1 AND state = ?2 AND state <> 1 LIMIT ?3)";
constexpr const char* kWebhookOldest =
    "SELECT due_at FROM deliveries INDEXED BY deliveries_undelivered"
    " WHERE webhook = ? AND state = 0 AND state <> 1 ORDER BY due_at LIMIT 1";
static_assert(stored(DeliveryState::pending) == 0);
static_assert(stored(DeliveryState::delivered) == 1);

/// Sums of balances while they are read, wide enough for any content of the file.
__extension__ typedef __int128 Wide;  // a GNU extension, and the one 128-bit type there is
struct Sums {
  std::array<Wide, 5> kinds{};
  Wide held = 0;
};

Amount narrow(Wide units) {
  const auto out = static_cast<std::int64_t>(units);
  COFFER_CHECK(out == units);
  return Amount::from_units(out);
}

LedgerBalances balances_from(Connection& db, std::int64_t asset, const Sums& sums) {
  const auto of = [&](AccountKind kind) {
    return narrow(sums.kinds[static_cast<std::size_t>(kind)]);
  };
  LedgerBalances out;
  Query q(db, "SELECT code, decimals FROM assets WHERE asset = ?", asset);
  COFFER_CHECK(q.step());
  out.asset = q.asset_code(0);
  out.decimals = static_cast<int>(q.integer(1));
  out.issuance = of(AccountKind::issuance);
  out.liquidity = of(AccountKind::liquidity);
  out.fees = of(AccountKind::fee);
  out.clearing = of(AccountKind::clearing);
  Wide all = 0;
  for (const Wide kind : sums.kinds) all += kind;
  out.wallets = narrow(-all);
  out.held = narrow(sums.held);
  return out;
}

/// Adds up the open holds; returns false if there are too many.
bool add_held(Connection& db, Environment environment, std::map<std::int64_t, Sums>& out) {
  std::int64_t left = kHoldsMax;
  for (const std::int64_t tenant : integers(db, kTenantsOfEnvironment, environment)) {
    for (const PaymentStatus status : {PaymentStatus::initiated, PaymentStatus::processing}) {
      for (Query q(db, kOpen, tenant, status, left); q.step(); --left) {
        out[q.integer(0)].held += q.integer(1);
      }
      if (left <= 0) return false;
    }
  }
  return true;
}

template <class... Args>
std::int64_t count(Connection& db, const char* sql, const Args&... args) {
  return first_integer(db, sql, args...).value_or(0);
}

template <class... Args>
std::optional<Timestamp> time(Connection& db, const char* sql, const Args&... args) {
  const auto ms = first_integer(db, sql, args...);
  return ms ? std::optional(Timestamp{*ms}) : std::nullopt;
}

}  // namespace

std::vector<LedgerBalances> ledger_balances(Connection& db) {
  std::vector<LedgerBalances> out;
  for (const Environment environment : {Environment::sandbox, Environment::production}) {
    std::map<std::int64_t, Sums> all;
    for (Query q(db, kAccounts, operator_tenant(environment)); q.step();) {
      all[q.integer(0)].kinds.at(static_cast<std::size_t>(q.integer(1))) += q.integer(2);
    }
    const bool held = add_held(db, environment, all);
    for (const auto& [asset, sums] : all) {
      LedgerBalances balances = balances_from(db, asset, sums);
      balances.environment = environment;
      if (!held) balances.held.reset();
      out.push_back(std::move(balances));
    }
  }
  return out;
}

std::int64_t refunds_failed(Connection& db) {
  return first_integer(db, kRefundsFailed, kCountMax).value_or(0);
}

ConnectorFigures connector_figures(Connection& db, const ConnectorTerms& connector) {
  ConnectorFigures out;
  {
    Query q(db, kConnectorLatest, connector.key, kLatest);
    COFFER_CHECK(q.step());
    out.ended = q.integer(0);
    out.succeeded = q.integer(1);
  }
  out.in_progress = count(db, kConnectorInProgress, connector.lane(), kLaneLooksMax, connector.key);
  return out;
}

WebhookFigures webhook_figures(Connection& db, std::int64_t webhook) {
  return {count(db, kWebhookWaits, webhook, DeliveryState::pending, kCountMax),
          count(db, kWebhookWaits, webhook, DeliveryState::dead, kCountMax),
          time(db, kWebhookOldest, webhook)};
}

}  // namespace coffer::store
