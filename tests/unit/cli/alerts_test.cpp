// coffer alert: listing alerts, and testing their targets.
#include <catch2/catch.hpp>
#include <sstream>

#include "base/platform/exit_code.h"
#include "cli/command.h"
#include "domain/operations/alert.h"
#include "store/operations/copies.h"
#include "support/receiver.h"
#include "support/script.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::test::Receiver;
using coffer::test::Script;

namespace {

constexpr const char* kSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

std::function<void(Config&)> targets(const Receiver& receiver, const Script& script) {
  return [&](Config& config) {
    config.alert_webhook_url = receiver.url("/secret-path");
    config.alert_webhook_secret = Secret(kSecret);
    config.alert_email = "ops@bank.example";
    config.notify_sendmail = script.path();
    config.notify_from = "gateway@bank.example";
  };
}

void fail_backup(OpenFile& file) {
  file.app()
      .queue()
      .run([](store::WriteTx& tx) -> Result<void> {
        store::record_backup_failure(tx, "The disk is full.");
        return {};
      })
      .value();
}

nlohmann::json alert_of(const Ran& ran, const std::string& condition) {
  for (const auto& row : ran.json()) {
    if (row.at("condition") == condition) return row;
  }
  return nullptr;
}

void check_command(const std::string& line) {
  INFO(line);
  std::istringstream words(line);
  std::string word, path;
  words >> word;
  REQUIRE(word == "coffer");
  Arguments arguments;
  while (words >> word && !word.starts_with("--")) path += (path.empty() ? "" : " ") + word;
  for (; words && word.starts_with("--"); words >> word) {
    const std::string option = word.substr(2);
    REQUIRE(words >> word);
    arguments.values[option] = word;
  }
  CHECK_FALSE(words);
  const Command* command = find_command(path);
  REQUIRE(command != nullptr);
  CHECK(check_arguments(*command, arguments));
}

}  // namespace

TEST_CASE("alert list shows alerts with their messages, and filters by state") {
  Receiver receiver;
  const Script script("cat > /dev/null; exit 75");
  OpenFile file(targets(receiver, script));
  CHECK(file.run("alert list").json().empty());
  fail_backup(file);
  file.app().background().send_messages_once();
  const Ran ran = file.run("alert list");
  const auto row = alert_of(ran, "backup_failed");
  REQUIRE(row.is_object());
  CHECK(row.at("summary") == "The last scheduled backup failed.");
  CHECK(row.at("state") == "open");
  CHECK(row.at("endedAt").is_null());
  const auto& messages = row.at("messages");
  REQUIRE(messages.size() == 2);
  CHECK(messages[0].at("channel") == "webhook");
  CHECK(messages[0].at("target") == "http://127.0.0.1:" + std::to_string(receiver.port()));
  CHECK(messages[0].at("state") == "sent");
  CHECK(messages[0].at("dueAt").is_null());
  CHECK(messages[0].at("closedAt").is_string());
  CHECK(messages[1].at("channel") == "email");
  CHECK(messages[1].at("target") == "ops@bank.example");
  CHECK(messages[1].at("state") == "waiting");
  CHECK(messages[1].at("attempts") == 1);
  CHECK(messages[1].at("dueAt").is_string());
  CHECK(messages[1].at("closedAt").is_null());
  CHECK(messages[1].at("result") == "sendmail exited with 75.");
  const Ran plain = file.run("alert list", {}, false);
  CHECK(plain.code == exit_code::kDone);
  for (const std::string& text : {ran.out, plain.out}) {
    CHECK(text.find("secret-path") == std::string::npos);
    CHECK(text.find("whsec_") == std::string::npos);
  }
  CHECK(alert_of(file.run("alert list", {{"state", "open"}}), "backup_failed").is_object());
  CHECK(alert_of(file.run("alert list", {{"state", "ended"}}), "backup_failed").is_null());
}

TEST_CASE("alert list has pages, newest first") {
  OpenFile file;
  fail_backup(file);
  file.app().background().send_messages_once();
  file.app().background().note_verification(false);
  file.app().background().send_messages_once();
  const Ran first = file.run("alert list", {{"limit", "1"}});
  REQUIRE(first.json().size() == 1);
  const Ran all = file.run("alert list");
  REQUIRE(all.json().size() >= 2);
  CHECK(first.json().front() == all.json().front());
}

TEST_CASE("alert test sends to each target and reports the result") {
  Receiver receiver;
  const Script script("cat > $OUT/mail");
  OpenFile file(targets(receiver, script));
  const Ran ran = file.run("alert test");
  CHECK(ran.code == exit_code::kDone);
  REQUIRE(ran.json().size() == 2);
  for (const auto& row : ran.json()) CHECK(row.at("sent") == true);
  REQUIRE(receiver.count() == 1);
  CHECK(receiver.received().front().json().at("type") == "alert.test");
  CHECK(script.left("mail").find("Subject: [coffer] Test\n") != std::string::npos);
  CHECK(file.run("alert list").json().empty());

  receiver.otherwise({.status = 403});
  const Ran rejected = file.run("alert test");
  CHECK(rejected.code == exit_code::kFailed);
  CHECK(rejected.json()[0].at("sent") == false);
  CHECK(rejected.json()[0].at("result") == "The endpoint responded with 403.");
  CHECK(rejected.json()[1].at("sent") == true);
}

TEST_CASE("alert test without a target names the settings") {
  OpenFile file;
  const Ran ran = file.run("alert test");
  CHECK(ran.code != exit_code::kDone);
  CHECK(ran.err.find("alert_webhook_url") != std::string::npos);
}

TEST_CASE("the next step of each condition is commands with valid arguments, as for a shell") {
  for (std::size_t i = 0; i < terms<AlertCondition>().size(); ++i) {
    std::string rest(alert_rule(static_cast<AlertCondition>(i)).next);
    for (auto end = rest.find("; "); end != std::string::npos; end = rest.find("; ")) {
      check_command(rest.substr(0, end));
      rest.erase(0, end + 2);
    }
    check_command(rest);
  }
}
