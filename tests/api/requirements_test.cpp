// A connector's requirements for a submission, as fields and as a JSON Schema.
#include <catch2/catch.hpp>
#include <memory>
#include <set>

#include "base/thread.h"
#include "flows/providers/connector_changes.h"
#include "store/database.h"
#include "store/providers/connectors.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/scenario.h"
#include "support/test_app.h"
#include "unit/store/busy_writer.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kRequirements = "/v1/payments/requirements";

std::vector<Requirement> everything() {
  return {
      {.name = "accountType",
       .label = "Account type",
       .description = "Of the recipient",
       .choices = {{"CURRENT", "Current"}, {"SAVINGS", "Savings"}}},
      {.name = "nationalId",
       .label = "National id",
       .pattern = "[0-9]{8}",
       .min_length = 8,
       .max_length = 8,
       .types = 0b0100},
      {.name = "income", .type = Requirement::Type::number, .required = false, .label = "Income"},
      {.name = "resident", .type = Requirement::Type::boolean, .label = "Resident"}};
}

std::string connector(TestApp& app) {
  flows::NewConnector spec = payout_connector();
  spec.terms.types = 0b1100;  // B2C and B2B
  spec.requirements = everything();
  return add_connector(app, spec);
}

/// Without a pattern, the present one stays.
RequirementChange change_of(const char* name, const std::optional<std::string>& pattern) {
  RequirementChange out;
  out.set<&Requirement::name>(name);
  if (pattern) out.set<&Requirement::pattern>(*pattern);
  return out;
}

}  // namespace

TEST_CASE("the requirements of a connector for a transaction type") {
  TestApp app;
  const std::string id = connector(app);
  const Reply reply = app.me().get(kRequirements + "?connectorId=" + id + "&transactionType=b2c");
  INFO(reply.text());
  REQUIRE(reply.status == 200);
  const Json body = reply.json();
  CHECK(body.at("connectorId") == id);
  CHECK(body.at("transactionType") == "B2C");
  REQUIRE(body.at("fields").size() == 4);
  CHECK(body.at("fields")[0] == Json{{"name", "accountType"},
                                     {"path", "additionalFields.accountType"},
                                     {"type", "string"},
                                     {"required", true},
                                     {"label", "Account type"},
                                     {"description", "Of the recipient"},
                                     {"minLength", 1},
                                     {"maxLength", 200},
                                     {"choices",
                                      {{{"code", "CURRENT"}, {"label", "Current"}},
                                       {{"code", "SAVINGS"}, {"label", "Savings"}}}}});
  CHECK(body.at("fields")[1].at("pattern") == "[0-9]{8}");
  CHECK(body.at("fields")[2].at("type") == "number");
  CHECK(body.at("fields")[2].at("required") == false);
  CHECK(body.at("fields")[3].at("type") == "boolean");

  const Json schema = body.at("jsonSchema");
  CHECK(schema.at("$schema") == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema.at("required") == Json{"additionalFields"});
  const Json fields = schema.at("properties").at("additionalFields");
  CHECK(fields.at("additionalProperties") == false);
  CHECK(fields.at("required") == Json{"accountType", "nationalId", "resident"});
  CHECK(fields.at("properties").at("accountType").at("enum") == Json{"CURRENT", "SAVINGS"});
  CHECK(fields.at("properties").at("nationalId").at("pattern") == "^(?:[0-9]{8})$");
  CHECK(fields.at("properties").at("nationalId").at("maxLength") == 8);
}

TEST_CASE("requirements follow the transaction type") {
  TestApp app;
  const std::string id = connector(app);
  const auto read = [&](const std::string& query) {
    return app.me().get(kRequirements + "?connectorId=" + id + query).json();
  };
  CHECK(read("&transactionType=B2B").at("fields").size() == 3);
  // Without a type: all fields; those that every type of the connector requires are required.
  const Json any = read("");
  CHECK(any.at("transactionType").is_null());
  CHECK(any.at("fields").size() == 4);
  CHECK(any.at("fields")[0].at("required") == true);
  CHECK(any.at("fields")[1].at("required") == false);
  const Json none = app.me().get(kRequirements + "?connectorId=" + add_connector(app)).json();
  CHECK(none.at("fields").empty());
  CHECK_FALSE(none.at("jsonSchema").contains("required"));
}

TEST_CASE("invalid requests for requirements") {
  TestApp app;
  const std::string id = connector(app);
  const auto row = [](const char* name, const std::string& query, int status, const char* slug,
                      std::vector<std::string> fields) {
    return Scenario{name, kRequirements + query, "", status, slug, std::move(fields), {}, "GET"};
  };
  run_scenarios(app.me(),
                {row("no connector", "", 400, "malformed-request", {"connectorId"}),
                 row("no id", "?connectorId=x", 400, "malformed-request", {"connectorId"}),
                 row("no type", "?connectorId=" + id + "&transactionType=x", 400,
                     "malformed-request", {"transactionType"}),
                 row("a type it does not take", "?connectorId=" + id + "&transactionType=C2C", 422,
                     "validation-failed", {"transactionType"}),
                 row("unknown", "?connectorId=" + app.random.uuid_v7(app.clock.now()).to_string(),
                     404, "not-found", {})});
}

TEST_CASE("a submission is checked against the requirements at its execution") {
  TestApp app;
  const std::string id = connector(app);
  const std::string wallet = app.wallet("USDC", "1000");
  const std::string recipient = add_recipient(app.me());
  Json body = cash_out_body(quote_for(app.me(), id, recipient), wallet, recipient);
  body["additionalFields"] = {
      {"accountType", "CURRENT"}, {"nationalId", "12345678"}, {"resident", true}};
  const RequirementChange stricter = change_of("nationalId", "[0-7]{8}");
  Reply reply;
  {
    store::test::BusyWriter busy(app.core().queue());
    Thread change("change", [&] {
      flows::require_field(app.flows(), *ConnectorId::parse(id), stricter).value();
    });
    busy.gathered(1);
    Thread submit("submit", [&] { reply = app.me().post("/v1/payments/offramp", body); });
    busy.gathered(2);
    busy.open();
    change.join();
    submit.join();
  }
  INFO(reply.text());
  CHECK(reply.status == 422);
  CHECK(reply.fields() == std::vector<std::string>{"additionalFields.nationalId"});
  body["additionalFields"]["nationalId"] = "12345670";
  CHECK(app.me().post("/v1/payments/offramp", body).status == 202);
}

TEST_CASE("fields that are required and removed at the same time all take effect") {
  TestApp app;
  const std::string id = connector(app);
  const ConnectorId connector_id = *ConnectorId::parse(id);
  {
    store::test::BusyWriter busy(app.core().queue());
    std::vector<std::unique_ptr<Thread>> commands;
    for (const char* name : {"a", "b", "c", "d"}) {
      commands.push_back(std::make_unique<Thread>("require", [&app, connector_id, name] {
        flows::require_field(app.flows(), connector_id, change_of(name, {})).value();
      }));
    }
    commands.push_back(std::make_unique<Thread>("unrequire", [&app, connector_id] {
      flows::unrequire_field(app.flows(), connector_id, "nationalId").value();
    }));
    busy.gathered(static_cast<int>(commands.size()));
    busy.open();
    for (const auto& command : commands) command->join();
  }
  const auto all = store::with_reader(app.core().database(), [&](store::Connection& db) {
                     const auto row = store::find_connector_of_any(db, connector_id);
                     return Result(store::requirements_of(db, row->terms.key));
                   }).value();
  std::set<std::string> names;
  for (const Requirement& one : all) names.insert(one.name);
  for (const char* name : {"a", "b", "c", "d"}) CHECK(names.contains(name));
  CHECK_FALSE(names.contains("nationalId"));
  CHECK(all.size() == everything().size() - 1 + 4);
}

TEST_CASE("a requirement whose pattern does not compile is rejected") {
  TestApp app;
  flows::NewConnector spec = payout_connector();
  for (const char* pattern : {"[", "(a", "a{3,1}", "(?=a)b", "(a)\\1"}) {
    INFO(pattern);
    spec.requirements = {{.name = "nationalId", .label = "National id", .pattern = pattern}};
    const auto registered = flows::register_connector(app.flows(), spec);
    REQUIRE_FALSE(registered);
    CHECK(registered.error().slug == Slug::validation_failed);
    const auto set = flows::require_field(app.flows(), *ConnectorId::parse(connector(app)),
                                          change_of("nationalId", pattern));
    REQUIRE_FALSE(set);
    CHECK(set.error().slug == Slug::validation_failed);
  }
}
