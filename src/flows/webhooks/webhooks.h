// The objects that event delivery uses in addition to the context. Built by `app`; outlives every
// flow.
#pragma once

#include "domain/webhooks/webhook.h"
#include "outbound/webhooks/webhook_sender.h"

namespace coffer::flows {

struct Webhooks {
  outbound::WebhookSender sender;
  DeliveryPolicy policy;
};

}  // namespace coffer::flows
