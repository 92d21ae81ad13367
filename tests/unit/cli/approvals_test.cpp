// Four eyes (docs/operating.md#four-eyes): which commands of the admin page wait for a second
// operator, who may approve them, and that they run once.
#include "flows/identity/approvals.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/platform/exit_code.h"
#include "flows/ledger/wallet_changes.h"
#include "store/identity/tenants.h"
#include "support/unknown_id.h"
#include "unit/cli/admin_browser.h"

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;
using coffer::test::kUnknownId;

namespace {

constexpr const char* kFund = "/admin/api/run/wallet/fund";
constexpr const char* kApprove = "/admin/api/run/approval/approve";
constexpr const char* kReject = "/admin/api/run/approval/reject";

/// Two administrators, and a wallet to fund.
struct Office {
  explicit Office(const char* setting = "all")
      : site([setting](Config& config) { config.four_eyes = FourEyes::parse(setting).value(); }) {
    for (const char* name : {"ada", "bob"}) {
      REQUIRE(flows::ensure_administrator(site.flows, name, kPassword, false));
    }
    REQUIRE(ada.sign_in("ada", kPassword) == 204);
    REQUIRE(bob.sign_in("bob", kPassword) == 204);
    REQUIRE(site.file.run("asset add", {{"CODE", "USDC"}, {"name", "US Dollar"}}).code == 0);
    association = site.file.run("association create", {{"NAME", "Acme"}}).json().at("id");
    const Tenant tenant =
        store::with_reader(site.file.app().database(),
                           [&](store::Connection& db) -> Result<Tenant> {
                             return *store::find_tenant(db, *AssociationId::parse(association),
                                                        Environment::sandbox);
                           })
            .value();
    wallet = flows::register_wallet(site.flows, tenant,
                                    {"Treasury", *AssetCode::parse("USDC"), true, {}})
                 .value()
                 .id.to_string();
  }

  http::Response fund(Browser& browser, const char* amount = "100") {
    return browser.post(kFund, {{"ID", wallet}, {"asset", "USDC"}, {"amount", amount}});
  }
  /// The ID of the request that a 202 reports.
  static std::string id_in(const http::Response& response) {
    INFO(response.body);
    REQUIRE(response.status == 202);
    const Json body = Json::parse(response.body);
    CHECK(body.at("waits") == true);
    CHECK(body.at("data").at("status") == "waiting");
    return body.at("data").at("id");
  }
  Json show(const std::string& id) { return site.file.run("approval show", {{"ID", id}}).json(); }
  std::string balance() {
    return site.file.run("wallet show", {{"ID", wallet}}).json().at("balances").at(0).at("balance");
  }
  std::int64_t waiting() {
    return site.file.run("overview").json().at("approvalsWaiting").get<std::int64_t>();
  }

  Site site;
  Browser ada{site.site};
  Browser bob{site.site};
  std::string association;
  std::string wallet;
};

}  // namespace

TEST_CASE("approvals: with four_eyes off, a command runs immediately", "[cli][four-eyes]") {
  Office office("off");
  CHECK(office.fund(office.ada).status == 200);
  CHECK(office.balance() == "100.00");
  CHECK(office.site.file.run("approval list").json().empty());
}

TEST_CASE("approvals: a second operator runs the command of the first, once", "[cli][four-eyes]") {
  Office office;
  const std::string id = Office::id_in(office.fund(office.ada));
  CHECK(office.balance() == "0.00");
  CHECK(office.waiting() == 1);
  CHECK(office.site.acts("wallet fund", "requested").at(0).at("actor") == "ada");

  const Json shown = office.show(id);
  CHECK(shown.at("requestedBy") == "ada");
  CHECK(shown.at("given").at(0) == Json{{"name", "ID"}, {"value", office.wallet}});

  const auto done = office.bob.post(kApprove, {{"ID", id}});
  INFO(done.body);
  CHECK(done.status == 200);
  CHECK(office.balance() == "100.00");
  CHECK(office.waiting() == 0);
  const Json after = office.show(id);
  CHECK(after.at("status") == "done");
  CHECK(after.at("decidedBy") == "bob");
  CHECK_FALSE(after.contains("given"));  // the arguments are no longer stored

  const Json act = office.site.acts("wallet fund", "done").at(0);
  CHECK(act.at("actor") == "ada");
  CHECK(Json::parse(act.at("arguments").get<std::string>()).at("approvedBy") == "bob");
  CHECK(Json::parse(act.at("arguments").get<std::string>()).at("approval") == id);
  CHECK(office.site.acts("approval approve", "done").at(0).at("actor") == "bob");

  CHECK(office.bob.post(kApprove, {{"ID", id}}).status == 409);
  CHECK(office.bob.post(kReject, {{"ID", id}}).status == 409);
  CHECK(office.balance() == "100.00");
}

TEST_CASE("approvals: the list has pages, newest first", "[cli][four-eyes]") {
  Office office;
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.insert(ids.begin(), Office::id_in(office.fund(office.ada)));
  REQUIRE(office.bob.post(kReject, {{"ID", ids.at(1)}}).status == 200);
  const auto listed = [&](bool waiting) {
    std::vector<std::string> out;
    std::map<std::string, std::string> arguments{{"limit", "2"}};
    if (waiting) arguments.emplace("waiting", "true");
    for (bool more = true; more;) {
      const Ran page = office.site.file.run("approval list", arguments);
      REQUIRE(page.code == 0);
      CHECK(page.json().size() <= 2);
      for (const Json& row : page.json()) out.push_back(row.at("id"));
      const Json next = Json::parse(page.out).at("nextCursor");
      more = next.is_string();
      if (more) arguments["cursor"] = next;
    }
    return out;
  };
  CHECK(listed(false) == ids);
  ids.erase(ids.begin() + 1);
  CHECK(listed(true) == ids);
}

TEST_CASE(
    "approvals: operators cannot approve their own requests, and the command line approves none",
    "[cli][four-eyes]") {
  Office office;
  const std::string id = Office::id_in(office.fund(office.ada));
  CHECK(office.ada.post(kApprove, {{"ID", id}}).status == 403);
  const Ran here = office.site.file.run("approval approve", {{"ID", id}});
  CHECK(here.code == exit_code::kPermission);
  CHECK(here.err.find("admin page") != std::string::npos);
  CHECK(office.balance() == "0.00");
  CHECK(office.waiting() == 1);
  // The command line is the owner of the file: it neither waits nor needs a second operator.
  CHECK(office.site.file
            .run("wallet fund", {{"ID", office.wallet}, {"asset", "USDC"}, {"amount", "1"}})
            .code == 0);
  CHECK(office.site.file.run("approval reject", {{"ID", id}}).code == 0);
  CHECK(office.show(id).at("status") == "rejected");
}

TEST_CASE("approvals: a rejected request never runs, and the requesting operator can withdraw it",
          "[cli][four-eyes]") {
  Office office;
  const std::string first = Office::id_in(office.fund(office.ada));
  const std::string second = Office::id_in(office.fund(office.ada));
  CHECK(office.bob.post(kReject, {{"ID", first}}).status == 200);
  CHECK(office.ada.post(kReject, {{"ID", second}}).status == 200);
  for (const std::string& id : {first, second}) {
    CHECK(office.show(id).at("status") == "rejected");
    CHECK(office.bob.post(kApprove, {{"ID", id}}).status == 409);
  }
  CHECK(office.balance() == "0.00");
}

TEST_CASE("approvals: the deciding operator needs the role of the command", "[cli][four-eyes]") {
  Office office;
  office.site.add("opal", OperatorRole::operating);
  office.site.add("vic", OperatorRole::viewer);
  Browser opal(office.site.site);
  Browser vic(office.site.site);
  REQUIRE(opal.sign_in("opal", kPassword) == 204);
  REQUIRE(vic.sign_in("vic", kPassword) == 204);
  const std::string id = Office::id_in(office.fund(office.ada));
  CHECK(opal.post(kApprove, {{"ID", id}}).status == 403);
  CHECK(vic.post(kApprove, {{"ID", id}}).status == 403);
  CHECK(opal.post(kReject, {{"ID", id}}).status == 403);
  CHECK(vic.post(kReject, {{"ID", id}}).status == 403);
  CHECK(office.waiting() == 1);
  CHECK(office.balance() == "0.00");
  // A sensitive command of the role `operator` needs only this role.
  const std::string app =
      office.site.file
          .run("application register", {{"name", "backend"}, {"association", office.association}})
          .json()
          .at("id");
  REQUIRE(office.bob.post("/admin/api/run/application/suspend", {{"ID", app}}).status == 200);
  const std::string resume =
      Office::id_in(office.bob.post("/admin/api/run/application/resume", {{"ID", app}}));
  CHECK(opal.post(kApprove, {{"ID", resume}}).status == 200);
}

TEST_CASE("approvals: a request expires", "[cli][four-eyes]") {
  Office office;
  const std::string id = Office::id_in(office.fund(office.ada));
  office.site.file.clock().advance_ms(flows::kApprovalLifetimeMs);
  REQUIRE(office.bob.sign_in("bob", kPassword) == 204);
  CHECK(office.show(id).at("status") == "expired");
  CHECK(office.waiting() == 0);
  CHECK(office.site.file.run("approval list", {{"waiting", "true"}}).json().empty());
  CHECK(office.bob.post(kApprove, {{"ID", id}}).status == 409);
  CHECK(office.bob.post(kReject, {{"ID", id}}).status == 409);
  CHECK(office.balance() == "0.00");
  // The next request removes the arguments of expired ones.
  REQUIRE(office.ada.sign_in("ada", kPassword) == 204);
  Office::id_in(office.fund(office.ada));
  CHECK_FALSE(office.show(id).contains("given"));
}

TEST_CASE("approvals: a request ends with the sign-in or role of its operator",
          "[cli][four-eyes]") {
  Office office;
  const std::string id = Office::id_in(office.fund(office.ada));
  const std::string other = Office::id_in(office.fund(office.bob));
  std::string outcome = "operator-changed";
  SECTION("another role") {
    REQUIRE(flows::change_operator_role(office.site.flows, "ada", OperatorRole::viewer));
  }
  SECTION("suspended") {
    outcome = "operator-suspended";
    REQUIRE(flows::suspend_operator(office.site.flows, "ada", true));
  }
  SECTION("suspended and resumed") {
    REQUIRE(flows::suspend_operator(office.site.flows, "ada", true));
    REQUIRE(flows::suspend_operator(office.site.flows, "ada", false));
  }
  SECTION("a new sign-in") { REQUIRE(flows::reset_operator(office.site.flows, "ada")); }
  SECTION("sessions ended") { REQUIRE(flows::end_operator_sessions(office.site.flows, "ada")); }
  CHECK(office.waiting() == 1);
  const Json waiting = office.site.file.run("approval list", {{"waiting", "true"}}).json();
  REQUIRE(waiting.size() == 1);
  CHECK(waiting.at(0).at("id") == other);
  for (const Json& row : {office.show(id), office.site.file.run("approval list").json().at(1)}) {
    CHECK(row.at("id") == id);
    CHECK(row.at("status") == "ended");
    CHECK(row.at("outcome") == outcome);
  }
  CHECK(office.bob.post(kApprove, {{"ID", id}}).status == 409);
  CHECK(office.bob.post(kReject, {{"ID", id}}).status == 409);
  CHECK(office.balance() == "0.00");
  // The next request removes the arguments of ended ones.
  Office::id_in(office.fund(office.bob));
  CHECK_FALSE(office.show(id).contains("given"));
  CHECK(office.show(other).contains("given"));
}

TEST_CASE("approvals: limits exempt smaller amounts", "[cli][four-eyes]") {
  Office office("USDC=100");
  CHECK(office.fund(office.ada, "100").status == 200);
  CHECK(office.fund(office.ada, "100.01").status == 202);
  CHECK(office.balance() == "100.00");
  // Commands without an amount wait.
  CHECK(office.ada.post("/admin/api/run/operator/add", {{"NAME", "eve"}}).status == 202);
  CHECK(office.ada.post("/admin/api/run/asset/liquidity", {{"CODE", "USDC"}, {"AMOUNT", "100"}})
            .status == 200);
  CHECK(office.ada.post("/admin/api/run/asset/liquidity", {{"CODE", "USDC"}, {"AMOUNT", "101"}})
            .status == 202);
}

TEST_CASE("approvals: a failed command changes nothing, and its request stays waiting",
          "[cli][four-eyes]") {
  Office office;
  const std::string id =
      Office::id_in(office.ada.post("/admin/api/run/asset/add", {{"CODE", "EURC"}, {"name", "x"}}));
  REQUIRE(office.site.file.run("asset add", {{"CODE", "EURC"}, {"name", "Euro"}}).code == 0);
  CHECK(office.bob.post(kApprove, {{"ID", id}}).status == 409);  // the asset exists by now
  CHECK(office.show(id).at("status") == "waiting");
  CHECK(office.site.acts("asset add", "conflict").at(0).at("actor") == "ada");
}

TEST_CASE("approvals: arguments are stored only sealed", "[cli][four-eyes]") {
  constexpr const char* kMarker = "a-name-that-only-this-file-has";
  Office office;
  const std::string text = Json{{"association", "Acme"},
                                {"beneficiaries", Json::array()},
                                {"assets", {{{"code", "MARK"}, {"name", kMarker}}}}}
                               .dump();
  const auto waits = office.ada.post("/admin/api/run/apply", {{"FILE", text}});
  const std::string id = Office::id_in(waits);
  CHECK(waits.body.find(kMarker) == std::string::npos);
  CHECK(office.site.file.run("audit list").out.find(kMarker) == std::string::npos);
  for (const char* part : {"", "-wal"}) {
    INFO(part);
    std::ifstream file(office.site.file.path() + part, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    CHECK(bytes.find(kMarker) == std::string::npos);
  }
  // The approver sees the file in full.
  CHECK(office.show(id).at("given").at(0).at("value") == text);
}

TEST_CASE("approvals: commands that read, preview or only remove access do not wait",
          "[cli][four-eyes]") {
  Office office;
  office.site.add("opal", OperatorRole::operating);
  CHECK(office.ada.get("/admin/api/run/operator/list").status == 200);
  CHECK(office.ada.post("/admin/api/run/operator/sessions").status == 200);
  CHECK(office.ada.post("/admin/api/run/operator/end-sessions", {{"NAME", "opal"}}).status == 200);
  CHECK(office.ada.post("/admin/api/run/operator/suspend", {{"NAME", "opal"}}).status == 200);
  CHECK(office.ada.post("/admin/api/run/operator/resume", {{"NAME", "opal"}}).status == 202);
  const std::string file = Json{{"association", "Acme"}}.dump();
  CHECK(office.ada.post("/admin/api/run/apply", {{"FILE", file}, {"dry-run", true}}).status == 200);
  CHECK(office.ada.post("/admin/api/run/apply", {{"FILE", file}}).status == 202);
}

TEST_CASE("approvals: connector resume and a new webhook address wait", "[cli][four-eyes]") {
  Office office;
  OpenFile& file = office.site.file;
  const std::string connector = file.run("connector add", kPayoutConnector).json().at("id");
  REQUIRE(office.ada.post("/admin/api/run/connector/pause", {{"ID", connector}}).status == 200);
  Office::id_in(office.ada.post("/admin/api/run/connector/resume", {{"ID", connector}}));
  CHECK(file.run("connector show", {{"ID", connector}}).json().at("status") == "PAUSED");

  const std::string application =
      file.run("application register", {{"name", "backend"}, {"association", office.association}})
          .json()
          .at("id");
  const std::string url = "https://93.184.216.34/hook";
  const std::string webhook =
      file.run("webhook create", {{"URL", url}, {"application", application}}).json().at("id");
  Office::id_in(office.ada.post("/admin/api/run/webhook/update",
                                {{"ID", webhook}, {"url", "https://93.184.216.34/other"}}));
  Office::id_in(office.ada.post("/admin/api/run/webhook/rotate", {{"ID", webhook}}));
  CHECK(file.run("webhook list").json().at(0).at("url") == url);
}

TEST_CASE("approvals: an operator has a limit of waiting requests", "[cli][four-eyes]") {
  Office office;
  for (int i = 0; i < flows::kWaitingApprovalsMax; ++i) {
    REQUIRE(office.fund(office.ada).status == 202);
  }
  CHECK(office.fund(office.ada).status == 409);
  CHECK(office.fund(office.bob).status == 202);
}
