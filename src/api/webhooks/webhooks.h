// Registering endpoints for events, in both route families of the contract, and their deliveries.
#pragma once

#include "api/json.h"
#include "api/pipeline/fields.h"
#include "api/pipeline/route.h"
#include "flows/webhooks/redeliver.h"

namespace coffer::api {

// What the files of this noun share
// ------------------------------------------------------------------

/// A row of the table with the tag and the scope that all of them have.
Route webhook_route(std::string_view method, std::string_view pattern, std::string_view operation,
                    std::string_view summary, Lane lane, DeclaredResponse success,
                    std::vector<Slug> problems, Handler handler);
Route with_body(Route row, std::string_view schema, Body body = Body::json);
/// The registration that `{webhookId}` names.
Result<flows::WebhookRef> webhook_ref(const Call& call,
                                      std::optional<std::int64_t> application = std::nullopt);
/// The secret is shown, and never again.
http::Response secret_response(int status, const flows::WebhookWithSecret& registered);
/// `gracePeriodSeconds` of a rotation; the configured grace when there is none.
Result<std::int64_t> read_grace(const Services& services, const Call& call);
Result<http::Response> list_webhooks_page(const Services& services, const Call& call,
                                          std::optional<std::int64_t> application);
/// Registers for the application; `types` says whether `eventTypes` may be left out.
Result<http::Response> add_webhook(const Services& services, const Call& call, Presence types,
                                   std::int64_t application);
Result<http::Response> change_webhook(const Services& services, const Call& call,
                                      const flows::WebhookRef& ref);
Result<http::Response> rotate(const Services& services, const Call& call,
                              const flows::WebhookRef& ref);
/// A test event was queued.
http::Response test_event_response(const flows::TestEvent& event);

}  // namespace coffer::api
