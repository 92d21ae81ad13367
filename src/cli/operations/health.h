// How providers and endpoints are doing, beside what they are.
#pragma once

#include "app/app.h"
#include "cli/command_result.h"
#include "domain/providers/connector.h"
#include "store/webhooks/webhooks.h"

namespace coffer::cli {

/// `health`, `breaker`, `consecutiveFaults`, `breakerOpenUntil`, `successRate`, `paymentsUnderWay`.
/// What the breaker says is known to a running server only.
void put_health(Record& record, App& app, store::Connection& db, const ConnectorTerms& connector);
/// `health`, `pending`, `deadLetters`, `oldestPendingAt`.
void put_health(Record& record, store::Connection& db, const store::WebhookRow& webhook);

}  // namespace coffer::cli
