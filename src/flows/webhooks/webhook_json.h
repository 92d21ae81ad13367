// Webhooks and applications as JSON, for responses and for events. Never contains a secret.
#pragma once

#include "flows/json_object.h"
#include "store/identity/tenants.h"
#include "store/webhooks/webhooks.h"

namespace coffer::flows {

/// With the present time, also `pausedUntil`, if the endpoint has asked for a pause.
Json webhook_json(const store::WebhookRow& webhook, std::optional<Timestamp> now = {});
/// An application whose credentials were rotated at this time.
Json credentials_json(const store::ApplicationRow& application, Timestamp rotated_at);

}  // namespace coffer::flows
