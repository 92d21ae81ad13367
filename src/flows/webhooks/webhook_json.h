// A registration as JSON, for answers and for the event that it was disabled. Never with a secret.
#pragma once

#include "flows/payments/record_json.h"
#include "store/webhooks/webhooks.h"

namespace coffer::flows {

Json webhook_json(const store::WebhookRow& webhook);

}  // namespace coffer::flows
