#include "cli/webhooks/webhooks.h"

#include "app/app.h"
#include "base/text/join.h"
#include "cli/command_groups.h"
#include "cli/operations/health.h"
#include "cli/operations/paging.h"
#include "cli/webhooks/choice.h"
#include "flows/webhooks/listener_secret.h"
#include "flows/webhooks/redeliver.h"
#include "store/webhooks/deliveries.h"
#include "store/webhooks/events.h"

namespace coffer::cli {
namespace {

constexpr int kShownMax = 1'000;

Result<CommandResult> list_webhooks(Session& session, const Arguments& arguments) {
  store::WebhookFilter filter;
  if (const auto status = arguments.find("status")) filter.active = *status == "active";
  store::PageAt page;
  page.limit = kShownMax;
  return session.app.flows().read([&](store::Connection& db) -> Result<CommandResult> {
    COFFER_TRY(const auto tenants, chosen_tenants(db, arguments));
    CommandResult result{.list = true,
                         .columns = {"id", "url", "eventTypes", "status", "environment", "health",
                                     "lastResponseStatus", "pending", "deadLetters"}};
    for (const NamedTenant& owner : tenants) {
      for (const auto& row : store::list_webhooks(db, owner.tenant, filter, page).rows) {
        result.records.push_back(webhook_record(row));
        put_health(result.records.back(), db, row);
      }
    }
    return result;
  });
}

/// Includes the result of the last attempt.
Record webhook_view(store::Connection& db, const store::DeliveryRow& row) {
  std::optional<std::string> last;
  const auto attempts = store::list_delivery_attempts(db, row.webhook, row.sequence);
  if (!attempts.empty()) {
    const store::DeliveryAttempt& attempt = attempts.back();
    last = attempt.status ? std::to_string(*attempt.status) : attempt.fault.value_or("");
  }
  return {
      {"sequence", row.sequence},    {"eventId", row.id},           {"type", name(row.type)},
      {"status", name(row.state)},   {"attempts", row.tries},       {"lastAnswer", last},
      {"nextAttemptAt", row.due_at}, {"createdAt", row.created_at}, {"closedAt", row.closed_at}};
}

Result<CommandResult> deliveries(Session& session, const Arguments& arguments) {
  store::DeliveryFilter filter;
  if (const auto status = arguments.find("status"))
    filter.state = parse_term<DeliveryState>(*status);
  if (const auto type = arguments.find("type")) {
    COFFER_TRY(filter.type, event_type_argument(*type));
  }
  COFFER_TRY(const auto at, page_argument(arguments));
  store::PageAt page;
  page.key = at.before;
  page.limit = at.limit + 1;
  COFFER_TRY(const auto webhook, found_webhook(session, arguments));
  return session.app.flows().read([&](store::Connection& db) {
    CommandResult result{.list = true,
                         .columns = {"sequence", "eventId", "type", "status", "attempts",
                                     "lastAnswer", "nextAttemptAt"}};
    auto found = store::list_deliveries(db, webhook.tenant, webhook.key, filter, page);
    const bool cut_short = found.cut_at.has_value();
    if (found.rows.size() > static_cast<std::size_t>(at.limit)) {
      found.rows.pop_back();
      found.cut_at = found.rows.back().sequence;
    }
    put_next(result, found.cut_at, cut_short);
    for (const auto& row : found.rows) result.records.push_back(webhook_view(db, row));
    return result;
  });
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

constexpr std::string_view kWebhookHint = "List webhooks with coffer webhook list";

std::vector<Argument> verify_arguments() {
  return {
      option("secret", "WHSEC", "Signing secret of the webhook, including whsec_"),
      option("secret-file", "FILE", "File with the secret, which keeps it out of the process list"),
      option("body", "FILE", "File with the unchanged body; - is standard input", "-"),
      option("headers", "FILE", "File with the headers, one \"Name: value\" per line"),
      option("id", "TEXT", "Value of webhook-id, and of X-Webhook-Id"),
      option("timestamp", "SECONDS", "Value of webhook-timestamp"),
      option("signature", "TEXT", "Value of webhook-signature"),
      option("svc-ts", "MS", "Value of X-Webhook-Ts"),
      option("svc-signature", "TEXT", "Value of X-Svc-Signature"),
      option("tolerance", "SECONDS", "Maximum age of a delivery; 0 accepts any", "300")};
}

}  // namespace

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

Result<store::WebhookRow> found_webhook(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<WebhookId>(arguments, "ID"));
  return session.app.flows().read([&](store::Connection& db) -> Result<store::WebhookRow> {
    COFFER_TRY(const auto tenants, chosen_tenants(db, arguments));
    for (const NamedTenant& owner : tenants) {
      if (auto row = store::find_webhook(db, owner.tenant, id)) return *std::move(row);
    }
    return unexpected(Slug::not_found, "The webhook was not found.");
  });
}

std::vector<Command> webhook_commands() {
  const Argument id = positional("ID", "ID of the webhook");
  const Argument environment = choice("environment", "sandbox|production", "Filter by environment");
  const Argument one =
      choice("environment", "sandbox|production", "Environment of the events", "sandbox");
  const Argument association = option("association", "ID", "Filter by association");
  const Argument owner =
      option("association", "ID", "Association of the events; required if there are several");
  std::vector<Command> rows{
      {.path = "webhook list",
       .summary = "List webhooks of all associations, newest first",
       .run = list_webhooks,
       .role = OperatorRole::viewer,
       .arguments = {choice("status", "active|disabled", "Filter by status"), environment,
                     association}},
      {.path = "webhook deliveries",
       .summary = "List the deliveries of a webhook, newest first",
       .run = deliveries,
       .role = OperatorRole::viewer,
       .arguments = joined({id, choice("status", choices<DeliveryState>(), "Filter by status"),
                            option("type", "TYPE", "Filter by event type")},
                           page_arguments()),
       .hint = kWebhookHint},
      {.path = "webhook recover",
       .summary = "Redeliver all events of a time range that a webhook did not receive",
       .label = "Redeliver a range",
       .consequence =
           "coffer redelivers every event in the range that the webhook has not received.",
       .run = recover,
       .role = OperatorRole::operating,
       .arguments = {id,
                     on_page(required_option(
                                 "from", "TIME",
                                 "Start of the range, such as 2026-01-31 or 2026-01-31T09:00:00Z"),
                             "From"),
                     on_page(option("to", "TIME", "End of the range; by default now"), "To")},
       .hint = kWebhookHint},
      {.path = "webhook test",
       .summary = "Send a test event to a webhook",
       .label = "Send test event",
       .run = test,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kWebhookHint},
      {.path = "webhook disable",
       .summary = "Disable a webhook permanently; its pending deliveries fail",
       .label = "Disable webhook",
       .consequence = "This is permanent. Pending deliveries fail.",
       .run = disable,
       .role = OperatorRole::operating,
       .arguments = {id},
       .hint = kWebhookHint},
      {.path = "webhook verify",
       .summary = "Verify the signatures of a saved delivery; exits with 0 (valid) or 1 (invalid)",
       .run = verify_delivery,
       .role = OperatorRole::viewer,
       .arguments = verify_arguments(),
       .settings = Settings::none},
      {.path = kListenSecretCommand,
       .summary = "Show the signing secret of coffer listen",
       .label = "Show signing secret",
       .run = listen_secret,
       .arguments = {one, owner}},
  };
  const auto changes = webhook_change_commands();
  rows.insert(rows.begin() + 1, changes.begin(), changes.end());
  return rows;
}

}  // namespace coffer::cli
