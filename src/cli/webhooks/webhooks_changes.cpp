// coffer webhook create, update, rotate and delivery: the operator's equivalents of API operations.
#include "app/app.h"
#include "cli/operations/paging.h"
#include "cli/webhooks/choice.h"
#include "cli/webhooks/webhooks.h"
#include "flows/webhooks/event_body.h"
#include "outbound/webhooks/webhook_signature.h"
#include "store/webhooks/deliveries.h"
#include "store/webhooks/events.h"

namespace coffer::cli {
namespace {

constexpr std::size_t kUrlMax = 2'048;
constexpr std::size_t kDescriptionMax = 500;
constexpr std::string_view kEveryPayment = "*";

/// `*`, or types separated by commas.
Result<EventTypeSet> taken_types(const Arguments& arguments) {
  const auto text = arguments.find("types");
  if (!text || *text == kEveryPayment) return EventTypeSet::payments();
  return event_types_argument(arguments, "types");
}

/// `malformed-request` if it is longer than the API accepts.
Result<std::optional<std::string>> text_up_to(const Arguments& arguments, const std::string& name,
                                              std::size_t max) {
  const auto text = arguments.find(name);
  if (!text || text->size() <= max) return text;
  return unexpected(Slug::malformed_request,
                    "The " + name + " is longer than " + std::to_string(max) + " bytes.");
}

CommandResult with_secret(const flows::WebhookWithSecret& registered) {
  Record record = webhook_record(registered.webhook);
  record.emplace_back("signingSecret", registered.secret);
  return {.records = {std::move(record)}};
}

Result<CommandResult> create_webhook(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ApplicationId>(arguments, "application"));
  flows::NewWebhook webhook;
  COFFER_TRY(const auto url, text_up_to(arguments, "URL", kUrlMax));
  webhook.url = *url;
  COFFER_TRY(webhook.description, text_up_to(arguments, "description", kDescriptionMax));
  COFFER_TRY(webhook.types, taken_types(arguments));
  COFFER_TRY(const auto application, session.app.flows().read([&](store::Connection& db) {
    return existing(store::find_application(db, id), "application");
  }));
  if (!application.tenant) {
    return unexpected(Slug::conflict,
                      "The application belongs to no association, so it cannot have webhooks. "
                      "Choose another one.");
  }
  webhook.application = application.key;
  COFFER_TRY(const auto registered,
             flows::register_webhook(session.app.flows(), *application.tenant, webhook));
  return with_secret(registered);
}

Result<CommandResult> change_webhook(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  flows::WebhookUpdate update;
  COFFER_TRY(update.url, text_up_to(arguments, "url", kUrlMax));
  if (arguments.has("description")) {
    COFFER_TRY(update.description, text_up_to(arguments, "description", kDescriptionMax));
  }
  if (arguments.has("types")) {
    COFFER_TRY(update.types, taken_types(arguments));
  }
  COFFER_TRY(const auto row, flows::update_webhook(session.app.flows(), ref_of(webhook), update));
  return CommandResult{.records = {webhook_record(row)}};
}

Result<CommandResult> rotate_webhook(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  std::int64_t grace_s = session.app.flows().webhooks->policy.grace_s;
  if (arguments.has("overlap")) {
    COFFER_TRY(grace_s, number_argument<std::int64_t>(arguments, "overlap", 0, kGraceMaxS));
  }
  COFFER_TRY(const auto rotated,
             flows::rotate_webhook_secret(session.app.flows(), ref_of(webhook), grace_s));
  return with_secret(rotated);
}

/// The headers that coffer sent, rebuilt from the stored signatures; nullopt if nothing was sent.
std::optional<std::string> request_headers(const store::DeliveryRow& delivery,
                                           const store::DeliveryAttempt& attempt,
                                           const std::string& body) {
  if (!attempt.signed_at) return std::nullopt;
  std::string out;
  for (const auto& [name, value] : outbound::attempt_headers(
           delivery.id.to_string(), *attempt.signed_at, body, *attempt.signatures)) {
    out += name + ": " + value + "\n";
  }
  return out;
}

std::vector<Record> attempts_of(store::Connection& db, const store::DeliveryRow& delivery,
                                const std::string& body) {
  std::vector<Record> out;
  for (const auto& one : store::list_delivery_attempts(db, delivery.webhook, delivery.sequence)) {
    out.push_back(
        {{"attempt", one.attempt},
         {"at", one.at},
         {"durationMs", one.duration_ms},
         {"responseStatus", one.status ? std::optional(std::to_string(*one.status)) : std::nullopt},
         {"fault", one.fault},
         {"requestHeaders", request_headers(delivery, one, body)},
         {"responseHeaders", one.response_headers},
         {"responseBody", one.response}});
  }
  return out;
}

Result<CommandResult> show_delivery(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto event, id_argument<EventId>(arguments, "EVENT"));
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  return session.app.flows().read([&](store::Connection& db) -> Result<CommandResult> {
    COFFER_TRY(const auto row,
               existing(store::find_delivery(db, webhook.tenant, webhook.key, event), "delivery"));
    const auto sent = store::find_event(db, webhook.tenant, event);
    const std::string body =
        flows::EventBodies(session.app.flows(), db, webhook.tenant).body_of(*sent);
    return CommandResult{.records = {{{"eventId", row.id},
                                      {"webhookId", webhook.id},
                                      {"url", webhook.url},
                                      {"type", name(row.type)},
                                      {"status", name(row.state)},
                                      {"attempts", attempts_of(db, row, body)},
                                      {"nextAttemptAt", row.due_at},
                                      {"createdAt", row.created_at},
                                      {"closedAt", row.closed_at},
                                      {"body", body}}}};
  });
}

}  // namespace

std::vector<Command> webhook_change_commands() {
  const Argument id = positional("ID", "ID of the webhook");
  const Argument types = on_page(
      option("types", "TYPES", "Event types, separated by commas; * is every payment event", "*"),
      "Event types", "payment.succeeded,payment.failed");
  Argument new_types = types;
  new_types.fallback = {};
  constexpr std::string_view kHint = "List webhooks with coffer webhook list";
  constexpr std::string_view kOnePerType =
      "An association has at most one active webhook for each event type in an environment. "
      "To use several endpoints, divide the event types between them.";
  return {
      {.path = "webhook create",
       .summary = "Register a webhook for an application; the signing secret is shown once",
       .label = "Create webhook",
       .consequence = "coffer delivers every future event of these types to the endpoint.",
       .run = create_webhook,
       .role = OperatorRole::operating,
       .arguments = {on_page(positional("URL", "HTTPS URL; the sandbox also accepts HTTP"), "URL",
                             "https://example.com/webhooks"),
                     required_option("application", "ID", "Application that owns the webhook"),
                     types, on_page(option("description", "TEXT", "Description"), "Description")},
       .details = kOnePerType,
       .sensitive = true},
      {.path = "webhook update",
       .summary = "Change the URL, description or event types of a webhook",
       .label = "Edit webhook",
       .consequence = "The change applies to the next attempt. Empty fields stay unchanged.",
       .run = change_webhook,
       .role = OperatorRole::operating,
       .arguments = {id, on_page(option("url", "URL", "New URL"), "URL"), new_types,
                     on_page(option("description", "TEXT", "New description"), "Description")},
       .hint = kHint,
       .details = kOnePerType,
       .sensitive = true},
      {.path = "webhook rotate",
       .summary = "Issue a new signing secret for a webhook; it is shown once",
       .label = "Rotate secret",
       .consequence = "During the overlap, deliveries are signed with the old and the new secret.",
       .run = rotate_webhook,
       .role = OperatorRole::operating,
       .arguments =
           {id,
            on_page(
                option("overlap", "SECONDS",
                       "Seconds during which both secrets sign; by default the server's setting"),
                "Overlap in seconds", "86400")},
       .hint = kHint,
       .sensitive = true},
      {.path = "webhook delivery",
       .summary = "Show a delivery: its body and every attempt with the response",
       .run = show_delivery,
       .role = OperatorRole::viewer,
       .arguments = {id, positional("EVENT", "ID of the event")},
       .hint = kHint}};
}

}  // namespace coffer::cli
