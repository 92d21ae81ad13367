#include "flows/identity/operators.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/platform/exit_code.h"
#include "flows/identity/operator_sign_in.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;

namespace {

const Secret kPassword("correct horse battery");
const flows::SignInSource kHere{"127.0.0.1", "127.0.0.1"};

/// The secret inside the address of a one-time link.
std::string secret_of(const std::string& address) {
  const std::string mark = "#claim=";
  const auto at = address.find(mark);
  REQUIRE(at != std::string::npos);
  return address.substr(at + mark.size());
}

std::string admin_link(OpenFile& file) {
  return secret_of(file.run("admin link").json().at("link"));
}

}  // namespace

TEST_CASE("operators: a link works once, within one day", "[cli][admin]") {
  OpenFile file;
  const auto& flows = file.app().flows();
  const auto added = file.run("operator add", {{"NAME", "Ada"}, {"role", "viewer"}}).json();
  CHECK(added.at("name") == "ada");
  CHECK(added.at("status") == "invited");
  CHECK(added.at("link").get<std::string>().rfind("http://127.0.0.1:", 0) == 0);
  const std::string link = secret_of(added.at("link"));
  CHECK(flows::claim_link(flows, link, std::nullopt, Secret("short"), kHere).error().slug ==
        Slug::validation_failed);
  REQUIRE(flows::claim_link(flows, link, std::nullopt, kPassword, kHere));
  CHECK(flows::claim_link(flows, link, std::nullopt, kPassword, kHere).error().slug ==
        Slug::unauthorized);
  CHECK(flows::sign_in_operator(flows, "ADA", {kPassword}, kHere).value().row.role ==
        OperatorRole::viewer);
  CHECK(flows::sign_in_operator(flows, "ada", {Secret("wrong wrong wrong")}, kHere).error().slug ==
        Slug::unauthorized);
  CHECK(file.run("operator list").json().at(0).at("status") == "without authenticator");

  const auto late = secret_of(file.run("operator reset", {{"NAME", "ada"}}).json().at("link"));
  CHECK(flows::sign_in_operator(flows, "ada", {kPassword}, kHere).error().slug ==
        Slug::unauthorized);
  file.clock().advance_ms(flows::kLinkLifetimeMs);
  CHECK(flows::claim_link(flows, late, std::nullopt, kPassword, kHere).error().slug ==
        Slug::unauthorized);
}

TEST_CASE("operators: a new link for an administrator invalidates the previous one",
          "[cli][admin]") {
  OpenFile file;
  const auto& flows = file.app().flows();
  const std::string first = admin_link(file);
  const std::string second = admin_link(file);
  CHECK(flows::claim_link(flows, first, "ada", kPassword, kHere).error().slug ==
        Slug::unauthorized);
  CHECK(flows::claim_link(flows, second, "a/b", kPassword, kHere).error().slug ==
        Slug::validation_failed);
  CHECK(flows::claim_link(flows, second, "ada", Secret("password1234"), kHere).error().slug ==
        Slug::validation_failed);
  CHECK(flows::claim_link(flows, second, "ada", kPassword, kHere).has_value());
  CHECK(file.run("operator list").json().at(0).at("role") == "administrator");
}

TEST_CASE("operators: the last administrator keeps the role", "[cli][admin]") {
  OpenFile file;
  const auto& flows = file.app().flows();
  REQUIRE(flows::claim_link(flows, admin_link(file), "ada", kPassword, kHere));
  const std::map<std::string, std::string> ada{{"NAME", "ada"}};
  CHECK(file.run("operator suspend", ada).code == exit_code::kFailed);
  CHECK(file.run("operator role", {{"NAME", "ada"}, {"role", "viewer"}}).code ==
        exit_code::kFailed);
  CHECK(file.run("operator role", ada).code == exit_code::kUsage);  // no role is no change
  REQUIRE(flows::claim_link(flows, admin_link(file), "bob", kPassword, kHere));
  CHECK(file.run("operator suspend", ada).json().at("status") == "suspended");
  CHECK(flows::sign_in_operator(flows, "ada", {kPassword}, kHere).error().slug ==
        Slug::unauthorized);
  CHECK(file.run("operator resume", ada).code == 0);
  const Ran unknown = file.run("operator suspend", {{"NAME", "eve"}});
  CHECK(unknown.code == exit_code::kFailed);
  CHECK(unknown.err.find("coffer operator list") != std::string::npos);
  CHECK(file.run("operator add", {{"NAME", "bob"}}).code == exit_code::kFailed);
  CHECK(file.run("operator add", {{"NAME", "bob"}, {"role", "king"}}).code == exit_code::kUsage);
}

TEST_CASE("audit: changes are recorded with their results, reads are not", "[cli][admin]") {
  OpenFile file;
  const std::string id = file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  REQUIRE(file.run("association list").code == 0);
  REQUIRE(file.run("association activate", {{"ID", id}}).code != 0);
  const auto acts = file.run("audit list", {{"limit", "10"}}).json();
  REQUIRE(acts.size() == 2);
  CHECK(acts.at(0).at("command") == "association activate");
  CHECK(acts.at(0).at("outcome") == "conflict");
  CHECK(acts.at(0).at("arguments") == "{\"ID\":\"" + id + "\"}");
  CHECK(acts.at(1).at("outcome") == "done");
  CHECK(acts.at(1).at("actor") == "command line, uid 0");
  CHECK(file.run("audit list", {{"command", "association create"}}).json().size() == 1);
  CHECK(file.run("audit list", {{"before", acts.at(0).at("entry")}}).json().size() == 1);
  CHECK(file.run("audit list", {{"limit", "0"}}).code == exit_code::kUsage);
  CHECK(file.run("verify").code == 0);
}

TEST_CASE("audit: a viewer cannot run any changing command", "[cli][admin]") {
  const std::set<std::string_view> reading = {
      "activity", "changes",    "checkpoint", "clock",      "conversion", "count",
      "fees",     "settlement", "status",     "deliveries", "delivery",   "export",
      "find",     "follow",     "list",       "mappings",   "overview",   "quotas",
      "report",   "show",       "statement",  "tail",       "verify"};
  for (const Command& command : commands()) {
    if (!command.is_on_file() || command.role != OperatorRole::viewer) continue;
    INFO(command.path);
    CHECK(reading.contains(command.path.substr(command.path.rfind(' ') + 1)));
  }
}
