#include "cli/webhooks/events.h"

#include "app/app.h"
#include "base/platform/exit_code.h"
#include "cli/choice.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "cli/webhooks/event_line.h"
#include "flows/webhooks/event_body.h"
#include "flows/webhooks/queue_deliveries.h"
#include "flows/webhooks/redeliver.h"
#include "store/webhooks/events.h"
#include "store/webhooks/webhooks.h"

namespace coffer::cli {
namespace {

constexpr int kShownMax = 1'000;

Record event_view(const std::string& body) {
  const auto line = event_line(body);
  COFFER_CHECK(line.has_value());
  return {{"sequence", line->sequence}, {"at", line->at},
          {"type", line->type},         {"id", line->id},
          {"about", line->subject},     {"amount", line->amount},
          {"test", line->test}};
}

Result<CommandResult> list_events(Session& session, store::Connection& db,
                                  const Arguments& arguments) {
  std::optional<EventType> type;
  if (const auto text = arguments.find("type")) {
    COFFER_TRY(type, event_type_argument(*text));
  }
  COFFER_TRY(const auto after, optional_number<std::int64_t>(arguments, "after", 0));
  COFFER_TRY(const auto before, optional_number<std::int64_t>(arguments, "cursor", 0));
  COFFER_TRY(const int limit, number_argument(arguments, "limit", 1, kShownMax));
  if (after && before) {
    return unexpected(Slug::malformed_request,
                      "--after and --cursor cannot be combined. Use --after for newer events, "
                      "--cursor for older ones.");
  }
  COFFER_TRY(const auto chosen, chosen_tenant(db, arguments, environment_argument(arguments)));
  store::PageAt page;
  page.limit = limit;
  page.backward = !after;
  page.key = after ? *after : before ? *before : store::last_sequence(db, chosen.tenant) + 1;
  flows::EventBodies bodies(session.app.flows(), db, chosen.tenant);
  const auto events = store::list_events(db, chosen.tenant, {.type = type}, page);
  CommandResult result =
      list_of({"sequence", "at", "type", "id", "about", "amount"}, events.rows,
              [&](const auto& event) { return event_view(bodies.body_of(event)); });
  result.paged = true;
  if (!after && events.next) result.next_cursor = std::to_string(*events.next);
  if (events.cut_short) {
    result.note = cut_short_note();
    if (after) result.note += " Continue with --after " + std::to_string(*events.next) + '.';
  }
  return result;
}

struct Found {
  NamedTenant owner;
  store::EventRow event;
};

/// The event with this ID, of any tenant.
Result<Found> found_event(store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<EventId>(arguments, "ID"));
  COFFER_TRY(const auto tenants, chosen_tenants(db, arguments));
  for (const NamedTenant& owner : tenants) {
    if (auto event = store::find_event(db, owner.tenant, id))
      return Found{owner, *std::move(event)};
  }
  return unexpected(Slug::not_found, "The event was not found.");
}

Result<CommandResult> show_event(Session& session, store::Connection& db,
                                 const Arguments& arguments) {
  COFFER_TRY(const auto found, found_event(db, arguments));
  const Tenant& tenant = found.owner.tenant;
  const std::string body = flows::EventBodies(session.app.flows(), db, tenant).body_of(found.event);
  Record record = event_view(body);
  record.emplace_back("associationId", tenant.association);
  record.emplace_back("environment", name(tenant.environment));
  record.emplace_back("body", body);
  return CommandResult{.records = {std::move(record)}};
}

Record event_view(const store::WebhookRow& webhook) {
  return {{"webhookId", webhook.id}, {"url", webhook.url}, {"status", "pending"}};
}

Result<CommandResult> resend(Session& session, const Arguments& arguments) {
  const flows::Context& context = session.app.flows();
  COFFER_TRY(const auto found, session.app.flows().read([&](store::Connection& db) {
    return found_event(db, arguments);
  }));
  const Tenant& tenant = found.owner.tenant;
  CommandResult result{.list = true};
  if (arguments.has("webhook")) {
    COFFER_TRY(const auto id, id_argument<WebhookId>(arguments, "webhook"));
    const flows::WebhookRef ref{tenant, id, std::nullopt};
    COFFER_TRY_VOID(flows::resend_delivery(context, ref, found.event.id));
    COFFER_TRY(const auto row, session.app.flows().read([&](store::Connection& db) {
      return flows::required_webhook(db, ref);
    }));
    result.records.push_back(event_view(row));
    return result;
  }
  COFFER_TRY(const auto webhook, flows::resend_event(context, tenant, found.event.id));
  if (webhook) {
    result.records.push_back(event_view(*webhook));
  } else {
    result.list = arguments.json;  // without --json, the note explains it
    result.exit_code = exit_code::kFailed;
    result.note = "Nothing was sent: no active webhook subscribes to events of the type " +
                  std::string(name(found.event.type)) + ". List webhooks with coffer webhook list.";
  }
  return result;
}

Result<CommandResult> trigger(Session& session, const Arguments& arguments) {
  COFFER_TRY(const EventType type, event_type_argument(arguments.text("TYPE")));
  COFFER_TRY(const auto owner, session.app.flows().read([&](store::Connection& db) {
    return chosen_tenant(db, arguments, Environment::sandbox);
  }));
  COFFER_TRY(const auto event, flows::trigger_event(session.app.flows(), owner.tenant, type));
  COFFER_TRY(const auto webhook, session.app.flows().read([&](store::Connection& db) {
    return Result(store::find_subscriber(db, owner.tenant, type));
  }));
  CommandResult result{
      .records = {{{"eventId", event.id},
                   {"type", name(event.type)},
                   {"sequence", event.sequence},
                   {"webhookId", webhook ? std::optional(webhook->id) : std::nullopt}}}};
  if (!webhook) {
    result.note = "No active webhook of the sandbox subscribes to " +
                  std::string(name(event.type)) +
                  ", so only a running coffer listen receives the event. Register a webhook with "
                  "coffer webhook create.";
  }
  return result;
}

}  // namespace

std::vector<Command> event_commands() {
  const Argument id = positional_id("ID", "ID of the event", "List events with coffer events list");
  return {
      for_viewers(
          "events list", "List events, newest last", list_events,
          joined({event_type_choice(option("type", "TYPE", "Filter by type")),
                  option("after", "SEQUENCE", "Only events after this sequence, oldest first"),
                  option("cursor", "TEXT", "Cursor of the next older page, from the previous page"),
                  option("limit", "N", "Maximum number of events", "20")},
                 tenant_arguments())),
      for_viewers("events show", "Show an event with its delivered body", show_event, {id}),
      {.path = kFollowCommand,
       .summary = "Follow the events of a running server",
       .run = follow_events,
       .role = OperatorRole::viewer,
       .arguments = joined(
           {option("events", "TYPE,...", "Filter by type"),
            option("after", "SEQUENCE", "Start after this sequence; by default with new events")},
           tenant_arguments()),
       .streams = true},
      for_operators(
          "events resend", "Resend an event, with the same ID and the same bytes", "Resend event",
          "", resend,
          {id,
           option("webhook", "ID",
                  "Resend only to this webhook, which must already have a delivery of the event")},
          {.details = "Exits with 1 if no active webhook subscribes to its type."}),
      for_operators(
          "trigger", "Send a sample event to the sandbox webhook that subscribes to its type",
          "Send sample event", "", trigger,
          {on_page(event_type_choice(positional("TYPE", "Event type, such as payment.succeeded")),
                   "Event type", "payment.succeeded"),
           tenant_arguments().back()},
          {.details = "The event is a sample with \"test\": true. No payment changes."}),
  };
}

}  // namespace coffer::cli
