// A webhook as JSON, for responses and for the event that it was disabled. Never contains a secret.
#pragma once

#include "flows/payments/record_json.h"
#include "store/webhooks/webhooks.h"

namespace coffer::flows {

Json webhook_json(const store::WebhookRow& webhook);

}  // namespace coffer::flows
