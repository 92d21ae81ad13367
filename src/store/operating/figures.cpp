#include "store/operating/figures.h"

#include <array>
#include <map>
#include <tuple>

#include "base/check.h"
#include "domain/ledger.h"
#include "domain/payment.h"
#include "store/operating/newest.h"

namespace coffer::store {
namespace {

constexpr const char* kAccounts = "SELECT tenant, asset, kind, balance, held FROM accounts";
constexpr const char* kEnvironments = "SELECT tenant, environment FROM tenants";
constexpr const char* kAssets = "SELECT asset, code, decimals FROM assets";

constexpr const char* kSettlementJobs =
    "SELECT count(*) FROM (SELECT 1 FROM settlement_jobs LIMIT ?)";
constexpr const char* kProviderJobs = "SELECT count(*) FROM (SELECT 1 FROM provider_jobs LIMIT ?)";
// The first of each tenant and status under way, and of these the first.
constexpr const char* kOldestUnsettled =
    "SELECT created_at FROM payments WHERE payment = (SELECT min(oldest) FROM (SELECT"
    " (SELECT p.payment FROM payments p INDEXED BY payments_not_succeeded"
    "  WHERE p.tenant = t.tenant AND p.status = s.status AND p.status <> 2"
    "  ORDER BY p.payment LIMIT 1) AS oldest FROM tenants t CROSS JOIN"
    " (SELECT 0 AS status UNION ALL SELECT 1 UNION ALL SELECT 4) s))";
static_assert(static_cast<int>(PaymentStatus::initiated) == 0);
static_assert(static_cast<int>(PaymentStatus::processing) == 1);
static_assert(static_cast<int>(PaymentStatus::refund_pending) == 4);
constexpr const char* kOldestProviderJob =
    "SELECT p.created_at FROM provider_jobs j INDEXED BY provider_jobs_of_payment"
    " CROSS JOIN payments p ON p.payment = j.payment WHERE j.payment > 0"
    " ORDER BY j.payment LIMIT 1";
constexpr const char* kDueDeliveries =
    "SELECT count(*) FROM (SELECT 1 FROM webhooks w CROSS JOIN deliveries d"
    " INDEXED BY deliveries_undelivered ON d.webhook = w.webhook AND d.state = 0 AND d.state <> 1"
    " AND d.due_at <= ?1 WHERE w.disabled_at IS NULL LIMIT ?2)";
constexpr const char* kOldestDelivery =
    "SELECT min((SELECT d.due_at FROM deliveries d INDEXED BY deliveries_undelivered"
    " WHERE d.webhook = w.webhook AND d.state = 0 AND d.state <> 1 AND d.due_at <= ?1"
    " ORDER BY d.due_at LIMIT 1)) FROM webhooks w WHERE w.disabled_at IS NULL";
constexpr const char* kDeadLetters =
    "SELECT count(*) FROM (SELECT 1 FROM webhooks w CROSS JOIN deliveries d"
    " INDEXED BY deliveries_undelivered ON d.webhook = w.webhook AND d.state = 2 AND d.state <> 1"
    " LIMIT ?)";
constexpr const char* kWebhooks =
    "SELECT count(*) FILTER (WHERE disabled_at IS NULL),"
    " count(*) FILTER (WHERE disabled_at IS NULL AND failures > 0),"
    " count(*) FILTER (WHERE disable_reason = 1) FROM webhooks";
constexpr const char* kReviews =
    "SELECT count(*) FROM (SELECT 1 FROM wallets INDEXED BY wallets_not_verified"
    " WHERE status = 0 AND status <> 1 LIMIT ?)";
constexpr const char* kOldestReview =
    "SELECT created_at FROM wallets INDEXED BY wallets_not_verified"
    " WHERE status = 0 AND status <> 1 ORDER BY wallet LIMIT 1";
constexpr const char* kNotificationsWaiting =
    "SELECT count(*) FROM (SELECT 1 FROM notifications INDEXED BY notifications_waiting"
    " WHERE state = 0 LIMIT ?)";
constexpr const char* kNotificationsFailed =
    "SELECT count(*) FROM (SELECT 1 FROM notifications INDEXED BY notifications_failed"
    " WHERE state = 2 LIMIT ?)";
constexpr const char* kConnectorsPaused = "SELECT count(*) FROM connectors WHERE status = 1";

constexpr int kLatest = 200;
constexpr const char* kConnectorLatest =
    "SELECT count(*) FILTER (WHERE status NOT IN (0, 1)), count(*) FILTER (WHERE status = 2)"
    " FROM (SELECT status FROM payments INDEXED BY payments_of_connector WHERE connector = ?1"
    " ORDER BY payment DESC LIMIT ?2)";
// Of the first of its lane (store/providers/provider_payments.h).
constexpr int kLaneLooksMax = 2'000;
constexpr const char* kConnectorUnderWay =
    "SELECT count(*) FROM (SELECT payment FROM provider_jobs WHERE lane = ?1 LIMIT ?2) j"
    " CROSS JOIN payments p ON p.payment = j.payment WHERE p.connector = ?3";

constexpr const char* kWebhookWaits =
    "SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_undelivered"
    " WHERE webhook = ?1 AND state = ?2 AND state <> 1 LIMIT ?3)";
constexpr const char* kWebhookOldest =
    "SELECT due_at FROM deliveries INDEXED BY deliveries_undelivered"
    " WHERE webhook = ? AND state = 0 AND state <> 1 ORDER BY due_at LIMIT 1";

/// Sums of a book while it is read: wide enough for whatever the file holds.
__extension__ typedef __int128 Wide;  // a GNU extension, and the one 128-bit type there is
struct Sums {
  std::array<Wide, 5> kinds{};
  Wide held = 0;
  std::int64_t accounts = 0;
};

Amount narrow(Wide units) {
  const auto out = static_cast<std::int64_t>(units);
  COFFER_CHECK(out == units);
  return Amount::from_units(out);
}

Book book_of(const Sums& sums) {
  const auto of = [&](AccountKind kind) {
    return narrow(sums.kinds[static_cast<std::size_t>(kind)]);
  };
  Book out;
  out.wallets = of(AccountKind::wallet);
  out.issuance = of(AccountKind::issuance);
  out.liquidity = of(AccountKind::liquidity);
  out.fees = of(AccountKind::fee);
  out.clearing = of(AccountKind::clearing);
  out.held = narrow(sums.held);
  Wide all = 0;
  for (const Wide kind : sums.kinds) all += kind;
  out.sum = narrow(all);
  out.accounts = sums.accounts;
  return out;
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

std::vector<Book> books(Connection& db) {
  std::map<std::int64_t, Environment> environments;
  for (Query q(db, kEnvironments); q.step();) {
    environments[q.integer(0)] = q.enumeration<Environment>(1);
  }
  std::map<std::pair<Environment, std::int64_t>, Sums> all;
  for (Query q(db, kAccounts); q.step();) {
    Sums& sums = all[{environments.at(q.integer(0)), q.integer(1)}];
    sums.kinds.at(static_cast<std::size_t>(q.integer(2))) += q.integer(3);
    if (q.enumeration<AccountKind>(2) == AccountKind::wallet) sums.held += q.integer(4);
    ++sums.accounts;
  }
  std::map<std::int64_t, std::pair<AssetCode, int>> assets;
  for (Query q(db, kAssets); q.step();) {
    assets[q.integer(0)] = {*AssetCode::parse(q.text(1)), static_cast<int>(q.integer(2))};
  }
  std::vector<Book> out;
  for (const auto& [key, sums] : all) {
    Book book = book_of(sums);
    book.environment = key.first;
    std::tie(book.asset, book.decimals) = assets.at(key.second);
    out.push_back(std::move(book));
  }
  return out;
}

Backlog backlog(Connection& db, Timestamp now) {
  Backlog out;
  out.settlement_jobs = count(db, kSettlementJobs, kCountedMax);
  out.provider_jobs = count(db, kProviderJobs, kCountedMax);
  out.oldest_unsettled = time(db, kOldestUnsettled);
  out.oldest_provider_job = time(db, kOldestProviderJob);
  out.due_deliveries = count(db, kDueDeliveries, now, kCountedMax);
  out.oldest_delivery = time(db, kOldestDelivery, now);
  out.dead_letters = count(db, kDeadLetters, kCountedMax);
  {
    Query q(db, kWebhooks);
    COFFER_CHECK(q.step());
    out.webhooks_active = q.integer(0);
    out.webhooks_failing = q.integer(1);
    out.webhooks_disabled = q.integer(2);
  }
  out.pending_reviews = count(db, kReviews, kCountedMax);
  out.oldest_review = time(db, kOldestReview);
  out.notifications_waiting = count(db, kNotificationsWaiting, kCountedMax);
  out.notifications_failed = count(db, kNotificationsFailed, kCountedMax);
  out.connectors_paused = count(db, kConnectorsPaused);
  return out;
}

ConnectorFigures connector_figures(Connection& db, const ConnectorTerms& connector) {
  ConnectorFigures out;
  {
    Query q(db, kConnectorLatest, connector.key, kLatest);
    COFFER_CHECK(q.step());
    out.ended = q.integer(0);
    out.succeeded = q.integer(1);
  }
  const std::int64_t lane = connector.driver == DriverKind::http ? connector.key : 0;
  out.under_way = count(db, kConnectorUnderWay, lane, kLaneLooksMax, connector.key);
  return out;
}

WebhookFigures webhook_figures(Connection& db, std::int64_t webhook) {
  constexpr int kPending = 0;
  constexpr int kDead = 2;
  return {count(db, kWebhookWaits, webhook, kPending, kCountedMax),
          count(db, kWebhookWaits, webhook, kDead, kCountedMax), time(db, kWebhookOldest, webhook)};
}

}  // namespace coffer::store
