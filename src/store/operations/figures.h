// How the house stands: its books, and how single providers and endpoints are doing.
#pragma once

#include <optional>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/providers/connector.h"
#include "store/connection.h"

namespace coffer::store {

/// What is in the accounts of one asset in one environment. Postings are balanced, so the wallets
/// have what the operator's accounts are short of: only the operator's are read. Verification shows
/// that the balances of the wallets add up to it.
struct Book {
  Environment environment = Environment::sandbox;
  AssetCode asset;
  int decimals = Amount::kScale;
  Amount wallets;
  std::optional<Amount> held;  // of the wallets; empty while too many payments are open to add up
  Amount liquidity;
  Amount fees;
  Amount clearing;
  Amount issuance;
};
/// By environment and asset; those that nothing was booked in are left out.
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
