#include "cli/webhooks/webhooks.h"

#include "app/app.h"
#include "base/text/join.h"
#include "cli/choice.h"
#include "cli/command_groups.h"
#include "cli/output/health.h"
#include "cli/paging.h"
#include "cli/paths.h"
#include "flows/webhooks/event_body.h"
#include "flows/webhooks/redeliver.h"
#include "flows/webhooks/webhook_changes.h"
#include "outbound/webhooks/webhook_signature.h"
#include "store/webhooks/deliveries.h"
#include "store/webhooks/events.h"

namespace coffer::cli {
namespace {

constexpr int kAttemptsShownMax = 1'000;

Record webhook_record(const store::WebhookRow& row) {
  std::string types = join(row.types.types(), ",", [](EventType type) { return name(type); });
  if (row.types == EventTypeSet::payments()) types = "*";
  std::optional<std::string> last_status;
  if (row.last_status) last_status = std::to_string(*row.last_status);
  return {{"id", row.id},
          {"url", row.url},
          {"eventTypes", types},
          {"status", row.is_active() ? "active" : "disabled"},
          {"environment", name(row.tenant.environment)},
          {"associationId", row.tenant.association},
          {"applicationId", row.application_id},
          {"description", row.description},
          {"consecutiveFailures", row.failures},
          {"lastAttemptAt", row.last_attempt_at},
          {"lastResponseStatus", last_status},
          {"createdAt", row.created_at}};
}

/// For flows: the webhook of any application.
flows::WebhookRef ref_of(const store::WebhookRow& row) {
  return {row.tenant, row.id, std::nullopt};
}

/// The webhook with this ID, of any tenant. `not-found`.
Result<store::WebhookRow> found_webhook(store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<WebhookId>(arguments, "ID"));
  COFFER_TRY(const auto tenants, chosen_tenants(db, arguments));
  for (const NamedTenant& owner : tenants) {
    if (auto row = store::find_webhook(db, owner.tenant, id)) return *std::move(row);
  }
  return unexpected(Slug::not_found, "The webhook was not found.");
}
Result<store::WebhookRow> found_webhook(Session& session, const Arguments& arguments) {
  return session.app.flows().read(
      [&](store::Connection& db) { return found_webhook(db, arguments); });
}

Result<CommandResult> list_webhooks(Session& session, store::Connection& db,
                                    const Arguments& arguments) {
  store::WebhookFilter filter;
  if (const auto status = arguments.find("status")) filter.active = *status == "active";
  store::PageAt page;
  page.limit = kAttemptsShownMax;
  COFFER_TRY(const auto tenants, chosen_tenants(db, arguments));
  CommandResult result{.list = true,
                       .columns = {"id", "url", "eventTypes", "status", "environment", "health",
                                   "lastResponseStatus", "pending", "deadLetters"}};
  for (const NamedTenant& owner : tenants) {
    for (const auto& row : store::list_webhooks(db, owner.tenant, filter, page).rows) {
      result.records.push_back(webhook_record(row));
      put_health(result.records.back(), db, row, session.app.queue().now());
    }
  }
  return result;
}

Record webhook_view(store::Connection& db, const store::DeliveryRow& row) {
  return {{"sequence", row.sequence},    {"eventId", row.id},
          {"type", name(row.type)},      {"status", name(row.state)},
          {"attempts", row.tries},       {"lastResponse", last_response(db, row)},
          {"nextAttemptAt", row.due_at}, {"createdAt", row.created_at},
          {"closedAt", row.closed_at}};
}

Result<CommandResult> deliveries(Session&, store::Connection& db, const Arguments& arguments) {
  store::DeliveryFilter filter;
  filter.state = optional_term<DeliveryState>(arguments, "status");
  if (const auto type = arguments.find("type")) {
    COFFER_TRY(filter.type, event_type_argument(*type));
  }
  COFFER_TRY(const auto at, page_argument(arguments));
  COFFER_TRY(const auto webhook, found_webhook(db, arguments));
  return page_of(
      {"sequence", "eventId", "type", "status", "attempts", "lastResponse", "nextAttemptAt"},
      store::list_deliveries(db, webhook.tenant, webhook.key, filter, at),
      [&](const auto& row) { return webhook_view(db, row); });
}

Result<CommandResult> recover(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto from, optional_time(arguments, "from"));
  COFFER_TRY(const auto end, optional_time(arguments, "to"));
  // Later events are delivered in any case.
  const Timestamp to = end.value_or(session.app.queue().now().plus_ms(1));
  if (*from >= to) return unexpected(Slug::malformed_request, "--from must be before --to.");
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  COFFER_TRY_VOID(flows::recover_deliveries(session.app.flows(), ref_of(webhook), {*from, to}));
  return CommandResult{
      .records = {{{"webhookId", webhook.id}, {"from", from}, {"to", to}, {"status", "accepted"}}}};
}

Result<CommandResult> test(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  COFFER_TRY(const auto event, flows::send_test_event(session.app.flows(), ref_of(webhook)));
  return CommandResult{
      .records = {
          {{"eventId", event.id}, {"type", name(event.type)}, {"sequence", event.sequence}}}};
}

Result<CommandResult> disable(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  COFFER_TRY(const auto row, flows::disable_webhook(session.app.flows(), ref_of(webhook)));
  return CommandResult{.records = {webhook_record(row)}};
}

Result<CommandResult> listen_secret(Session& session, const Arguments& arguments) {
  std::int64_t last = 0;
  COFFER_TRY(
      const auto owner, session.app.flows().read([&](store::Connection& db) -> Result<NamedTenant> {
        COFFER_TRY(auto chosen, chosen_tenant(db, arguments, environment_argument(arguments)));
        last = store::last_sequence(db, chosen.tenant);
        return chosen;
      }));
  COFFER_TRY(const Secret secret, flows::listener_secret(session.app.flows(), owner.tenant));
  return CommandResult{.records = {{{"secret", secret},
                                    {"association", owner.association_name},
                                    {"associationId", owner.tenant.association},
                                    {"environment", name(owner.tenant.environment)},
                                    {"lastSequence", last}}}};
}

std::vector<Argument> verify_arguments() {
  return {
      option("secret", "WHSEC", "Signing secret of the webhook, including whsec_"),
      path_option("secret-file", "File with the secret, which keeps it out of the process list"),
      path_option("body", "File with the unchanged body; - is standard input", "-"),
      path_option("headers", "File with the headers, one \"Name: value\" per line"),
      option("id", "TEXT", "Value of webhook-id, and of X-Webhook-Id"),
      option("timestamp", "SECONDS", "Value of webhook-timestamp"),
      option("signature", "TEXT", "Value of webhook-signature"),
      option("svc-ts", "MS", "Value of X-Webhook-Ts"),
      option("svc-signature", "TEXT", "Value of X-Svc-Signature"),
      option("tolerance", "SECONDS", "Maximum age of a delivery; 0 accepts any", "300")};
}

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

Result<std::string> description_value(const Arguments& arguments, const std::string& name) {
  COFFER_TRY(const auto text, text_up_to(arguments, name, kDescriptionMax));
  return *text;
}

Result<CommandResult> change_webhook(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  flows::WebhookUpdate update;
  COFFER_TRY(update.url, text_up_to(arguments, "url", kUrlMax));
  COFFER_TRY(update.description, removable(arguments, "description", description_value));
  if (arguments.has("types")) {
    COFFER_TRY(update.types, taken_types(arguments));
  }
  COFFER_TRY(const auto row, flows::update_webhook(session.app.flows(), ref_of(webhook), update));
  return CommandResult{.records = {webhook_record(row)}};
}

Result<CommandResult> rotate_webhook(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  COFFER_TRY(const auto overlap_s,
             optional_number<std::int64_t>(arguments, "overlap", 0, kGraceMaxS));
  const auto grace_s = overlap_s.value_or(session.app.flows().webhooks->policy.grace_s);
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

Result<CommandResult> show_delivery(Session& session, store::Connection& db,
                                    const Arguments& arguments) {
  COFFER_TRY(const auto event, id_argument<EventId>(arguments, "EVENT"));
  COFFER_TRY(const auto webhook, found_webhook(db, arguments));
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
}

std::vector<Command> change_commands(const Argument& id) {
  const Argument types = on_page(
      event_types_choice(option("types", "TYPES",
                                "Event types, separated by commas; * is every payment event", "*")),
      "Event types", "payment.succeeded,payment.failed");
  Argument new_types = types;
  new_types.fallback = {};
  constexpr std::string_view kOnePerType =
      "An association has at most one active webhook for each event type in an environment. "
      "To use several endpoints, divide the event types between them.";
  return {
      for_operators("webhook create",
                    "Register a webhook for an application; the signing secret is shown once",
                    "Create webhook",
                    "coffer delivers every future event of these types to the endpoint.",
                    create_webhook,
                    {on_page(naming(Argument::Value::url,
                                    positional("URL", "HTTPS URL; the sandbox also accepts HTTP")),
                             "URL", "https://example.com/webhooks"),
                     required_option("application", "ID", "Application that owns the webhook"),
                     types, on_page(option("description", "TEXT", "Description"), "Description")},
                    {.details = kOnePerType, .sensitive = true}),
      for_operators(
          "webhook update", "Change the URL, description or event types of a webhook",
          "Edit webhook", "The change applies to the next attempt.", change_webhook,
          {id,
           on_page(member_of("url", naming(Argument::Value::url, option("url", "URL", "New URL"))),
                   "URL"),
           new_types,
           on_page(member_of("description", option("description", "TEXT", "New description")),
                   "Description"),
           toggle("no-description", "Remove the description")},
          {.details = kOnePerType, .sensitive = true, .partial = true}),
      for_operators(
          "webhook rotate", "Issue a new signing secret for a webhook; it is shown once",
          "Rotate secret",
          "During the overlap, deliveries are signed with the old and the new secret.",
          rotate_webhook,
          {id,
           on_page(
               option("overlap", "SECONDS",
                      "Seconds during which both secrets sign; by default the server's setting"),
               "Overlap in seconds", "86400")},
          {.sensitive = true}),
      for_viewers("webhook delivery",
                  "Show a delivery: its body and every attempt with the response", show_delivery,
                  {id, chosen_from("events list", positional("EVENT", "ID of the event"))})};
}

}  // namespace

std::optional<std::string> last_response(store::Connection& db,
                                         const store::DeliveryRow& delivery) {
  const auto attempts = store::list_delivery_attempts(db, delivery.webhook, delivery.sequence);
  if (attempts.empty()) return std::nullopt;
  const store::DeliveryAttempt& last = attempts.back();
  return last.status ? std::to_string(*last.status) : last.fault.value_or("");
}

std::vector<Command> webhook_commands() {
  const Argument id =
      positional_id("ID", "ID of the webhook", "List webhooks with coffer webhook list");
  std::vector<Command> rows{
      for_viewers(
          "webhook list", "List webhooks of all associations, newest first", list_webhooks,
          joined({choice("status", "active|disabled", "Filter by status")}, owner_arguments())),
      for_viewers("webhook deliveries", "List the deliveries of a webhook, newest first",
                  deliveries,
                  joined({id, choice_of<DeliveryState>("status", "Filter by status"),
                          event_type_choice(option("type", "TYPE", "Filter by event type"))},
                         page_arguments())),
      for_operators(
          "webhook recover", "Redeliver all events of a time range that a webhook did not receive",
          "Redeliver a range",
          "coffer redelivers every event in the range that the webhook has not received.", recover,
          {id,
           on_page(
               required_option("from", "TIME",
                               "Start of the range, such as 2026-01-31 or 2026-01-31T09:00:00Z"),
               "From"),
           on_page(option("to", "TIME", "End of the range; by default now"), "To")}),
      for_operators("webhook test", "Send a test event to a webhook", "Send test event", "", test,
                    {id}),
      for_operators("webhook disable", "Disable a webhook permanently; its pending deliveries fail",
                    "Disable webhook", "This is permanent. Pending deliveries fail.", disable,
                    {id}),
      {.path = "webhook verify",
       .summary = "Verify the signatures of a saved delivery; exits with 0 (valid) or 1 (invalid)",
       .run = verify_delivery,
       .role = OperatorRole::viewer,
       .arguments = verify_arguments(),
       .settings = Settings::none},
      for_administrators(kListenSecretCommand, "Show the signing secret of coffer listen",
                         "Show signing secret", "", listen_secret, tenant_arguments()),
  };
  const auto changes = change_commands(id);
  rows.insert(rows.begin() + 1, changes.begin(), changes.end());
  return rows;
}

}  // namespace coffer::cli
