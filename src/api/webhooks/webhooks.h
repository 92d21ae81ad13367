// Registration of webhooks in both route families of the contract, and their deliveries.
#pragma once

#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/route.h"
#include "flows/webhooks/redeliver.h"
#include "flows/webhooks/webhook_changes.h"

namespace coffer::api {

// --- Shared by the files of this noun ------------------------------------------------------------

inline constexpr RouteGroup kWebhooks{"Webhooks", Scope::webhooks_read, Scope::webhooks_write};
/// The webhook in `{webhookId}`.
Result<flows::WebhookRef> webhook_ref(const Call& call,
                                      std::optional<std::int64_t> application = std::nullopt);
/// The response with the secret, which is shown only once.
http::Response secret_response(const Services& services, int status,
                               const flows::WebhookWithSecret& registered);
/// `gracePeriodSeconds` of a rotation; by default the configured value.
Result<std::int64_t> read_grace(const Services& services, const Call& call);
Result<http::Response> list_webhooks_page(const Services& services, const Call& call,
                                          std::optional<std::int64_t> application);
/// A registration in a request. Without `eventTypes`, it subscribes to all payment events.
flows::NewWebhook read_new_webhook(Fields& fields, Presence types, std::int64_t application);
/// Registers a webhook for the application. `types` determines whether `eventTypes` is optional.
Result<http::Response> add_webhook(const Services& services, const Call& call, Presence types,
                                   std::int64_t application);
Result<http::Response> change_webhook(const Services& services, const Call& call,
                                      const flows::WebhookRef& ref);
Result<http::Response> rotate(const Services& services, const Call& call,
                              const flows::WebhookRef& ref);
/// The response after queueing a test event.
http::Response test_event_response(const flows::TestEvent& event);

}  // namespace coffer::api
