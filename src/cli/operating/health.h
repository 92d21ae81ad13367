// How providers and endpoints are doing, beside what they are.
#pragma once

#include "app.h"
#include "cli/answer.h"
#include "domain/connector.h"
#include "store/outbox/webhooks.h"

namespace coffer::cli {

/// `health`, `breaker`, `consecutiveFaults`, `breakerOpenUntil`, `successRate`, `paymentsUnderWay`.
/// What the breaker says is known to a running server only.
void put_health(Record& record, App& app, store::Connection& db, const ConnectorTerms& connector);
/// `health`, `pending`, `deadLetters`, `oldestPendingAt`.
void put_health(Record& record, store::Connection& db, const store::WebhookRow& webhook);

}  // namespace coffer::cli
