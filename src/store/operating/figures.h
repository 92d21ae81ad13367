// How the house stands: its books, what waits, and how providers and endpoints are doing.
#pragma once

#include <optional>
#include <vector>

#include "domain/connector.h"
#include "domain/tenant.h"
#include "store/connection.h"

namespace coffer::store {

/// All accounts of one asset in one environment. Reads every account.
struct Book {
  Environment environment = Environment::sandbox;
  AssetCode asset;
  int decimals = Amount::kScale;
  Amount wallets;
  Amount held;  // of the wallets
  Amount liquidity;
  Amount fees;
  Amount clearing;
  Amount issuance;
  Amount sum;  // of all balances: zero, or the file is at fault
  std::int64_t accounts = 0;
};
/// By environment and asset; those without an account are left out.
std::vector<Book> books(Connection& db);

/// Counts stop at this: whoever has more waiting has other things to do than count it.
inline constexpr int kCountedMax = 100'000;

struct Backlog {
  std::int64_t settlement_jobs = 0;
  std::int64_t provider_jobs = 0;
  std::optional<Timestamp> oldest_unsettled;     // accepted, and not at an end
  std::optional<Timestamp> oldest_provider_job;  // when its payment was accepted
  std::int64_t due_deliveries = 0;
  std::optional<Timestamp> oldest_delivery;  // due since
  std::int64_t dead_letters = 0;
  std::int64_t webhooks_active = 0;
  std::int64_t webhooks_failing = 0;   // active, and their last attempt failed
  std::int64_t webhooks_disabled = 0;  // because their endpoint said that it is gone
  std::int64_t pending_reviews = 0;
  std::optional<Timestamp> oldest_review;
  std::int64_t notifications_waiting = 0;
  std::int64_t notifications_failed = 0;
  std::int64_t connectors_paused = 0;
};
Backlog backlog(Connection& db, Timestamp now);

struct ConnectorFigures {
  std::int64_t under_way = 0;  // counted up to 2,000
  std::int64_t ended = 0;      // of its latest payments
  std::int64_t succeeded = 0;  // of these
};
ConnectorFigures connector_figures(Connection& db, const ConnectorTerms& connector);

struct WebhookFigures {
  std::int64_t pending = 0;
  std::int64_t dead = 0;
  std::optional<Timestamp> oldest_pending;  // due since, or due then
};
WebhookFigures webhook_figures(Connection& db, std::int64_t webhook);

}  // namespace coffer::store
