// Figures for the operator: ledger balances, and the state of single providers and endpoints.
#pragma once

#include <optional>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/providers/connector.h"
#include "store/file/connection.h"

namespace coffer::store {

/// The accounts of one asset in one environment. Postings are balanced, so the wallets hold the
/// negative of the operator's accounts, and only the operator's accounts are read. Verification
/// checks that the wallet balances add up to this amount.
struct LedgerBalances {
  Environment environment = Environment::sandbox;
  AssetCode asset;
  int decimals = Amount::kScale;
  Amount wallets;
  std::optional<Amount> held;  // in wallets; empty if too many payments are open to add them up
  Amount liquidity;
  Amount fees;
  Amount clearing;
  Amount issuance;
};
/// By environment and asset, omitting those without postings.
std::vector<LedgerBalances> ledger_balances(Connection& db);

/// Payments whose refund failed, counted up to kCountMax (store/operations/backlog.h).
std::int64_t refunds_failed(Connection& db);

struct ConnectorFigures {
  std::int64_t in_progress = 0;  // counted up to 2,000
  std::int64_t ended = 0;        // among its latest payments
  std::int64_t succeeded = 0;    // of `ended`, those that succeeded
};
ConnectorFigures connector_figures(Connection& db, const ConnectorTerms& connector);

struct WebhookFigures {
  std::int64_t pending = 0;
  std::int64_t dead = 0;
  std::optional<Timestamp> oldest_pending;  // due since then, or due at that time
};
WebhookFigures webhook_figures(Connection& db, std::int64_t webhook);

}  // namespace coffer::store
