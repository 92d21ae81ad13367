// Routes for the deliveries to an endpoint, their attempts, and redelivery.
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "api/webhooks/webhooks.h"
#include "flows/webhooks/redeliver.h"
#include "http/certificate.h"
#include "http/client.h"
#include "store/webhooks/deliveries.h"
#include "store/webhooks/events.h"

namespace coffer::api {
namespace {

Json delivery_json(const store::DeliveryRow& row, const std::string& webhook) {
  Json out{{"id", row.id.to_string()},      {"webhookId", webhook},
           {"eventId", row.id.to_string()}, {"eventType", name(row.type)},
           {"sequence", row.sequence},      {"status", name(row.state)},
           {"attempts", row.tries}};
  if (row.due_at) out["nextAttemptAt"] = row.due_at->to_string();
  out["createdAt"] = row.created_at.to_string();
  if (row.closed_at) out["closedAt"] = row.closed_at->to_string();
  return out;
}

/// The failure reason that a tenant sees for an attempt without a response. If nothing was sent, it
/// is the same for an unresolved name, a rejected address and a refused connection: different
/// reasons would reveal which names and addresses exist in the server's network. A certificate
/// error is shown, because it comes from a permitted address. Operators see every reason.
std::string shown_fault(const store::DeliveryAttempt& row, std::string_view url) {
  const std::string_view rest = url.substr(std::min(url.find("://") + 3, url.size()));
  const std::string_view place = rest.substr(0, rest.find_first_of("/?"));
  const auto is_at = [&](std::string_view host) {
    return place.starts_with(host) && (place.size() == host.size() || place[host.size()] == ':');
  };
  // Only a demo, or an operator by name, permits the own machine.
  const bool here = is_at("127.0.0.1") || is_at("localhost") || is_at("[::1]");
  if (here && *row.fault == http::kNotConnected) {
    return "Nothing answered at " + std::string(place) + ". Is your receiver running?";
  }
  if (row.signed_at || row.fault->starts_with(http::kCertificateRejected)) return *row.fault;
  return "The endpoint could not be reached. Check its DNS name and its port, and that its address "
         "is public.";
}

Json attempt_json(const store::DeliveryAttempt& row, std::string_view url) {
  Json out{{"attempt", row.attempt},
           {"at", row.at.to_string()},
           {"durationMs", row.duration_ms},
           {"responseStatus", row.status ? Json(*row.status) : Json(nullptr)}};
  if (row.fault) out["error"] = shown_fault(row, url);
  out["responseBody"] = row.response;
  return out;
}

Result<http::Response> list_deliveries(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  QueryFields query(call.request);
  store::DeliveryFilter filter;
  filter.state = query.term("status", parse_term<DeliveryState>);
  filter.type = query.term("eventType", parse_event_type);
  const std::string list = "deliveries " + ref.id.to_string();
  COFFER_TRY(const PageRequest page, read_page(services, call, query, list));
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    COFFER_TRY(const auto webhook, flows::required_webhook(db, ref));
    return page_response(
        page, store::list_deliveries(db, ref.tenant, webhook.key, filter, page.at),
        [&](const auto& row) { return delivery_json(row, ref.id.to_string()); },
        [](const auto& row) { return row.sequence; });
  });
}

Result<EventId> delivery_id(const Call& call) {
  return existing(EventId::parse(call.param("deliveryId")), "delivery");
}

Result<http::Response> read_delivery(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    COFFER_TRY(const auto webhook, flows::required_webhook(db, ref));
    COFFER_TRY(const EventId id, delivery_id(call));
    COFFER_TRY(const auto row,
               existing(store::find_delivery(db, ref.tenant, webhook.key, id), "delivery"));
    Json out = delivery_json(row, ref.id.to_string());
    out["body"] = or_null(store::find_event_body(db, ref.tenant, row.sequence));
    out["log"] = Json::array();
    for (const auto& attempt : store::list_delivery_attempts(db, webhook.key, row.sequence)) {
      out["log"].push_back(attempt_json(attempt, webhook.url));
    }
    return json_response(200, out);
  });
}

Result<http::Response> resend_delivery(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  COFFER_TRY_VOID(services.flows.read([&](store::Connection& db) -> Result<void> {
    COFFER_TRY_VOID(flows::required_webhook(db, ref));
    return {};
  }));
  COFFER_TRY(const EventId id, delivery_id(call));
  COFFER_TRY(const auto row, flows::resend_delivery(services.flows, ref, id));
  return json_response(202, delivery_json(row, ref.id.to_string()));
}

std::optional<Timestamp> read_time(Fields& fields, std::string_view name, Presence presence) {
  const auto text = fields.text(name, presence);
  if (!text) return std::nullopt;
  auto time = Timestamp::parse(*text);
  if (!time) {
    fields.add_error(Slug::malformed_request, name,
                     "must be a date or an RFC 3339 time such as 2026-01-31T09:00:00Z");
  }
  return time;
}

Result<http::Response> recover_deliveries(const Services& services, const Call& call) {
  COFFER_TRY(const auto ref, webhook_ref(call));
  Fields fields(*call.body);
  const auto from = read_time(fields, "from", required);
  const auto to = read_time(fields, "to", optional);
  // Later events are delivered in any case.
  const Timestamp end = to.value_or(services.flows.queue.now().plus_ms(1));
  if (from && *from >= end) {
    fields.add_error(Slug::validation_failed, "from", "must be before to");
  }
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY_VOID(flows::recover_deliveries(services.flows, ref, {*from, end}));
  return json_response(202, {{"webhookId", ref.id.to_string()},
                             {"from", from->to_string()},
                             {"to", end.to_string()},
                             {"status", "accepted"}});
}

}  // namespace

std::vector<Route> deliveries_routes() {
  constexpr std::string_view kDelivery = "/v1/webhooks/{webhookId}/deliveries/{deliveryId}";
  return {
      with_query(kWebhooks("GET", "/v1/webhooks/{webhookId}/deliveries", "listDeliveries",
                           "List the deliveries of a webhook, newest event first", Lane::read,
                           {{200, "DeliveryList"}}, {Slug::not_found}, list_deliveries),
                 page_query({{"status", "DeliveryStatus", "Only deliveries with this status"},
                             {"eventType", "EventType", "Only events of this type"}})),
      kWebhooks("GET", kDelivery, "getDelivery", "Read a delivery with its body and attempts",
                Lane::read, {{200, "DeliveryDetail"}}, {Slug::not_found}, read_delivery),
      kWebhooks("POST", "/v1/webhooks/{webhookId}/deliveries/{deliveryId}/resend", "resendDelivery",
                "Redeliver an event, with the same ID and bytes", Lane::money, {{202, "Delivery"}},
                {Slug::not_found, Slug::conflict, Slug::quota_exceeded}, resend_delivery),
      with_body(kWebhooks("POST", "/v1/webhooks/{webhookId}/recover", "recoverDeliveries",
                          "Deliver all events of a period that the endpoint did not receive",
                          Lane::money, {{202, "Recovery"}},
                          {Slug::not_found, Slug::conflict, Slug::validation_failed,
                           Slug::quota_exceeded},
                          recover_deliveries),
                "NewRecovery")};
}

}  // namespace coffer::api
