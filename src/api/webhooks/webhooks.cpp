#include "api/webhooks/webhooks.h"

#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "flows/webhooks/redeliver.h"
#include "flows/webhooks/webhook_json.h"
#include "flows/webhooks/webhooks.h"

namespace coffer::api {
namespace {

constexpr std::size_t kUrlMax = 2'048;
constexpr std::size_t kDescriptionMax = 500;
constexpr std::string_view kEveryType = "*";

std::optional<bool> parse_status(std::string_view text) {
  if (text == "active") return true;
  if (text == "disabled") return false;
  return std::nullopt;
}

/// Names of event types, or "*" for all payment events.
EventTypeSet read_types(Fields& fields, Presence presence) {
  EventTypeSet set;
  const auto* list = fields.array("eventTypes", presence);
  if (list == nullptr) return set;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string path = fields.path("eventTypes[" + std::to_string(i) + "]");
    const std::string* text = (*list)[i].string();
    if (text == nullptr) {
      fields.errors().add(Slug::malformed_request, path, "must be a string");
    } else if (*text == kEveryType) {
      set = set.with(EventTypeSet::payments());
    } else if (const auto type = parse_event_type(*text)) {
      set = set.with(*type);
    } else {
      fields.errors().add(Slug::validation_failed, path,
                          "is not an event type; list them with GET /v1/payments/enums");
    }
  }
  if (list->empty()) {
    fields.add_error(Slug::malformed_request, "eventTypes", "must not be empty");
  }
  return set;
}

/// The contract defines `method`, but deliveries are always POST.
void check_method(Fields& fields) {
  const auto method = fields.text("method", optional);
  if (method && *method != "POST") {
    fields.add_error(Slug::validation_failed, "method", "must be POST");
  }
}

flows::WebhookUpdate read_webhook_update(Fields& fields, const Json& present) {
  flows::WebhookUpdate update;
  update.url = fields.text("url", optional, kUrlMax);
  if (fields.present("description")) {
    update.description = fields.text("description", optional, kDescriptionMax);
  }
  if (fields.find("eventTypes") != nullptr) update.types = read_types(fields, optional);
  check_method(fields);
  reject_changes(fields, present, {"id", "applicationId", "environment", "status", "secret"});
  return update;
}

Json shown(const Services& services, const store::WebhookRow& row) {
  return flows::webhook_json(row, services.flows.queue.now());
}

Result<http::Response> create_webhook(const Services& services, const Call& call) {
  return add_webhook(services, call, required, call.caller.application_key);
}

Result<http::Response> list_webhooks(const Services& services, const Call& call) {
  return list_webhooks_page(services, call, std::nullopt);
}

Result<http::Response> read_webhook(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    COFFER_TRY(const auto row, flows::required_webhook(db, ref));
    return json_response(200, shown(services, row));
  });
}

Result<http::Response> update_webhook(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  return change_webhook(services, call, ref);
}

Result<http::Response> deactivate_webhook(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  COFFER_TRY(const auto row, flows::disable_webhook(services.flows, ref));
  return json_response(200, shown(services, row));
}

Result<http::Response> rotate_secret(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  return rotate(services, call, ref);
}

Result<http::Response> test_webhook(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  COFFER_TRY(const auto event, flows::send_test_event(services.flows, ref));
  return test_event_response(event);
}

}  // namespace

flows::NewWebhook read_new_webhook(Fields& fields, Presence types, std::int64_t application) {
  flows::NewWebhook webhook;
  webhook.application = application;
  webhook.url = fields.text("url", required, kUrlMax).value_or("");
  webhook.description = fields.text("description", optional, kDescriptionMax);
  webhook.types = read_types(fields, types);
  if (fields.find("eventTypes") == nullptr) webhook.types = EventTypeSet::payments();
  check_method(fields);
  return webhook;
}

Result<flows::WebhookRef> webhook_ref(const Call& call, std::optional<std::int64_t> application) {
  COFFER_TRY(const auto id, existing(WebhookId::parse(call.param("webhookId")), "webhook"));
  return flows::WebhookRef{call.caller.tenant, id, application};
}

http::Response secret_response(const Services& services, int status,
                               const flows::WebhookWithSecret& registered) {
  Json out = shown(services, registered.webhook);
  out["secret"] = registered.secret.reveal();
  return json_response(status, out);
}

http::Response test_event_response(const flows::TestEvent& event) {
  return json_response(202, {{"eventId", event.id.to_string()},
                             {"type", name(event.type)},
                             {"sequence", event.sequence}});
}

Result<std::int64_t> read_grace(const Services& services, const Call& call) {
  const std::int64_t standard = services.flows.webhooks->policy.grace_s;
  if (call.body == nullptr) return standard;
  Fields fields(*call.body);
  const auto grace = fields.integer("gracePeriodSeconds", optional, 0, kGraceMaxS);
  COFFER_TRY_VOID(fields.check());
  return grace.value_or(standard);
}

Result<http::Response> add_webhook(const Services& services, const Call& call, Presence types,
                                   std::int64_t application) {
  Fields fields(*call.body);
  const auto webhook = read_new_webhook(fields, types, application);
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto registered,
             flows::register_webhook(services.flows, call.caller.tenant, webhook));
  return secret_response(services, 201, registered);
}

Result<http::Response> change_webhook(const Services& services, const Call& call,
                                      const flows::WebhookRef& ref) {
  Fields fields(*call.body);
  COFFER_TRY(const Json present, services.flows.read([&](store::Connection& db) -> Result<Json> {
    COFFER_TRY(const auto row, flows::active_webhook(db, ref));
    return flows::webhook_json(row);
  }));
  const auto update = read_webhook_update(fields, present);
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(const auto row, flows::update_webhook(services.flows, ref, update));
  return json_response(200, shown(services, row));
}

Result<http::Response> rotate(const Services& services, const Call& call,
                              const flows::WebhookRef& ref) {
  COFFER_TRY(const std::int64_t grace_s, read_grace(services, call));
  COFFER_TRY(const auto rotated, flows::rotate_webhook_secret(services.flows, ref, grace_s));
  return secret_response(services, 200, rotated);
}

Result<http::Response> list_webhooks_page(const Services& services, const Call& call,
                                          std::optional<std::int64_t> application) {
  QueryFields query(call.request);
  store::WebhookFilter filter;
  filter.active = query.term("status", parse_status);
  filter.application = application;
  const std::string list = "webhooks " + std::to_string(application.value_or(0));
  COFFER_TRY(const PageRequest page, read_page(services, call, query, list));
  return services.flows.read([&](store::Connection& db) {
    return page_response(page, store::list_webhooks(db, call.caller.tenant, filter, page.at),
                         [&](const store::WebhookRow& row) { return shown(services, row); });
  });
}

std::vector<Route> webhooks_routes() {
  return {with_body(kWebhooks("POST", "/v1/webhooks", "createWebhook", "Register a webhook",
                              Lane::money, {{201, "WebhookWithSecret"}},
                              {Slug::webhook_event_type_taken, Slug::validation_failed,
                               Slug::webhook_target_refused, Slug::quota_exceeded},
                              create_webhook),
                    "NewWebhook"),
          with_query(kWebhooks("GET", "/v1/webhooks", "listWebhooks", "List webhooks, newest first",
                               Lane::read, {{200, "WebhookList"}}, {}, list_webhooks),
                     page_query({{"status", "WebhookStatus", "Only webhooks with this status"}})),
          kWebhooks("GET", "/v1/webhooks/{webhookId}", "getWebhook", "Read a webhook", Lane::read,
                    {{200, "Webhook"}}, {Slug::not_found}, read_webhook),
          with_body(kWebhooks("PATCH", "/v1/webhooks/{webhookId}", "updateWebhook",
                              "Change a webhook's URL, description or event types", Lane::money,
                              {{200, "Webhook"}},
                              {Slug::not_found, Slug::conflict, Slug::webhook_event_type_taken,
                               Slug::validation_failed, Slug::webhook_target_refused},
                              update_webhook),
                    "WebhookUpdate"),
          kWebhooks("DELETE", "/v1/webhooks/{webhookId}", "deactivateWebhook",
                    "Disable a webhook permanently", Lane::money, {{200, "Webhook"}},
                    {Slug::not_found}, deactivate_webhook),
          with_body(
              kWebhooks("POST", "/v1/webhooks/{webhookId}/rotate-secret", "rotateWebhookSecret",
                        "Rotate the signing secret of a webhook", Lane::money,
                        {{200, "WebhookWithSecret"}},
                        {Slug::not_found, Slug::conflict, Slug::validation_failed}, rotate_secret),
              "SecretRotation", Body::optional_json),
          kWebhooks("POST", "/v1/webhooks/{webhookId}/test", "testWebhook",
                    "Send a test event to a webhook", Lane::money, {{202, "TestEvent"}},
                    {Slug::not_found, Slug::conflict, Slug::quota_exceeded}, test_webhook)};
}

}  // namespace coffer::api
