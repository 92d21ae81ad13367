// Alerts to the operator: from a condition to the messages at its targets.
#include "store/operations/alerts.h"

#include <catch2/catch.hpp>

#include "outbound/webhooks/webhook_signature.h"
#include "store/operations/copies.h"
#include "store/operations/messages.h"
#include "support/receiver.h"
#include "support/script.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace alerts_test {
namespace {

constexpr const char* kSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

std::function<void(Config&)> hooked(const Receiver& receiver) {
  return [&receiver](Config& config) {
    config.alert_webhook_url = receiver.url("/secret-path");
    config.alert_webhook_secret = Secret(kSecret);
  };
}

std::function<void(Config&)> mailed(const Script& script) {
  return [&script](Config& config) {
    config.notify_sendmail = script.path();
    config.notify_from = "gateway@bank.example";
    config.alert_email = "ops@bank.example";
  };
}

/// Two conditions that a test turns on and off. Others depend on the machine, for example on its
/// clock, so a test checks one condition at a time.
struct World {
  explicit World(const std::function<void(Config&)>& change = {}) : app(change) {}

  TestApp app;

  void fail_backup() {
    app.core()
        .queue()
        .run([](store::WriteTx& tx) -> Result<void> {
          store::record_backup_failure(tx, "The disk is full.");
          return {};
        })
        .value();
  }
  void make_backup() {
    app.core()
        .queue()
        .run([](store::WriteTx& tx) -> Result<void> {
          store::record_backup(tx, {tx.now(), 1, true, "/backup.db"});
          return {};
        })
        .value();
  }
  void damage() { app.core().background().note_verification(false); }
  void look() { app.core().background().send_messages_once(); }
  void look_after(std::int64_t ms) {
    app.clock.advance_ms(ms);
    look();
  }
  /// The newest alert of the condition, with its messages.
  std::optional<store::AlertRow> alert(AlertCondition condition) {
    for (const store::AlertRow& row : page().rows) {
      if (row.state.condition == condition) return row;
    }
    return std::nullopt;
  }
  std::vector<store::Message> messages(AlertCondition condition) {
    const auto row = alert(condition);
    if (!row) return {};
    return store::with_reader(app.core().database(),
                              [&](store::Connection& db) {
                                return Result(store::messages_of_alert(db, row->key));
                              })
        .value();
  }
  store::RowPage<store::AlertRow> page(std::optional<bool> open = {}) {
    return store::with_reader(app.core().database(),
                              [&](store::Connection& db) {
                                return Result(store::newest_alerts(db, open, {{}, 100}));
                              })
        .value();
  }
};

std::vector<Received> about(const Receiver& receiver, const std::string& condition) {
  std::vector<Received> out;
  for (Received& each : receiver.received()) {
    if (each.json().at("data").at("condition") == condition) out.push_back(std::move(each));
  }
  return out;
}

std::vector<std::string> types(const std::vector<Received>& received) {
  std::vector<std::string> out;
  for (const Received& each : received) out.push_back(each.json().at("type"));
  return out;
}

using Types = std::vector<std::string>;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an alert is a signed webhook: once, daily, and at the end") {
  Receiver receiver;
  World world(hooked(receiver));
  world.fail_backup();
  world.look();
  auto received = about(receiver, "backup_failed");
  REQUIRE(received.size() == 1);
  const Received first = received.front();
  CHECK(first.target == "/secret-path");
  CHECK(first.header("Content-Type") == "application/json");
  CHECK(first.header("webhook-signature") ==
        outbound::standard_signature(Secret(kSecret), first.header("webhook-id"),
                                     std::stoll(first.header("webhook-timestamp")), first.body));
  const Json body = first.json();
  CHECK(body.at("id") == first.header("webhook-id"));
  CHECK(body.at("type") == "alert.began");
  const Json& data = body.at("data");
  CHECK(data.at("summary") == "The last scheduled backup failed.");
  CHECK(data.at("reason") == "The disk is full.");
  CHECK(data.at("count") == 1);
  CHECK(data.at("beganAt") == "2026-01-01T00:00:00.000Z");
  CHECK(data.at("endedAt").is_null());

  for (int i = 0; i < 10; ++i) world.look_after(kMinuteMs);
  CHECK(about(receiver, "backup_failed").size() == 1);
  world.look_after(kDayMs);
  CHECK(types(about(receiver, "backup_failed")) == Types{"alert.began", "alert.continues"});

  world.make_backup();
  world.look_after(1'000);
  CHECK(about(receiver, "backup_failed").size() == 2);
  const std::string gone_at = world.app.flows().queue.now().to_string();
  world.look_after(kAlertGoneMs);
  received = about(receiver, "backup_failed");
  REQUIRE(types(received) == Types{"alert.began", "alert.continues", "alert.ended"});
  const Json last = received.back().json().at("data");
  CHECK(last.at("alertId") == data.at("alertId"));
  CHECK(last.at("endedAt") == gone_at);
  CHECK(last.at("nextStep").is_null());
  CHECK(last.at("reason").is_null());
  CHECK(received.back().header("webhook-id") != first.header("webhook-id"));
  world.look_after(kDayMs);
  CHECK(about(receiver, "backup_failed").size() == 3);
}

TEST_CASE("alerts and their messages survive restarts") {
  Receiver receiver;
  World world(hooked(receiver));
  receiver.otherwise({.status = 503});
  world.fail_backup();
  world.look();
  world.app.restart();
  world.look();
  CHECK(about(receiver, "backup_failed").size() == 1);
  receiver.otherwise({});
  world.look_after(kMinuteMs);
  auto received = about(receiver, "backup_failed");
  REQUIRE(received.size() == 2);
  CHECK(received[0].body == received[1].body);
  CHECK(received[0].header("webhook-id") == received[1].header("webhook-id"));
  world.app.restart();
  world.look();
  CHECK(about(receiver, "backup_failed").size() == 2);
  world.make_backup();
  world.look();
  world.app.restart();
  world.look_after(kAlertGoneMs);
  CHECK(types(about(receiver, "backup_failed")).back() == "alert.ended");
}

TEST_CASE("a failed target gets the message later, followed immediately by the waiting ones") {
  Receiver receiver;
  World world(hooked(receiver));
  receiver.otherwise({.status = 500});
  world.fail_backup();
  world.look();
  auto message = world.messages(AlertCondition::backup_failed).at(0);
  CHECK(message.state == MessageState::waiting);
  CHECK(message.attempts == 1);
  CHECK(message.result == "The endpoint responded with 500.");
  world.app.clock.advance_ms(kMinuteMs / 2);
  world.damage();
  world.look();
  CHECK(about(receiver, "ledger_damaged").size() == 1);
  CHECK(about(receiver, "backup_failed").size() == 1);
  receiver.otherwise({});
  world.look_after(kMinuteMs / 2);
  CHECK(about(receiver, "backup_failed").size() == 2);
  CHECK(about(receiver, "ledger_damaged").size() == 2);
  for (const auto condition : {AlertCondition::backup_failed, AlertCondition::ledger_damaged}) {
    message = world.messages(condition).at(0);
    CHECK(message.state == MessageState::sent);
    CHECK(message.attempts == 2);
    CHECK(message.closed_at);
    CHECK(message.result == "The endpoint responded with 200.");
  }
  world.look_after(kDayMs / 2);
  CHECK(about(receiver, "backup_failed").size() == 2);
}

TEST_CASE("a message fails after its last attempt, and the next day starts a new one") {
  Receiver receiver;
  World world(hooked(receiver));
  receiver.otherwise({.status = 500});
  world.fail_backup();
  world.look();
  for (int attempt = 1; attempt < kMessageAttemptsMax; ++attempt) {
    CHECK(world.messages(AlertCondition::backup_failed).at(0).state == MessageState::waiting);
    world.app.clock.advance_ms(message_delay_ms(attempt) - 1);
    world.look();
    CHECK(about(receiver, "backup_failed").size() == static_cast<std::size_t>(attempt));
    world.look_after(1);
  }
  const auto failed = world.messages(AlertCondition::backup_failed);
  REQUIRE(failed.size() == 1);
  CHECK(failed.front().state == MessageState::failed);
  CHECK(failed.front().attempts == kMessageAttemptsMax);
  receiver.forget();
  receiver.otherwise({});
  world.look_after(kDayMs);
  CHECK(types(about(receiver, "backup_failed")) == Types{"alert.continues"});
}

TEST_CASE("the message about an end waits for the one about the beginning") {
  Receiver receiver;
  World world(hooked(receiver));
  receiver.otherwise({.status = 500});
  world.fail_backup();
  world.look();
  world.make_backup();
  world.look();
  world.look_after(kAlertGoneMs);
  CHECK(world.messages(AlertCondition::backup_failed).size() == 2);
  for (const std::string& type : types(about(receiver, "backup_failed"))) {
    CHECK(type == "alert.began");
  }
  receiver.forget();
  receiver.otherwise({});
  world.look_after(kDayMs / 24);
  CHECK(types(about(receiver, "backup_failed")) == Types{"alert.began", "alert.ended"});
}

TEST_CASE("an alert attempt that was interrupted by the end of the process counts") {
  Receiver receiver;
  receiver.otherwise({.status = 500});
  World world(hooked(receiver));
  world.fail_backup();
  world.look();
  const std::int64_t key = world.messages(AlertCondition::backup_failed).at(0).key;
  world.app.core()
      .queue()
      .run([&](store::WriteTx& tx) -> Result<void> {
        for (int i = 1; i < kMessageAttemptsMax; ++i)
          store::open_message_attempt(tx, key, tx.now());
        return {};
      })
      .value();
  receiver.forget();
  world.look();
  CHECK(about(receiver, "backup_failed").empty());
  CHECK(world.messages(AlertCondition::backup_failed).at(0).state == MessageState::failed);
}

TEST_CASE("a message whose alert another program removed does not delay the others") {
  Receiver receiver;
  receiver.otherwise({.status = 500});
  World world(hooked(receiver));
  world.fail_backup();
  world.look();
  store::Connection other(world.app.core().database().path(), store::OpenMode::read_write);
  other.execute("PRAGMA foreign_keys=OFF");
  other.execute("UPDATE alerts SET alert = alert + 100");
  receiver.forget();
  receiver.otherwise({});
  world.damage();
  world.look_after(kDayMs / 24);
  CHECK(about(receiver, "backup_failed").empty());
  CHECK(types(about(receiver, "ledger_damaged")) == Types{"alert.began"});
  other.execute("UPDATE alerts SET alert = 1 WHERE alert = 101");
}

TEST_CASE("an alert by e-mail has the condition, its start and the next step") {
  const Script script("cat >> $OUT/mail; echo \"$@\" >> $OUT/arguments");
  World world(mailed(script));
  world.fail_backup();
  world.look();
  CHECK(has(script.left("arguments"), "-f gateway@bank.example -- ops@bank.example"));
  const std::string mail = script.left("mail");
  CHECK(has(mail, "To: ops@bank.example\n"));
  CHECK(has(mail, "\nSubject: [coffer] The last scheduled backup failed.\n"));
  CHECK(has(mail, "\nBegan: 2026-01-01T00:00:00.000Z\n"));
  CHECK(has(mail, "\nNext step: coffer overview\n"));
  world.make_backup();
  world.look();
  world.look_after(kAlertGoneMs);
  CHECK(has(script.left("mail"), "\nSubject: [coffer] Ended: The last scheduled backup failed.\n"));
}

TEST_CASE("one failing target does not delay the other") {
  Receiver receiver;
  receiver.otherwise({.status = 500});
  const Script script("cat >> $OUT/mail");
  World world([&](Config& config) {
    hooked(receiver)(config);
    mailed(script)(config);
  });
  world.fail_backup();
  world.look();
  const auto messages = world.messages(AlertCondition::backup_failed);
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].channel == MessageChannel::webhook);
  CHECK(messages[0].state == MessageState::waiting);
  CHECK(messages[1].channel == MessageChannel::email);
  CHECK(messages[1].state == MessageState::sent);
  CHECK(messages[1].recipient == "ops@bank.example");
}

TEST_CASE("without a target, alerts are still recorded") {
  World world;
  world.fail_backup();
  world.look();
  REQUIRE(world.alert(AlertCondition::backup_failed));
  CHECK(world.messages(AlertCondition::backup_failed).empty());
}

TEST_CASE("neither the log nor a list shows the path of the URL, or the secret") {
  Receiver receiver;
  World world(hooked(receiver));
  world.fail_backup();
  world.look();
  CHECK_FALSE(has(world.app.log(), "secret-path"));
  CHECK_FALSE(has(world.app.log(), "whsec_"));
  CHECK(world.messages(AlertCondition::backup_failed).at(0).recipient ==
        "http://127.0.0.1:" + std::to_string(receiver.port()));
}

TEST_CASE("after a restart, an alert about the ledger does not end before the file is verified") {
  Receiver receiver;
  World world(hooked(receiver));
  world.damage();
  world.look();
  REQUIRE(about(receiver, "ledger_damaged").size() == 1);
  world.app.restart();
  world.look();
  for (int i = 0; i < 10; ++i) world.look_after(kMinuteMs);
  CHECK(about(receiver, "ledger_damaged").size() == 1);
  CHECK_FALSE(world.alert(AlertCondition::ledger_damaged)->state.gone_at);
}

TEST_CASE("ended alerts are deleted after 90 days, open ones never") {
  World world;
  world.fail_backup();
  world.damage();
  world.look();
  world.make_backup();
  world.look();
  world.look_after(kAlertGoneMs);
  REQUIRE(world.alert(AlertCondition::backup_failed)->state.closed_at);
  world.app.clock.advance_ms(kAlertDays * kDayMs + 1);
  world.look();  // the daily repetition is a change, and a change deletes old rows
  CHECK_FALSE(world.alert(AlertCondition::backup_failed));
  CHECK(world.alert(AlertCondition::ledger_damaged));
}

TEST_CASE("a message to a target that the configuration no longer has is not sent") {
  Receiver receiver;
  receiver.otherwise({.status = 500});
  World world(hooked(receiver));
  world.fail_backup();
  world.look();
  Receiver other;
  world.app.restart([&](Config& config) { config.alert_webhook_url = other.url("/new"); });
  receiver.forget();
  world.look_after(kMinuteMs);
  CHECK(receiver.received().empty());
  CHECK(about(other, "backup_failed").empty());
  const auto message = world.messages(AlertCondition::backup_failed).at(0);
  CHECK(message.state == MessageState::recorded);
  CHECK(message.result == "The target is no longer configured.");
}

}  // namespace alerts_test
