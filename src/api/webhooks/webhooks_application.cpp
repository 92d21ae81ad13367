// The webhook routes under /v1/application/{id}, for the webhooks of one application.
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "api/webhooks/webhooks.h"
#include "store/identity/tenants.h"

namespace coffer::api {
namespace {

/// The application in `{id}`, which may be any application in the caller's association and
/// environment.
Result<std::int64_t> application_of(const Services& services, const Call& call) {
  const auto id = ApplicationId::parse(call.param("id"));
  if (id && *id == call.caller.application) return call.caller.application_key;
  return services.flows.read([&](store::Connection& db) -> Result<std::int64_t> {
    const auto row = id ? store::find_application(db, *id) : std::nullopt;
    if (!row || row->tenant != call.caller.tenant) {
      return unexpected(Slug::not_found, "The application was not found.");
    }
    return row->key;
  });
}

Result<flows::WebhookRef> ref_of(const Services& services, const Call& call) {
  COFFER_TRY(const std::int64_t application, application_of(services, call));
  return webhook_ref(call, application);
}

Result<http::Response> add(const Services& services, const Call& call) {
  COFFER_TRY(const std::int64_t application, application_of(services, call));
  return add_webhook(services, call, optional, application);
}

Result<http::Response> list(const Services& services, const Call& call) {
  COFFER_TRY(const std::int64_t application, application_of(services, call));
  return list_webhooks_page(services, call, application);
}

Result<http::Response> update(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, ref_of(services, call));
  return change_webhook(services, call, ref);
}

Result<http::Response> remove(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, ref_of(services, call));
  COFFER_TRY_VOID(flows::disable_webhook(services.flows, ref));
  return empty_response();
}

Result<http::Response> rotate_one(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, ref_of(services, call));
  return rotate(services, call, ref);
}

}  // namespace

std::vector<Route> application_webhooks_routes() {
  return {
      with_query(kWebhooks("GET", "/v1/application/{id}/webhook", "listApplicationWebhooks",
                           "List an application's webhooks", Lane::read, {{200, "WebhookList"}},
                           {Slug::not_found}, list),
                 page_query({{"status", "WebhookStatus", "Only webhooks with this status"}})),
      with_body(kWebhooks("POST", "/v1/application/{id}/webhook", "addApplicationWebhook",
                          "Add a webhook, by default for all payment events", Lane::money,
                          {{201, "WebhookWithSecret"}},
                          {Slug::not_found, Slug::webhook_event_type_taken, Slug::validation_failed,
                           Slug::webhook_target_refused, Slug::quota_exceeded},
                          add),
                "NewApplicationWebhook"),
      with_body(
          kWebhooks("PATCH", "/v1/application/{id}/webhook/{webhookId}", "updateApplicationWebhook",
                    "Change a webhook", Lane::money, {{200, "Webhook"}},
                    {Slug::not_found, Slug::conflict, Slug::webhook_event_type_taken,
                     Slug::validation_failed, Slug::webhook_target_refused},
                    update),
          "WebhookUpdate"),
      kWebhooks("DELETE", "/v1/application/{id}/webhook/{webhookId}", "removeApplicationWebhook",
                "Remove a webhook permanently", Lane::money, {{204}}, {Slug::not_found}, remove),
      with_body(
          kWebhooks("POST", "/v1/application/{id}/webhook/{webhookId}/rotate-secret",
                    "rotateApplicationWebhookSecret", "Rotate the signing secret of a webhook",
                    Lane::money, {{200, "WebhookWithSecret"}},
                    {Slug::not_found, Slug::conflict, Slug::validation_failed}, rotate_one),
          "SecretRotation", Body::optional_json)};
}

}  // namespace coffer::api
