// The health of providers and endpoints, in addition to their data.
#pragma once

#include "app/app.h"
#include "cli/command_result.h"
#include "domain/providers/connector.h"
#include "store/webhooks/webhooks.h"

namespace coffer::cli {

/// Adds `health`, `breaker`, `consecutiveFailures`, `breakerOpenUntil`, `successRate`,
/// `paymentsInProgress`. Only a running server knows the state of the breaker.
void put_health(Record& record, App& app, store::Connection& db, const ConnectorTerms& connector);
/// Adds `health`, `pausedUntil` (the endpoint asked for a pause that lasts beyond `now`),
/// `pending`, `deadLetters`, `oldestPendingAt`.
void put_health(Record& record, store::Connection& db, const store::WebhookRow& webhook,
                Timestamp now);

}  // namespace coffer::cli
