// How the house stands: its books, and how single providers and endpoints are doing.
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
