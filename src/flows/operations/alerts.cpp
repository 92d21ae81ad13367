#include "flows/operations/alerts.h"

#include "base/log.h"
#include "flows/identity/login.h"
#include "flows/json_object.h"
#include "store/guarded_rows.h"
#include "store/operations/alerts.h"

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

/// Depends only on the row and the address of the server, so that attempts send the same bytes.
outbound::AlertText text_of(const store::AlertMessage& message, const std::string& server) {
  const AlertCondition condition = message.alert.state.condition;
  const AlertRule& rule = alert_rule(condition);
  const bool ended = message.kind == AlertKind::ended;
  const std::optional<Timestamp> ended_at = ended ? message.alert.state.gone_at : std::nullopt;
  outbound::AlertText out;
  out.id = message.id.to_string();
  out.body = to_text({{"id", out.id},
                      {"type", "alert." + std::string(name(message.kind))},
                      {"timestamp", message.at.to_string()},
                      {"data",
                       {{"alertId", message.alert.id.to_string()},
                        {"condition", name(condition)},
                        {"summary", label(condition)},
                        {"count", message.count},
                        {"oldestAt", json(message.oldest_at)},
                        {"beganAt", message.alert.began_at.to_string()},
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
  line("Began", message.alert.began_at.to_string());
  if (ended_at) line("Ended", ended_at->to_string());
  if (!ended) line("Count", std::to_string(message.count));
  if (message.oldest_at) line("Oldest", message.oldest_at->to_string());
  if (!ended) line("Next step", std::string(rule.next));
  return out;
}

void note_change(const AlertChange& change) {
  const auto kind = kind_of(change.step);
  if (!kind) return;
  const std::string_view condition = name(change.finding.condition);
  if (*kind == AlertKind::ended)
    return log_info("alerts", "alert ended", {{"condition", condition}});
  log_warning("alerts", "alert",
              {{"condition", condition}, {"kind", name(*kind)}, {"count", change.finding.count}});
}

void apply(const Context& context, store::WriteTx& tx, const AlertChange& change,
           const std::vector<outbound::AlertTarget>& targets) {
  store::apply_alert_change(tx, change, context.random.uuid_v7(tx.now()));
  const auto kind = kind_of(change.step);
  if (!kind) return;
  for (const outbound::AlertTarget& target : targets) {
    store::insert_alert_message(tx, context.random.uuid_v7(tx.now()), *kind, target.channel,
                                target.name, change.finding);
  }
}

Result<void> close(const Context& context, const store::AlertMessage& message,
                   AlertMessageState state, std::string_view result) {
  return context.write(
      [&](store::WriteTx& tx) { store::close_alert_attempt(tx, message, state, result); });
}

void note_result(std::string_view condition, AlertChannel channel, int attempt,
                 const outbound::AlertResult& result) {
  if (result.sent) return;
  log_warning("alerts", "alert could not be sent",
              {{"condition", condition},
               {"channel", name(channel)},
               {"attempt", attempt},
               {"problem", result.detail}});
}

/// One attempt, from its start to its result.
Result<void> attempt(const Context& context, outbound::AlertSender& sender,
                     const store::AlertMessage& message) {
  if (message.attempts >= kAlertAttemptsMax) {
    return close(context, message, AlertMessageState::failed,
                 "The process ended during the last attempt.");
  }
  bool opened = false;
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) {
    opened = store::open_alert_attempt(tx, message.key,
                                       tx.now().plus_ms(alert_delay_ms(message.attempts + 1)));
  }));
  if (!opened) return {};
  COFFER_TRY_VOID(context.read([&](store::Connection& db) -> Result<void> {
    store::require_intact(db, "alert_messages", message.key,
                          {{"state", AlertMessageState::waiting}});
    return {};
  }));
  const auto result = sender.send(message.channel, text_of(message, public_base_url(context)));
  note_result(name(message.alert.state.condition), message.channel, message.attempts + 1, result);
  const bool last = message.attempts + 1 >= kAlertAttemptsMax;
  return close(context, message,
               result.sent ? AlertMessageState::sent
               : last      ? AlertMessageState::failed
                           : AlertMessageState::waiting,
               result.detail);
}

}  // namespace

Result<void> record_alerts(const Context& context, const outbound::AlertSender& sender,
                           const ConditionFacts& facts) {
  const Timestamp now = context.queue.now();
  COFFER_TRY(const auto newest, context.read([](store::Connection& db) {
    return Result(store::newest_alert_states(db));
  }));
  std::set<AlertCondition> unknown;
  if (!facts.ledger_holds) unknown.insert(AlertCondition::ledger_damaged);
  if (!facts.disk_free_bytes) unknown.insert(AlertCondition::disk_low);
  const auto changes = alert_changes(newest, find_conditions(facts, now), unknown, now);
  if (changes.empty()) return {};
  const auto targets = sender.targets();
  COFFER_TRY_VOID(context.write([&](store::WriteTx& tx) {
    for (const AlertChange& change : changes) apply(context, tx, change, targets);
    store::drop_alerts(tx, tx.now().plus_ms(-kAlertDays * kDayMs));
  }));
  for (const AlertChange& change : changes) note_change(change);
  return {};
}

Result<bool> send_due_alert(const Context& context, outbound::AlertSender& sender) {
  COFFER_TRY(const auto due, context.read([&](store::Connection& db) {
    return Result(store::due_alert_message(db, context.queue.now()));
  }));
  if (!due) return false;
  COFFER_TRY_VOID(attempt(context, sender, *due));
  return true;
}

Result<std::vector<AlertTest>> test_alerts(const Context& context, outbound::AlertSender& sender) {
  std::vector<AlertTest> out;
  const Timestamp now = context.clock.now();
  const std::string id = context.random.uuid_v7(now).to_string();
  const std::string server = public_base_url(context);
  const outbound::AlertText text{
      id,
      to_text({{"id", id},
               {"type", "alert.test"},
               {"timestamp", now.to_string()},
               {"data", {{"summary", "This is a test."}, {"server", server}}}}),
      "[coffer] Test", "This is a test. No condition has changed.\n\nServer: " + server + "\n"};
  for (const outbound::AlertTarget& target : sender.targets()) {
    out.push_back({target, sender.send(target.channel, text)});
    note_result("test", target.channel, 1, out.back().result);
  }
  if (!out.empty()) return out;
  return unexpected(Slug::conflict,
                    "No target is configured. Set alert_webhook_url, or alert_email.");
}

}  // namespace coffer::flows
