// coffer events, trigger and webhook, as the server runs them.
#include <catch2/catch.hpp>

#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "cli/webhooks/event_line.h"
#include "cli/webhooks/webhooks.h"
#include "flows/webhooks/webhook_changes.h"
#include "outbound/webhooks/webhook_signature.h"
#include "store/identity/tenants.h"
#include "support/unknown_id.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::test::kUnknownId;

namespace events_test {
namespace {

/// A file with one association, and an endpoint for payment.failed.
struct World {
  World() {
    association = file.run("association create", {{"NAME", "Acme"}}).json().at("id");
    file.run("application register", {{"name", "a"}, {"association", association}});
    webhook = add_webhook(EventType::payment_failed);
  }

  std::string add_webhook(EventType type) {
    const auto made = store::with_reader(
        file.app().database(),
        [&](store::Connection& db) -> Result<std::pair<Tenant, std::int64_t>> {
          return std::pair(
              *store::find_tenant(db, *AssociationId::parse(association), Environment::sandbox),
              store::list_applications(db).front().key);
        });
    flows::NewWebhook asked;
    asked.application = made->second;
    asked.url = "https://93.184.216.34/hooks";
    asked.types = EventTypeSet().with(type);
    const auto row = flows::register_webhook(file.app().flows(), made->first, asked);
    REQUIRE(row);
    return row->webhook.id.to_string();
  }
  Ran run(const std::string& command, std::map<std::string, std::string> arguments = {}) {
    return file.run(command, arguments);
  }
  std::string trigger(const std::string& type) {
    const Ran ran = run("trigger", {{"TYPE", type}});
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    return ran.json().at("eventId");
  }

  OpenFile file;
  std::string association;
  std::string webhook;
};

}  // namespace

TEST_CASE("trigger: only events of the sandbox", "[cli]") {
  World world;
  const std::string id = world.trigger("payment.failed");
  const auto listed = world.run("events list").json();
  REQUIRE(listed.size() == 1);
  CHECK(listed.at(0).at("id") == id);
  CHECK(listed.at(0).at("type") == "payment.failed");
  CHECK(listed.at(0).at("sequence") == 1);
  CHECK(listed.at(0).at("test") == true);
  const auto received = [&](const std::string& type) {
    return world.run("trigger", {{"TYPE", type}}).json().at("webhookId");
  };
  CHECK(received("payment.failed") == world.webhook);
  CHECK(received("payment.succeeded").is_null());
  const auto said = [&](const std::string& type) {
    return world.file.run("trigger", {{"TYPE", type}}, false).err;
  };
  CHECK(said("payment.failed").empty());
  CHECK(said("payment.succeeded").find("No active webhook of the sandbox subscribes") == 0);
  CHECK(said("payment.succeeded").find("only a running coffer listen receives the event") !=
        std::string::npos);
  REQUIRE(world.run("webhook disable", {{"ID", world.webhook}}).code == 0);
  CHECK(received("payment.failed").is_null());
  const Ran none = world.run("trigger", {{"TYPE", "payment.paid"}});
  CHECK(none.code == exit_code::kUsage);
  CHECK(none.err.find("payment.succeeded") != std::string::npos);
}

TEST_CASE("events list: latest last, oldest first after a sequence, filtered by type", "[cli]") {
  World world;
  for (const char* type : {"payment.failed", "payment.succeeded", "payment.failed"}) {
    world.trigger(type);
  }
  const auto sequences = [&](std::map<std::string, std::string> arguments) {
    std::vector<int> out;
    for (const auto& row : world.run("events list", arguments).json()) {
      out.push_back(row.at("sequence"));
    }
    return out;
  };
  CHECK(sequences({}) == std::vector{1, 2, 3});
  CHECK(sequences({{"limit", "2"}}) == std::vector{2, 3});
  CHECK(sequences({{"after", "0"}, {"limit", "2"}}) == std::vector{1, 2});
  CHECK(sequences({{"after", "2"}}) == std::vector{3});
  CHECK(sequences({{"type", "payment.failed"}}) == std::vector{1, 3});
  CHECK(sequences({{"environment", "production"}}).empty());
  CHECK(world.run("events list", {{"after", "x"}}).code == exit_code::kUsage);
  CHECK(world.run("events list", {{"limit", "0"}}).code == exit_code::kUsage);
}

TEST_CASE("events: with several associations, the option is required", "[cli]") {
  World world;
  world.trigger("payment.failed");
  world.run("association create", {{"NAME", "Other"}});
  const Ran unsaid = world.run("events list");
  CHECK(unsaid.code == exit_code::kUsage);
  CHECK(unsaid.err.find("--association") != std::string::npos);
  CHECK(world.run("events list", {{"association", world.association}}).json().size() == 1);
  CHECK(world.run("events list", {{"association", kUnknownId}}).code == exit_code::kFailed);
}

TEST_CASE("events show: the body as it is delivered", "[cli]") {
  World world;
  const std::string id = world.trigger("payment.failed");
  const auto shown = world.run("events show", {{"ID", id}}).json();
  const auto body = nlohmann::json::parse(shown.at("body").get<std::string>());
  CHECK(body.at("id") == id);
  CHECK(body.at("data").at("status") == "failed");
  CHECK(shown.at("environment") == "sandbox");
  CHECK(shown.at("amount") == "10.00 USDC");
  CHECK(world.run("events show", {{"ID", kUnknownId}}).code == exit_code::kFailed);
}

TEST_CASE("events resend: to all subscribed webhooks, or to a given one", "[cli]") {
  World world;
  const std::string id = world.trigger("payment.failed");
  world.file.app().background().deliver_once();  // queues it; there is no server
  const auto log = world.run("webhook deliveries", {{"ID", world.webhook}}).json();
  REQUIRE(log.size() == 1);
  CHECK(log.at(0).at("eventId") == id);

  const auto again = world.run("events resend", {{"ID", id}}).json();
  REQUIRE(again.size() == 1);
  CHECK(again.at(0).at("webhookId") == world.webhook);
  CHECK(world.run("events resend", {{"ID", id}, {"webhook", world.webhook}}).json().size() == 1);
  CHECK(world.run("events resend", {{"ID", id}, {"webhook", kUnknownId}}).code ==
        exit_code::kFailed);
  CHECK(world.run("events resend", {{"ID", kUnknownId}}).code == exit_code::kFailed);

  // Registered after it happened.
  const std::string other = world.trigger("payment.succeeded");
  CHECK(world.run("events resend", {{"ID", other}}).json().empty());
  const Ran unsent = world.file.run("events resend", {{"ID", other}}, false);
  CHECK(unsent.out.empty());
  CHECK(unsent.err ==
        "Nothing was sent: no active webhook subscribes to events of the type payment.succeeded. "
        "List webhooks with coffer webhook list.\n");
  const std::string late = world.add_webhook(EventType::payment_succeeded);
  CHECK(world.run("webhook deliveries", {{"ID", late}}).json().empty());
  CHECK(world.run("events resend", {{"ID", other}}).json().at(0).at("webhookId") == late);
  const auto queued = world.run("webhook deliveries", {{"ID", late}}).json();
  REQUIRE(queued.size() == 1);
  CHECK(queued.at(0).at("status") == "pending");
}

TEST_CASE("webhook: list, test and recover", "[cli]") {
  World world;
  const auto listed = world.run("webhook list").json();
  REQUIRE(listed.size() == 1);
  CHECK(listed.at(0).at("id") == world.webhook);
  CHECK(listed.at(0).at("eventTypes") == "payment.failed");
  CHECK(listed.at(0).at("status") == "active");
  CHECK_FALSE(listed.at(0).contains("secret"));
  CHECK(world.run("webhook list", {{"status", "disabled"}}).json().empty());
  CHECK(world.run("webhook list", {{"environment", "production"}}).json().empty());
  CHECK(world.run("webhook test", {{"ID", world.webhook}}).json().at("type") == "webhook.test");
  CHECK(world.run("webhook test", {{"ID", kUnknownId}}).code == exit_code::kFailed);
  const auto recovered =
      world.run("webhook recover", {{"ID", world.webhook}, {"from", "2025-12-31"}}).json();
  CHECK(recovered.at("status") == "accepted");
  CHECK(world.run("webhook recover", {{"ID", world.webhook}, {"from", "soon"}}).code ==
        exit_code::kUsage);
  CHECK(world
            .run("webhook recover",
                 {{"ID", world.webhook}, {"from", "2026-01-02"}, {"to", "2026-01-01"}})
            .code == exit_code::kUsage);
}

TEST_CASE("webhook: create, change, rotate, and show a delivery", "[cli]") {
  World world;
  const std::string application = world.run("application list").json().at(0).at("id");
  const std::string url = "https://93.184.216.34/other";
  const auto create = [&](const std::string& types) {
    return world.run("webhook create",
                     {{"URL", url}, {"application", application}, {"types", types}});
  };
  CHECK(create("payment.failed").err.find("payment.failed") != std::string::npos);  // is taken
  CHECK(create("payment.paid").code == exit_code::kUsage);
  const Ran made = create("payment.succeeded,payment.refunded");
  INFO(made.err);
  REQUIRE(made.code == 0);
  CHECK(is_webhook_secret(made.json().at("signingSecret").get<std::string>()));
  CHECK(made.json().at("eventTypes") == "payment.succeeded,payment.refunded");
  const std::string id = made.json().at("id");
  const auto change = [&](const std::string& name, const std::string& value) {
    return world.run("webhook update", {{"ID", id}, {name, value}});
  };
  CHECK(change("description", "Core banking").json().at("description") == "Core banking");
  CHECK(change("types", "payment.succeeded").json().at("eventTypes") == "payment.succeeded");
  CHECK(change("url", "https://93.184.216.34/third").json().at("description") == "Core banking");
  CHECK(change("url", std::string(3'000, 'x')).code == exit_code::kUsage);
  const Ran rotated = world.run("webhook rotate", {{"ID", id}, {"overlap", "60"}});
  CHECK(rotated.json().at("signingSecret") != made.json().at("signingSecret"));
  CHECK(world.run("webhook rotate", {{"ID", id}, {"overlap", "x"}}).code == exit_code::kUsage);

  const std::string event = world.trigger("payment.succeeded");
  world.file.app().background().deliver_once();
  const Ran shown = world.run("webhook delivery", {{"ID", id}, {"EVENT", event}});
  INFO(shown.err);
  REQUIRE(shown.code == 0);
  CHECK(shown.json().at("type") == "payment.succeeded");
  CHECK(shown.json().at("attempts").is_array());
  CHECK(shown.json().at("body").get<std::string>().find(event) != std::string::npos);
  CHECK(world.run("webhook delivery", {{"ID", id}, {"EVENT", kUnknownId}}).code ==
        exit_code::kFailed);
  CHECK(world.run("webhook create", {{"URL", url}, {"application", kUnknownId}}).code ==
        exit_code::kFailed);
}

TEST_CASE("events follow: requires a running server", "[cli]") {
  World world;
  const Ran ran = world.run("events follow");
  CHECK(ran.code == exit_code::kUnreachable);
  CHECK(ran.err.find("coffer demo") != std::string::npos);
}

TEST_CASE("the secret of listen is stable and different for each tenant", "[cli]") {
  World world;
  const auto secret = [&](const std::string& environment) {
    return world.run("webhook listen-secret", {{"environment", environment}})
        .json()
        .at("secret")
        .get<std::string>();
  };
  const std::string first = secret("sandbox");
  CHECK(is_webhook_secret(first));
  world.file.reopen();
  CHECK(secret("sandbox") == first);
  CHECK(secret("production") != first);
}

TEST_CASE("an event is printed as one line", "[cli]") {
  const auto line = [](const char* data) {
    return event_line(
        R"({"id":"e","type":"t","sequence":7,"timestamp":"2026-01-31T09:08:07.006Z","data":)" +
        std::string(data) + "}");
  };
  CHECK(line(R"({"id":"p","sendingAmount":"1.50","sendingAssetCode":"USDC"})")->amount ==
        "1.50 USDC");
  CHECK(line(R"({"id":"p","receivingAmount":"2","receivingAssetCode":"JPY"})")->amount == "2 JPY");
  CHECK(line(R"({"legs":[{},{},{}]})")->amount == "3 legs");
  CHECK(line(R"({})")->amount.empty());
  CHECK(line(R"({"id":"p"})")->subject == "p");
  CHECK(time_of_day(line("{}")->at) == "09:08:07.006");
  for (const char* bad : {"", "[]", "{}", "{\"data\":{}}", "no"}) CHECK_FALSE(event_line(bad));
}

namespace {

const Secret kSecret{"whsec_" + to_base64(std::string(32, 'k'))};
constexpr Timestamp kSent{1'767'225'600'000};

SavedDelivery delivery() {
  SavedDelivery out;
  out.body = R"({"id":"e","n":1})";
  int known = 0;
  for (const auto& [name, value] : outbound::delivery_headers("e", kSent, out.body, {kSecret})) {
    known += out.set_header(name, value) ? 1 : 0;
  }
  CHECK(known == 6);
  return out;
}

}  // namespace

TEST_CASE("webhook verify: checks both signatures, and explains a failure", "[cli]") {
  struct Row {
    const char* name;
    std::function<void(SavedDelivery&)> change;
    const char* standard;  // part of the reason; nullptr: verified
    const char* contract;
    std::int64_t late_ms = 1'000;
    const char* secret = nullptr;
  };
  const std::vector<Row> rows = {
      {"as sent", [](auto&) {}, nullptr, nullptr},
      {"another secret", [](auto&) {}, "different secret (the body is unchanged)", nullptr, 0,
       "whsec_eHh4eHh4"},
      {"stale", [](auto&) {}, "400 s ago", "400 s ago", 400'000},
      {"from the future", [](auto&) {}, "in the future", "in the future", -400'000},
      {"changed body", [](auto& d) { d.body[5] = 'X'; }, "the body", "the body"},
      {"a newline", [](auto& d) { d.body += "\n"; }, "newline", "newline"},
      {"a newline of Windows", [](auto& d) { d.body += "\r\n"; }, "newline", "newline"},
      {"another timestamp", [](auto& d) { d.webhook_timestamp = "1767225601"; },
       "webhook-timestamp differs", nullptr},
      {"another id", [](auto& d) { d.webhook_id = "f"; }, "webhook-id differs", nullptr},
      {"another id for the contract", [](auto& d) { d.svc_id = "f"; }, nullptr,
       "(or X-Webhook-Id) differs"},
      {"no signature", [](auto& d) { d.webhook_signature.clear(); }, "the header is missing",
       nullptr},
      {"no id", [](auto& d) { d.webhook_id.clear(); }, "webhook-id is missing", nullptr},
      {"no time", [](auto& d) { d.webhook_timestamp = "today"; }, "webhook-timestamp is missing",
       nullptr},
      {"only Standard Webhooks", [](auto& d) { d.svc_signature.clear(); }, nullptr,
       "the header is missing"},
      {"only that, changed",
       [](auto& d) {
         d.svc_signature.clear();
         d.body[5] = 'X';
       },
       "a different secret, or a changed body", "the header is missing"},
      {"one of two secrets", [](auto& d) { d.webhook_signature.insert(0, "v1,AAAA "); }, nullptr,
       nullptr}};
  for (const Row& row : rows) {
    INFO(row.name);
    SavedDelivery saved = delivery();
    row.change(saved);
    const Secret secret = row.secret == nullptr ? kSecret : Secret(row.secret);
    const auto verdicts = judge_delivery(saved, secret, kSent.plus_ms(row.late_ms), 300);
    REQUIRE(verdicts.size() == 2);
    const char* const expected[] = {row.standard, row.contract};
    for (std::size_t i = 0; i < 2; ++i) {
      INFO(verdicts[i].header << ": " << verdicts[i].reason);
      CHECK(verdicts[i].verified == (expected[i] == nullptr));
      if (expected[i] != nullptr) {
        CHECK(verdicts[i].reason.find(expected[i]) != std::string::npos);
      }
    }
  }
  // No limit of age.
  CHECK(judge_delivery(delivery(), kSecret, kSent.plus_ms(86'400'000), 0).front().verified);
}

}  // namespace events_test
