// A command that waits for a second operator is validated when it is requested
// (docs/operating.md#four-eyes): a bad argument is refused at once at its field, and asking changes
// nothing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <set>

#include "cli/paths.h"
#include "cli/run/four_eyes.h"
#include "store/file/connection.h"
#include "support/unknown_id.h"
#include "unit/cli/admin_browser.h"

namespace four_eyes_refusals_test {
namespace {

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;
using coffer::test::kUnknownId;

/// One object of each kind, and an administrator who asks.
struct Desk {
  Desk() : site([](Config& config) { config.four_eyes = FourEyes::parse("all").value(); }) {
    for (const char* name : {"ada", "bob"}) site.add(name, OperatorRole::administrator);
    REQUIRE(ada.sign_in("ada", kPassword) == 204);
    for (const char* code : {"USDC", "EURC"}) make("asset add", {{"CODE", code}, {"name", code}});
    association = make("association create", {{"NAME", "Acme"}});
    application = make("application register", {{"name", "backend"}, {"association", association}});
    user = make("user add", {{"USERNAME", "ulla"}, {"association", association}});
    wallet = make("wallet create", {{"NAME", "Treasury"}, {"asset", "USDC"}});
    other = make("wallet create", {{"NAME", "Savings"}, {"asset", "USDC"}});
    make("wallet fund", {{"ID", wallet}, {"asset", "USDC"}, {"amount", "100"}});
    make("rate set", {{"SELL", "USDC"}, {"BUY", "EURC"}, {"RATE", "0.9"}});
    make("limit set", {{"wallet", other}, {"asset", "USDC"}, {"per-day", "50"}});
    connector = make("connector add", kPayoutConnector);
    beneficiary = make("beneficiary create", {{"type", "individual"},
                                              {"first-name", "Amina"},
                                              {"last-name", "Otieno"},
                                              {"method", "BANK"},
                                              {"country", "KE"},
                                              {"currency", "KES"},
                                              {"account-name", "Amina Otieno"},
                                              {"account-number", "0110555678"},
                                              {"bank-name", "Equity"},
                                              {"bank-code", "68"}});
    destination = site.file.run("beneficiary show", {{"ID", beneficiary}})
                      .json()
                      .at("destinations")
                      .at(0)
                      .at("id");
    webhook = make("webhook create", {{"URL", kUrl}, {"application", application}});
  }

  std::string make(const std::string& command, const std::map<std::string, std::string>& values) {
    const Ran ran = site.file.run(command, values);
    INFO(command << ": " << ran.err);
    REQUIRE(ran.code == 0);
    return ran.json().value("id", "");
  }
  http::Response ask(const std::string& command, const Json& body) {
    std::string path = command;
    std::ranges::replace(path, ' ', '/');
    return ada.post("/admin/api/run/" + path, body);
  }
  std::size_t requests() { return site.file.run("approval list").json().size(); }

  static constexpr const char* kUrl = "https://93.184.216.34/hook";
  Site site;
  Browser ada{site.site};
  std::string association, application, user, wallet, other, connector, beneficiary, destination,
      webhook;
};

/// What is asked for. Without `complete`, this file has not what the command needs.
struct Asked {
  std::string command;
  Json body = Json::object();
  bool complete = true;
};

std::vector<Asked> of_access(const Desk& desk) {
  const Json id{{"ID", desk.application}};
  const Json user{{"ID", desk.user}};
  const auto app = [&](Json more) {
    more.update(id);
    return more;
  };
  return {
      {"admin link"},
      {"application certificates", app({{"FINGERPRINTS", "none"}})},
      {"application networks", app({{"NETWORKS", "10.0.0.0/8"}})},
      {"application register", {{"name", "shop"}, {"association", desk.association}}},
      {"application resume", id},
      {"application rotate", id},
      {"application scopes", app({{"SCOPES", "wallets:read"}})},
      {"association activate", {{"ID", desk.association}}, false},
      {"association create", {{"NAME", "Other"}}},
      {"association set-quota", {{"ID", desk.association}, {"QUOTA", "wallets"}, {"LIMIT", "5"}}},
      {"backups download", {{"NAME", "none.db"}}, false},
      {"backups signature", {{"NAME", "none.db"}}, false},
      {"operator add", {{"NAME", "eve"}}},
      {"operator link", {{"NAME", "bob"}, {"subject", "s"}}, false},
      {"operator remove-passkey", {{"NAME", "bob"}, {"ID", kUnknownId}}, false},
      {"operator reset", {{"NAME", "bob"}}},
      {"operator resume", {{"NAME", "bob"}}},
      {"operator role", {{"NAME", "bob"}, {"role", "viewer"}}},
      {"operator token create", {{"NAME", "robot"}, {"expires", "2026-02-01"}}},
      {"operator unlink", {{"NAME", "bob"}}},
      {"user add", {{"USERNAME", "uwe"}, {"association", desk.association}}},
      {"user reset-otp", user},
      {"user reset-password", user},
      {"user resume", user},
      {"webhook create",
       {{"URL", "https://93.184.216.34/other"},
        {"application", desk.application},
        {"types", "payment.failed"}},
       false},
      {"webhook listen-secret", {{"association", desk.association}}},
      {"webhook rotate", {{"ID", desk.webhook}}},
      {"webhook update", {{"ID", desk.webhook}, {"description", "new"}}}};
}

std::vector<Asked> of_terms(const Desk& desk) {
  const auto with = [&](Json more) {
    more["ID"] = desk.connector;
    return more;
  };
  const Json fee{{"ASSOCIATION", desk.association}, {"CONNECTOR", desk.connector}, {"TYPE", "B2C"}};
  Json fixed = fee;
  fixed["fee-fixed"] = "1";
  const Json pair{{"SELL", "USDC"}, {"BUY", "EURC"}};
  Json rate = pair;
  rate["RATE"] = "0.8";
  Json more(kPayoutConnector);
  more.update(
      {{"NAME", "More"}, {"fee-fixed", "1"}, {"day-limit", "5000"}, {"month-limit", "50000"}});
  return {{"asset add", {{"CODE", "NEWC"}, {"name", "New"}}},
          {"asset liquidity", {{"CODE", "USDC"}, {"AMOUNT", "5"}}},
          {"connector add", more},
          {"connector limits",
           with({{"min", "2"}, {"max", "900"}, {"day-limit", "1000"}, {"month-limit", "10000"}})},
          {"connector require", with({{"NAME", "nationalId"}, {"label", "National ID"}})},
          {"connector resume", with({})},
          {"connector rotate-secret", with({}), false},
          {"connector set-decimals", with({{"DECIMALS", "2"}})},
          {"connector set-fee", with({{"fee-fixed", "1"}})},
          {"connector set-rate", with({{"RATE", "130"}})},
          {"connector set-tolerance",
           with({{"tolerance-bps", "10"}, {"rate", "130"}, {"fee-fixed", "1"}}), false},
          {"connector set-url", with({{"URL", "https://93.184.216.34"}}), false},
          {"connector unrequire", with({{"NAME", "nationalId"}})},
          {"fee remove", fee, false},
          {"fee set", fixed},
          {"limit remove", {{"wallet", desk.other}, {"asset", "USDC"}}},
          {"limit remove", {{"association", desk.association}, {"asset", "USDC"}}, false},
          {"limit remove", {{"application", desk.application}, {"asset", "USDC"}}, false},
          {"limit set",
           {{"wallet", desk.wallet},
            {"asset", "USDC"},
            {"per-payment", "5"},
            {"per-day", "10"},
            {"per-month", "100"}}},
          {"limit set", {{"association", desk.association}, {"asset", "USDC"}, {"per-day", "10"}}},
          {"limit set", {{"application", desk.application}, {"asset", "USDC"}, {"per-day", "10"}}},
          {"period close", {{"MONTH", "2030-01"}}, false},
          {"rate remove", pair},
          {"rate set", rate}};
}

std::vector<Asked> of_money(const Desk& desk) {
  const Json transfer{{"type", "p2p_own"},       {"application", desk.application},
                      {"wallet", desk.wallet},   {"to", desk.other},
                      {"asset", "USDC"},         {"amount", "5"},
                      {"transaction-id", "op-1"}};
  Json swap = transfer;
  swap.update({{"type", "swap_own"}, {"receive-asset", "EURC"}, {"min-receive", "1"}});
  const Json payout{{"application", desk.application},
                    {"wallet", desk.wallet},
                    {"beneficiary", desk.beneficiary},
                    {"destination", desk.destination},
                    {"connector", desk.connector},
                    {"amount", "10"},
                    {"purpose", "SALARY"},
                    {"source-of-funds", "SALARY"},
                    {"relationship", "EMPLOYEE"},
                    {"transaction-id", "op-2"}};
  const std::string rows =
      "transactionId,type,sourceWalletId,destinationWalletId,"
      "sendingAssetCode,amount\nb-1,p2p_own," +
      desk.wallet + "," + desk.other + ",USDC,1\n";
  return {
      {"apply", {{"FILE", Json{{"association", "Acme"}}.dump()}}},
      {"arrival assign", {{"ID", kUnknownId}, {"reference", "R"}}, false},
      {"arrival return", {{"ID", kUnknownId}, {"reason", "returned"}}, false},
      {"beneficiary create",
       {{"type", "business"},
        {"company-name", "Other"},
        {"association", desk.association},
        {"method", "none"}}},
      {"payment bulk", {{"FILE", rows}, {"application", desk.application}}},
      {"payment create", transfer},
      {"payment create", swap, false},
      {"payment create", payout},
      {"payment resolve",
       {{"ID", kUnknownId}, {"as", "succeeded"}, {"reason", "statement"}},
       false},
      {"payment reverse",
       {{"ID", kUnknownId}, {"transaction-id", "r-1"}, {"reason", "paid twice"}},
       false},
      {"wallet create", {{"NAME", "More"}, {"asset", "USDC"}, {"association", desk.association}}},
      {"wallet fund", {{"ID", desk.wallet}, {"asset", "USDC"}, {"amount", "5"}, {"reason", "x"}}}};
}

std::vector<Asked> all_of(const Desk& desk) {
  std::vector<Asked> out = of_access(desk);
  for (auto& more : {of_terms(desk), of_money(desk)}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

bool is_zero_fine(const Argument& argument) { return argument.name == "fee-fixed"; }

/// Values that can never be valid: no object, no asset, no amount or rate, no reason.
std::vector<std::string> bad_values(const Argument& argument) {
  const std::string_view list = offered_by(argument);
  const std::string_view kind = argument.is_positional() ? argument.name : argument.placeholder;
  if (list == "asset list") return {"NOPE", "no asset"};
  const bool is_id = kind == "ID" && argument.name != "transaction-id";
  if (is_id || (argument.is_positional() && argument.help.starts_with("ID of")))
    return {kUnknownId, "x"};
  if (list == "operator list") return {"missing"};
  if (list == "backups list") return {"other.db"};
  if (argument.name == "reason") {
    return argument.required ? std::vector<std::string>{"", " "} : std::vector<std::string>{" "};
  }
  std::vector<std::string> out;
  if (kind != "AMOUNT" && kind != "RATE") return out;
  out = {"-1", "1.1234567891", "x"};
  if (!is_zero_fine(argument)) out.emplace_back("0");
  return out;
}

/// Options that are in no example are tried with those of payments.
bool is_tried(const Asked& asked, const std::string& name) {
  return asked.body.contains(name) || asked.command == "payment reverse" ||
         asked.command == "payment resolve" ||
         (name == "quote" && asked.body.contains("connector"));
}
/// Without an identity provider, and without a payment, what else is unknown is not looked for.
bool is_second(const Asked& asked, const std::string& name, const std::string& bad) {
  return asked.command == "operator link" || (name == "refund" && bad == kUnknownId);
}

/// The fields that the problem names.
std::set<std::string> fields_of(const http::Response& response) {
  std::set<std::string> out;
  const Json body = Json::parse(response.body);
  for (const Json& error : body.value("errors", Json::array())) out.insert(error.at("field"));
  return out;
}

/// The content of every table, but for requests, the audit log, sign-ins, and quotes with their
/// quota, which a preview stores.
std::map<std::string, std::string> contents(const std::string& path) {
  store::Connection db(path, store::OpenMode::read_only);
  std::deque<std::string> kept;  // statements are known by their address
  const auto text_of = [&](std::string sql) {
    store::Query query(db, kept.emplace_back(std::move(sql)).c_str());
    return query.step() ? std::string(query.text(0)) : std::string();
  };
  std::map<std::string, std::string> out;
  const std::set<std::string> leave = {"approvals", "audit_log",       "meta",
                                       "row_macs",  "sealed_totals",   "quotes",
                                       "operators", "sign_in_sources", "quota_use"};
  store::Query tables(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  while (tables.step()) {
    const std::string table(tables.text(0));
    if (leave.contains(table)) continue;
    const std::string columns = text_of(
        "SELECT group_concat('quote(' || name || ')', ' || ')"
        " FROM pragma_table_info('" +
        table + "')");
    out[table] = text_of("SELECT coalesce(group_concat(" + columns + "), '') FROM " + table);
  }
  return out;
}

}  // namespace

TEST_CASE("approvals: a bad argument is refused before it becomes a request, at its field",
          "[cli][four-eyes]") {
  Desk desk;
  const auto all = all_of(desk);
  std::set<std::string> waiting;
  for (const Command& command : commands()) {
    if (is_under_four_eyes(command) && is_for_the_page(command)) waiting.emplace(command.path);
  }
  std::set<std::string> known;
  for (const Asked& asked : all) known.insert(asked.command);
  CHECK(known == waiting);
  std::size_t tried = 0;
  std::set<std::pair<std::string, std::string_view>> seen;
  for (const Asked& asked : all) {
    for (const Argument& argument : find_command(asked.command)->arguments) {
      const std::string name(argument.name);
      if (!is_tried(asked, name)) continue;
      seen.emplace(asked.command, argument.name);
      for (const std::string& bad : bad_values(argument)) {
        if (is_second(asked, name, bad)) continue;
        Json body = asked.body;
        body[name] = bad;
        const auto refused = desk.ask(asked.command, body);
        INFO(asked.command << " " << argument.spelled() << " \"" << bad << "\"");
        INFO(refused.body);
        CHECK(refused.status >= 400);
        CHECK(refused.status < 500);
        CHECK(fields_of(refused).contains(name));
        ++tried;
      }
    }
  }
  CHECK(desk.requests() == 0);
  CHECK(tried > 150);
  // Each such argument of each command was tried.
  for (const Asked& asked : all) {
    for (const Argument& argument : find_command(asked.command)->arguments) {
      if (bad_values(argument).empty()) continue;
      INFO(asked.command << " " << argument.spelled());
      CHECK(seen.contains({asked.command, argument.name}));
    }
  }
}

TEST_CASE("approvals: what can run becomes a request, and changes nothing", "[cli][four-eyes]") {
  Desk desk;
  const auto before = contents(desk.site.file.path());
  std::size_t requests = 0;
  for (const Asked& asked : all_of(desk)) {
    const auto answer = desk.ask(asked.command, asked.body);
    INFO(asked.command << ": " << answer.body);
    CHECK((answer.status == 202) == asked.complete);
    if (answer.status == 202) ++requests;
    CHECK(desk.requests() == std::min<std::size_t>(requests, 20));
  }
  CHECK(requests > 40);
  for (const auto& [table, rows] : contents(desk.site.file.path())) {
    INFO(table);
    CHECK(rows == before.at(table));
  }
  // A refused request is in the audit log like any command that fails.
  CHECK(desk.site.acts("period close", "conflict").size() == 1);
}

TEST_CASE("approvals: what is in memory is as before a command was asked for", "[cli][four-eyes]") {
  Desk desk;
  // The writer has read the wallet and the asset. What it tried must not stay there.
  for (const Json& body : {Json{{"ID", desk.wallet}, {"asset", "USDC"}, {"amount", "7"}},
                           Json{{"ID", desk.wallet}, {"asset", "USDC"}, {"amount", "9"}}}) {
    CHECK(desk.ask("wallet fund", body).status == 202);
  }
  CHECK(desk.ask("asset liquidity", {{"CODE", "USDC"}, {"AMOUNT", "11"}}).status == 202);
  desk.make("wallet fund", {{"ID", desk.wallet}, {"asset", "USDC"}, {"amount", "1"}});
  CHECK(desk.site.file.run("wallet show", {{"ID", desk.wallet}})
            .json()
            .at("balances")
            .at(0)
            .at("balance") == "101.00");
  CHECK(desk.site.file.run("verify").code == 0);
}

}  // namespace four_eyes_refusals_test
