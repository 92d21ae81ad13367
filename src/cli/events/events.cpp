#include "cli/events/events.h"

#include "app.h"
#include "cli/events/choice.h"
#include "cli/events/event_line.h"
#include "cli/operating/paging.h"
#include "flows/webhooks/event_body.h"
#include "flows/webhooks/queue_deliveries.h"
#include "flows/webhooks/redeliver.h"
#include "store/outbox/events.h"

namespace coffer::cli {
namespace {

constexpr int kShownMax = 1'000;

Record view(const std::string& body) {
  const auto line = event_line(body);
  COFFER_CHECK(line.has_value());
  return {{"sequence", line->sequence}, {"at", line->at},
          {"type", line->type},         {"id", line->id},
          {"about", line->subject},     {"amount", line->amount},
          {"test", line->test}};
}

Result<Answer> list(Session& session, const Arguments& arguments) {
  std::optional<EventType> type;
  if (const auto text = arguments.find("type")) {
    COFFER_TRY(type, event_type_argument(*text));
  }
  COFFER_TRY(const auto after, sequence_argument(arguments, "after"));
  COFFER_TRY(const auto before, sequence_argument(arguments, "cursor"));
  COFFER_TRY(const int limit, number_argument(arguments, "limit", 1, kShownMax));
  if (after && before) {
    return unexpected(Slug::malformed_request, "--after and --cursor lead to different ends.");
  }
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    COFFER_TRY(const auto chosen, chosen_tenant(db, arguments, environment_argument(arguments)));
    store::PageAt page;
    page.limit = limit;
    page.backward = !after;
    page.key = after ? *after : before ? *before : store::last_sequence(db, chosen.tenant) + 1;
    flows::EventBodies bodies(session.app.flows(), db, chosen.tenant);
    Answer answer{.list = true, .columns = {"sequence", "at", "type", "id", "about", "amount"}};
    const auto events = store::list_events(db, chosen.tenant, type, page);
    for (const auto& event : events.rows) answer.records.push_back(view(bodies.body_of(event)));
    const bool full = events.rows.size() == static_cast<std::size_t>(limit);
    if (!after && full && events.rows.front().sequence > 1) {
      answer.next_cursor = std::to_string(events.rows.front().sequence);
    }
    if (events.cut_at) {
      answer.note = cut_short_note();
      if (!after)
        answer.next_cursor = std::to_string(*events.cut_at);
      else
        answer.note += " Continue with --after " + std::to_string(*events.cut_at) + '.';
    }
    return answer;
  });
}

struct Found {
  NamedTenant owner;
  store::EventRow event;
};

/// The event ID names, of whichever tenant.
Result<Found> found_event(store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<EventId>(arguments, "ID"));
  COFFER_TRY(const auto tenants, chosen_tenants(db, arguments));
  for (const NamedTenant& owner : tenants) {
    if (auto event = store::find_event(db, owner.tenant, id))
      return Found{owner, *std::move(event)};
  }
  return unexpected(Slug::not_found, "There is no such event.");
}

Result<Answer> show(Session& session, const Arguments& arguments) {
  return store::with_reader(session.app.database(), [&](store::Connection& db) -> Result<Answer> {
    COFFER_TRY(const auto found, found_event(db, arguments));
    const Tenant& tenant = found.owner.tenant;
    const std::string body =
        flows::EventBodies(session.app.flows(), db, tenant).body_of(found.event);
    Record record = view(body);
    record.emplace_back("associationId", tenant.association.to_string());
    record.emplace_back("environment", name(tenant.environment));
    record.emplace_back("body", body);
    return Answer{.records = {std::move(record)}};
  });
}

Record view(const store::WebhookRow& webhook) {
  return {{"webhookId", webhook.id.to_string()}, {"url", webhook.url}, {"status", "pending"}};
}

Result<Answer> resend(Session& session, const Arguments& arguments) {
  const flows::Context& context = session.app.flows();
  COFFER_TRY(const auto found,
             store::with_reader(session.app.database(),
                                [&](store::Connection& db) { return found_event(db, arguments); }));
  const Tenant& tenant = found.owner.tenant;
  Answer answer{.list = true};
  if (arguments.has("webhook")) {
    COFFER_TRY(const auto id, id_argument<WebhookId>(arguments, "webhook"));
    const flows::WebhookRef ref{tenant, id, std::nullopt};
    COFFER_TRY_VOID(flows::resend_delivery(context, ref, found.event.id));
    COFFER_TRY(const auto row,
               store::with_reader(session.app.database(), [&](store::Connection& db) {
                 return flows::required_webhook(db, ref);
               }));
    answer.records.push_back(view(row));
    return answer;
  }
  COFFER_TRY(const auto webhooks, flows::resend_event(context, tenant, found.event.id));
  for (const store::WebhookRow& row : webhooks) answer.records.push_back(view(row));
  if (webhooks.empty()) answer.note = "No active webhook takes events of this type.";
  return answer;
}

Result<Answer> trigger(Session& session, const Arguments& arguments) {
  COFFER_TRY(const EventType type, event_type_argument(arguments.text("TYPE")));
  COFFER_TRY(const auto owner,
             store::with_reader(session.app.database(), [&](store::Connection& db) {
               return chosen_tenant(db, arguments, Environment::sandbox);
             }));
  COFFER_TRY(const auto event, flows::trigger_event(session.app.flows(), owner.tenant, type));
  return Answer{.records = {{{"eventId", event.id.to_string()},
                             {"type", name(event.type)},
                             {"sequence", event.sequence}}}};
}

constexpr std::string_view kHint = "coffer events list shows what happened";

const Argument kEnvironment =
    choice("environment", "sandbox|production", "Whose events", "sandbox");
const Argument kAssociation =
    option("association", "ID", "Whose events; needed where there are several associations");

}  // namespace

std::vector<Command> event_commands() {
  return {
      {.path = "events list",
       .summary = "List events, the latest last",
       .run = list,
       .role = OperatorRole::viewer,
       .arguments = {option("type", "TYPE", "Only these"),
                     option("after", "SEQUENCE", "Only those after this one, from the oldest"),
                     option("cursor", "TEXT", "Those before the page before, as it said"),
                     option("limit", "N", "How many at most", "20"), kEnvironment, kAssociation}},
      {.path = "events show",
       .summary = "Show an event with the body that is delivered",
       .run = show,
       .role = OperatorRole::viewer,
       .arguments = {positional("ID", "Its id")},
       .hint = kHint},
      {.path = kFollowCommand,
       .summary = "Print events as they happen in a running server",
       .run = follow_events,
       .role = OperatorRole::viewer,
       .arguments = {option("events", "TYPE,...", "Only these"),
                     option("after", "SEQUENCE", "Begin after this one; else with what is new"),
                     kEnvironment, kAssociation},
       .streams = true},
      {.path = "events resend",
       .summary = "Deliver an event again, with the same id and the same bytes",
       .run = resend,
       .role = OperatorRole::operating,
       .arguments = {positional("ID", "Its id"),
                     option("webhook", "ID", "Only to this endpoint, which had it before")},
       .hint = kHint},
      {.path = "trigger",
       .summary = "Make up an event in the sandbox and send it to whoever takes its type",
       .run = trigger,
       .role = OperatorRole::operating,
       .arguments = {positional("TYPE", "Such as payment.succeeded"), kAssociation},
       .details = "Nothing happens to any payment: the event is a sample and says \"test\": true."},
  };
}

}  // namespace coffer::cli
