// The content of sample events for testing a receiver: invented, but in the real format.
#pragma once

#include "domain/identity/tenant.h"
#include "flows/json_object.h"
#include "store/webhooks/events.h"

namespace coffer::flows {

/// `data` of a sample event. Always the same for the same event.
Json sample_data(const store::EventRow& event, const Tenant& tenant,
                 const std::string& network_name);

}  // namespace coffer::flows
