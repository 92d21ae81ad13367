#include "store/webhooks/events.h"

#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "api/webhooks/webhooks.h"
#include "base/text/whole_number.h"
#include "flows/webhooks/event_body.h"
#include "flows/webhooks/redeliver.h"

namespace coffer::api {
namespace {

/// 0, the beginning, if absent.
std::int64_t after_sequence(QueryFields& query) {
  const auto text = query.text("afterSequence");
  if (!text) return 0;
  const auto value = whole_number<std::int64_t>(*text, 0);
  if (!value) {
    query.add_error(Slug::malformed_request, "afterSequence",
                    "must be the sequence number of an event, or 0");
  }
  return value.value_or(0);
}

/// The event with its delivered bytes, if they are still stored.
Json event_json(flows::EventBodies& bodies, const store::EventRow& event) {
  return Json::parse(bodies.body_of(event));
}

Result<http::Response> list_events(const Services& services, const Call& call) {
  QueryFields query(call.request);
  const auto type = query.term("type", parse_event_type);
  const std::int64_t after = after_sequence(query);
  COFFER_TRY(const PageRequest page, read_page(services, call, query, "events"));
  return services.flows.read([&](store::Connection& db) {
    flows::EventBodies bodies(services.flows, db, call.caller.tenant);
    return page_response(
        page, store::list_events(db, call.caller.tenant, {type, after}, page.at),
        [&](const auto& event) { return event_json(bodies, event); },
        [](const auto& event) { return event.sequence; });
  });
}

Result<http::Response> read_event(const Services& services, const Call& call) {
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    const auto id = EventId::parse(call.param("eventId"));
    COFFER_TRY(
        const auto event,
        existing(id ? store::find_event(db, call.caller.tenant, *id) : std::nullopt, "event"));
    flows::EventBodies bodies(services.flows, db, call.caller.tenant);
    return json_response(200, event_json(bodies, event));
  });
}

Result<http::Response> trigger_event(const Services& services, const Call& call) {
  COFFER_TRY(const auto type, existing(parse_event_type(call.param("type")), "event type"));
  COFFER_TRY(const auto event, flows::trigger_event(services.flows, call.caller.tenant, type));
  return test_event_response(event);
}

}  // namespace

std::vector<Route> events_routes() {
  constexpr RouteGroup kEvents{"Events", Scope::webhooks_read};
  constexpr RouteGroup kSandbox{"Sandbox", {}, Scope::webhooks_write, Access::sandbox};
  return {with_query(kEvents("GET", "/v1/events", "listEvents",
                             "List events, oldest first, as delivered to webhooks", Lane::read,
                             {{200, "EventList"}}, {}, list_events),
                     page_query({{"afterSequence", "Sequence", "Only events after this one"},
                                 {"type", "EventType", "Only events of this type"}})),
          kEvents("GET", "/v1/events/{eventId}", "getEvent", "Read an event", Lane::read,
                  {{200, "Event"}}, {Slug::not_found}, read_event),
          kSandbox("POST", "/v1/sandbox/events/{type}/trigger", "sandboxTriggerEvent",
                   "Send a sample event to the webhook registered for its type", Lane::money,
                   {{202, "TestEvent"}}, {Slug::quota_exceeded}, trigger_event)};
}

}  // namespace coffer::api
