#include "cli/output/health.h"

#include "cli/paging.h"
#include "store/operations/figures.h"

namespace coffer::cli {
namespace {

using outbound::BreakerState;

std::string_view health_of(const ConnectorTerms& connector, const BreakerState& breaker) {
  if (connector.status == ConnectorStatus::paused) return "paused";
  switch (breaker.kind) {
    case BreakerState::Kind::open:
      return "down";
    case BreakerState::Kind::half_open:
      return "degraded";
    case BreakerState::Kind::closed:
      break;
  }
  return breaker.consecutive_faults > 0 ? "degraded" : "healthy";
}

}  // namespace

void put_health(Record& record, App& app, store::Connection& db, const ConnectorTerms& connector) {
  const bool serving = app.listeners().port() != 0;
  const BreakerState breaker = app.connectors().breaker(connector.key);
  std::optional<std::string> kind, errors, until;
  if (serving) {
    kind = name(breaker.kind);
    errors = std::to_string(breaker.consecutive_faults);
    if (breaker.open_until) until = breaker.open_until->to_string();
  }
  const auto figures = store::connector_figures(db, connector);
  record.emplace_back("health", health_of(connector, breaker));
  record.emplace_back("breaker", kind);
  record.emplace_back("consecutiveFailures", errors);
  record.emplace_back("breakerOpenUntil", until);
  record.emplace_back("successRate", percent(figures.succeeded, figures.ended));
  record.emplace_back("paymentsInProgress", figures.in_progress);
}

void put_health(Record& record, store::Connection& db, const store::WebhookRow& webhook,
                Timestamp now) {
  const auto figures = store::webhook_figures(db, webhook.key);
  const bool failing = webhook.failures > 0;
  const bool paused = webhook.is_active() && now < webhook.quiet_until;
  record.emplace_back("health", !webhook.is_active()       ? "disabled"
                                : paused                   ? "paused"
                                : failing                  ? "failing"
                                : !webhook.last_attempt_at ? "unused"
                                                           : "healthy");
  record.emplace_back("pausedUntil", paused ? std::optional(webhook.quiet_until) : std::nullopt);
  record.emplace_back("pending", figures.pending);
  record.emplace_back("deadLetters", figures.dead);
  record.emplace_back("oldestPendingAt", figures.oldest_pending);
}

}  // namespace coffer::cli
