#include "flows/operations/alerts.h"

#include "base/telemetry/log.h"
#include "flows/identity/login.h"
#include "flows/json_object.h"
#include "store/ledger/catalog.h"

namespace coffer::flows {
namespace {

std::optional<AlertKind> kind_of(AlertStep step) {
  switch (step) {
    case AlertStep::open:
      return AlertKind::began;
    case AlertStep::repeat:
      return AlertKind::continues;
    case AlertStep::close:
      return AlertKind::ended;
    case AlertStep::watch:
    case AlertStep::forget:
    case AlertStep::miss:
    case AlertStep::recover:
      return std::nullopt;
  }
  return std::nullopt;
}

Json json(const std::optional<Timestamp>& at) { return at ? Json(at->to_string()) : Json(nullptr); }

std::string to_text(const Json& body) {
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void note_change(const AlertChange& change) {
  const auto kind = kind_of(change.step);
  if (!kind) return;
  const std::string_view condition = name(change.finding.condition);
  if (*kind == AlertKind::ended)
    return log_info("alerts", "alert ended", {{"condition", condition}});
  log_warning("alerts", "alert",
              {{"condition", condition},
               {"kind", name(*kind)},
               {"count", change.finding.count},
               {"reason", change.finding.reason}});
}

/// The row of `meta` with the reason of the last alert of a condition.
std::string reason_row(AlertCondition condition) {
  return "reason_" + std::string(name(condition));
}

void apply(const Context& context, store::WriteTx& tx, const AlertChange& change,
           const std::vector<outbound::AlertTarget>& targets) {
  store::apply_alert_change(tx, change, context.random.uuid_v7(tx.now()));
  const auto kind = kind_of(change.step);
  if (!kind) return;
  const std::string row = reason_row(change.finding.condition);
  if (store::read_meta(tx.db(), row).value_or("") != change.finding.reason) {
    store::write_meta(tx, row, change.finding.reason);
  }
  for (const outbound::AlertTarget& target : targets) {
    store::insert_alert_message(tx, context.random.uuid_v7(tx.now()), *kind, target.channel,
                                target.name, change.finding);
  }
}

}  // namespace

Result<void> record_alerts(const Context& context, const ConditionFacts& facts) {
  const Timestamp now = context.queue.now();
  COFFER_TRY(const auto newest, context.read([](store::Connection& db) {
    return Result(store::newest_alert_states(db));
  }));
  std::set<AlertCondition> unknown;
  if (!facts.ledger_holds) unknown.insert(AlertCondition::ledger_damaged);
  if (!facts.disk_free_bytes) unknown.insert(AlertCondition::disk_low);
  const auto changes = alert_changes(newest, find_conditions(facts, now), unknown, now);
  if (changes.empty()) return {};
  const auto targets = context.messenger->targets();
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) {
    for (const AlertChange& change : changes) apply(context, tx, change, targets);
    store::drop_alerts(tx, tx.now().plus_ms(-kAlertDays * kDayMs));
  }));
  for (const AlertChange& change : changes) note_change(change);
  return {};
}

std::string alert_reason(store::Connection& db, AlertCondition condition) {
  return store::read_meta(db, reason_row(condition)).value_or("");
}

outbound::OutgoingMessage alert_message(const store::Message& message, const store::AlertRow& alert,
                                        const std::string& reason, const std::string& server) {
  const AlertCondition condition = alert.state.condition;
  const AlertRule& rule = alert_rule(condition);
  const bool ended = message.kind == AlertKind::ended;
  const std::optional<Timestamp> ended_at = ended ? alert.state.gone_at : std::nullopt;
  outbound::OutgoingMessage out{message.channel, message.recipient, message.id.to_string()};
  out.body = to_text({{"id", out.id},
                      {"type", "alert." + std::string(name(message.kind))},
                      {"timestamp", message.at.to_string()},
                      {"data",
                       {{"alertId", alert.id.to_string()},
                        {"condition", name(condition)},
                        {"summary", label(condition)},
                        {"reason", reason.empty() || ended ? Json(nullptr) : Json(reason)},
                        {"count", message.count},
                        {"oldestAt", json(message.oldest_at)},
                        {"beganAt", alert.began_at.to_string()},
                        {"endedAt", json(ended_at)},
                        {"nextStep", ended ? Json(nullptr) : Json(rule.next)},
                        {"server", server}}}});
  const std::string_view prefix = label(message.kind);
  out.subject = "[coffer] " + std::string(prefix) + std::string(label(condition));
  const auto line = [&](std::string_view label, const std::string& value) {
    out.text += std::string(label) + ": " + value + "\n";
  };
  out.text = std::string(prefix) + std::string(label(condition)) + "\n\n";
  line("Condition", std::string(name(condition)));
  line("Server", server);
  line("Began", alert.began_at.to_string());
  if (ended_at) line("Ended", ended_at->to_string());
  if (!ended) line("Count", std::to_string(message.count));
  if (!ended && !reason.empty()) line("Reason", reason);
  if (message.oldest_at) line("Oldest", message.oldest_at->to_string());
  if (!ended) line("Next step", std::string(rule.next));
  return out;
}

Result<std::vector<AlertTest>> test_alerts(const Context& context) {
  std::vector<AlertTest> out;
  const Timestamp now = context.clock.now();
  const std::string id = context.random.uuid_v7(now).to_string();
  const std::string server = public_base_url(context);
  const std::string body =
      to_text({{"id", id},
               {"type", "alert.test"},
               {"timestamp", now.to_string()},
               {"data", {{"summary", "This is a test."}, {"server", server}}}});
  for (const outbound::AlertTarget& target : context.messenger->targets()) {
    auto result = context.messenger->send(
        {target.channel, target.name, id, "[coffer] Test",
         "This is a test. No condition has changed.\n\nServer: " + server + "\n", body});
    if (!result.sent) {
      log_warning(
          "alerts", "alert could not be sent",
          {{"condition", "test"}, {"channel", name(target.channel)}, {"problem", result.detail}});
    }
    out.push_back({target, std::move(result)});
  }
  if (!out.empty()) return out;
  return unexpected(Slug::conflict,
                    "No target is configured. Set alert_webhook_url, or alert_email.");
}

}  // namespace coffer::flows
