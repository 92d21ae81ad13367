// What events carry that were asked for to try a receiver: made up, of the real shape.
#pragma once

#include "domain/identity/tenant.h"
#include "flows/payments/record_json.h"
#include "store/webhooks/events.h"

namespace coffer::flows {

/// `data` of an event of which nothing happened. The same for the same event, always.
Json sample_data(const store::EventRow& event, const Tenant& tenant,
                 const std::string& network_name);

}  // namespace coffer::flows
