// Tokens of operators' programs (docs/operating.md#tokens-for-programs,
// docs/contract.md#operator-tokens).
#include "flows/identity/operator_tokens.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <tuple>

#include "cli/identity/operators.h"
#include "cli/paths.h"
#include "flows/ledger/wallet_changes.h"
#include "store/identity/tenants.h"
#include "support/unknown_id.h"
#include "unit/cli/admin_browser.h"

namespace operator_tokens_test {
namespace {

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;
using coffer::test::kUnknownId;

constexpr const char* kRun = "/admin/api/run/";

std::string path_of(std::string_view command) {
  std::string path(command);
  std::ranges::replace(path, ' ', '/');
  return kRun + path;
}

/// A program that sends its token, and nothing that a browser would send.
class Program {
 public:
  Program(AdminSite& site, std::string token) : site_(site), token_(std::move(token)) {}

  http::Response send(const std::string& method, const std::string& target,
                      const std::string& body = {}) {
    http::Request request;
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    request.bad_query = !http::read_query(target, request.query);
    request.peer = peer;
    request.body = body;
    request.headers = {{"Host", "coffer.internal"}, {"Authorization", "Bearer " + token_}};
    if (!media_type.empty()) request.headers.emplace_back("Content-Type", media_type);
    return site_.handle(request);
  }
  int get(const std::string& command) { return send("GET", path_of(command)).status; }
  http::Response post(const std::string& command, const Json& body = Json::object()) {
    return send("POST", path_of(command), body.dump());
  }

  std::string peer = "10.1.2.3";
  std::string media_type = "application/json";

 private:
  AdminSite& site_;
  std::string token_;
};

struct World {
  explicit World(const char* four_eyes = "off")
      : site([four_eyes](Config& config) { config.four_eyes = *FourEyes::parse(four_eyes); }) {
    for (const char* name : {"ada", "bob"}) {
      REQUIRE(flows::ensure_administrator(site.flows, name, kPassword, false));
    }
  }

  /// A token that ada creates.
  Program program(const std::string& name, OperatorRole role, const std::string& commands = {},
                  std::vector<std::string> networks = {}, std::int64_t lifetime_ms = 30 * kDayMs) {
    const auto ada = flows::find_operator(site.flows, "ada").value();
    const flows::NewOperatorToken fresh{name, role, commands, std::move(networks),
                                        site.file.clock().now().plus_ms(lifetime_ms)};
    const auto secret =
        flows::create_operator_token(site.flows, fresh, {ada.name, ada.role, ada.id});
    REQUIRE(secret);
    return {site.site, secret->reveal()};
  }
  Json listed(const std::string& name) {
    for (const Json& one : site.file.run("operator token list").json()) {
      if (one.at("name") == name) return one;
    }
    return nullptr;
  }

  Site site;
};

TEST_CASE("a program runs the commands of its token without a session, under its own name") {
  World world;
  Program reports = world.program("reports", OperatorRole::viewer);
  CHECK(reports.get("wallet list") == 200);
  CHECK(reports.post("wallet list").status == 200);
  Program clerk = world.program("clerk", OperatorRole::operating, "webhook,alert list");
  CHECK(clerk.post("webhook disable", {{"ID", kUnknownId}}).status == 404);
  CHECK(world.site.acts("webhook disable", "not-found")[0].at("actor") == "clerk");
  CHECK(clerk.get("wallet list") == 403);
  CHECK(clerk.post("webhook rotate", {{"ID", kUnknownId}}).status == 403);
  const auto commands = Json::parse(clerk.send("GET", "/admin/api/commands").body);
  CHECK(std::ranges::all_of(commands.at("data"), [](const Json& one) {
    const std::string name = one.at("command");
    return name.starts_with("webhook ") || name == "alert list";
  }));
}

TEST_CASE("a token permits exactly what its role and its list name") {
  World world;
  for (const auto& [role, list] : std::vector<std::pair<OperatorRole, std::string>>{
           {OperatorRole::viewer, ""},
           {OperatorRole::administrator, ""},
           {OperatorRole::administrator, "payment,wallet fund,operator list"},
           {OperatorRole::operating, "payment bulk,wallet fund,webhook"}}) {
    Program program =
        world.program("p" + std::to_string(list.size()) + std::string(name(role)), role, list);
    for (const Command& command : commands()) {
      const std::string path(command.path);
      INFO(path << " by " << name(role) << " with " << list);
      const std::string group = path.substr(0, path.find(' '));
      const bool harmless = !needs_recent_sign_in(command);
      const std::string every = "," + list + ",";
      const bool listed = every.find("," + path + ",") != every.npos ||
                          (harmless && every.find("," + group + ",") != every.npos);
      const bool expected = is_for_the_page(command) && !command.by_person &&
                            role >= command.role && (list.empty() ? harmless : listed);
      CHECK((permits_command(list, command) && role >= command.role && is_for_the_page(command)) ==
            expected);
      if (expected) continue;
      const int status = program.post(path).status;
      CHECK((status == 403 || (status == 404 && !is_for_the_page(command))));
    }
  }
}

TEST_CASE("no token gives people access, decides on requests, or makes tokens") {
  World world;
  for (const char* command :
       {"operator add", "operator role", "operator resume", "operator reset", "operator link",
        "operator unlink", "operator remove-passkey", "operator token create", "admin link",
        "approval approve", "approval reject"}) {
    INFO(command);
    const auto ran = world.site.file.run(
        "operator token create",
        {{"NAME", "x"},
         {"role", "administrator"},
         {"commands", command},
         {"expires", world.site.file.clock().now().plus_ms(kDayMs).to_string()}});
    CHECK(ran.code != 0);
    CHECK(ran.err.find(command) != ran.err.npos);
    Program program = world.program(
        std::string("p-") + std::to_string(std::hash<std::string>()(command) % 10'000),
        OperatorRole::administrator, command);
    CHECK(program.post(command, {{"NAME", "eve"}, {"ID", kUnknownId}}).status == 403);
  }
}

TEST_CASE("the calls of the page itself do not exist for a token") {
  World world;
  Program program = world.program("reports", OperatorRole::administrator);
  for (const auto& [method, path] :
       std::vector<std::pair<std::string, std::string>>{{"GET", "session"},
                                                        {"GET", "passkeys"},
                                                        {"GET", "sessions"},
                                                        {"POST", "sign-out"},
                                                        {"POST", "passkeys/begin"},
                                                        {"POST", "password"},
                                                        {"POST", "sign-in"},
                                                        {"POST", "authenticator"},
                                                        {"POST", "sessions/end"},
                                                        {"POST", "claim"},
                                                        {"POST", "recovery-codes"},
                                                        {"GET", "nothing"},
                                                        {"POST", "link"},
                                                        {"GET", "sign-in/options"}}) {
    INFO(path);
    CHECK(program.send(method, "/admin/api/" + path, "{}").status == 404);
  }
}

TEST_CASE("a program that asks in the wrong way learns the right one") {
  World world;
  Program program = world.program("reports", OperatorRole::administrator, "association create");
  for (const auto& [method, path, allow] :
       std::vector<std::tuple<const char*, const char*, const char*>>{
           {"DELETE", "/admin/api/run/wallet/list", "GET, POST"},
           {"GET", "/admin/api/run/association/create", "POST"},
           {"PUT", "/admin/api/run/association/create", "POST"},
           {"POST", "/admin/api/commands", "GET"},
           {"GET", "/admin/api/sign-in", "POST"}}) {
    INFO(method << " " << path);
    const auto response = program.send(method, path, "{}");
    CHECK(response.status == 405);
    CHECK(std::ranges::count(response.headers,
                             std::pair<std::string, std::string>{"Allow", allow}) == 1);
  }
  const auto wrong = program.post("association create", {{"NAME", "Acme"}, {"statis", "active"}});
  CHECK(wrong.status == 400);
  CHECK_THAT(wrong.body,
             Catch::Matchers::Contains("statis is not an argument of association create"));
  for (const char* type : {"", "application/x-www-form-urlencoded", "text/plain"}) {
    program.media_type = type;
    CHECK(program.post("association create", {{"NAME", "Acme"}}).status == 415);
  }
  for (const char* type : {"application/json; charset=utf-8", "Application/JSON"}) {
    program.media_type = type;
    CHECK(program.post("association create", {{"NAME", type}}).status == 200);
  }
}

TEST_CASE("a token stops when it ends, and when its program or its creator may not act") {
  const auto stops = [](const std::function<void(World&)>& change) {
    World world;
    Program program = world.program("reports", OperatorRole::viewer);
    REQUIRE(program.get("wallet list") == 200);
    change(world);
    const auto response = program.send("GET", path_of("wallet list"));
    CHECK(header_of(response, "WWW-Authenticate").starts_with("Bearer"));
    return response.status == 401;
  };
  CHECK(stops([](World& world) {
    CHECK(world.site.file.run("operator token end", {{"NAME", "Reports"}}).code == 0);
    CHECK(world.listed("reports").at("status") == "ended");
    CHECK(world.site.file.run("operator resume", {{"NAME", "reports"}}).code == 0);
    CHECK(world.listed("reports").at("status") == "ended");
  }));
  CHECK(stops([](World& world) {
    world.site.file.clock().advance_ms(31 * kDayMs);
    CHECK(world.listed("reports").at("status") == "ended");
  }));
  for (const char* name : {"reports", "ada"}) {
    CHECK(stops([name](World& world) {
      CHECK(world.site.file.run("operator suspend", {{"NAME", name}}).code == 0);
    }));
  }
  World world;
  Program unknown(world.site.site, "ot_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG");
  CHECK(unknown.get("wallet list") == 401);
  CHECK(world.site.acts("use operator token", "unauthorized").size() == 1);
}

TEST_CASE("a program has no more permissions than its creator has now") {
  World world;
  Program program = world.program("funds", OperatorRole::administrator, "wallet fund,wallet");
  CHECK(program.post("wallet fund", {{"ID", kUnknownId}, {"asset", "USDC"}, {"amount", "1"}})
            .status == 404);
  CHECK(world.site.file.run("operator role", {{"NAME", "ada"}, {"role", "viewer"}}).code == 0);
  CHECK(program.post("wallet fund", {{"ID", kUnknownId}, {"asset", "USDC"}, {"amount", "1"}})
            .status == 403);
  CHECK(program.get("wallet list") == 200);
}

TEST_CASE("a token works from its networks only, and shows its last use") {
  World world;
  Program program = world.program("reports", OperatorRole::viewer, "", {"10.1.0.0/16", "fd00::/8"});
  CHECK(world.listed("reports").at("usedAt").is_null());
  program.peer = "10.2.0.1";
  CHECK(program.get("wallet list") == 403);
  CHECK(world.site.acts("use operator token", "forbidden")[0].at("actor") == "reports");
  CHECK(world.listed("reports").at("usedAt").is_null());
  program.peer = "10.1.2.3";
  CHECK(program.get("wallet list") == 200);
  const Json first = world.listed("reports");
  CHECK(first.at("usedFrom") == "10.1.2.3");
  CHECK(first.at("createdBy") == "ada");
  CHECK(first.at("networks") == "10.1.0.0/16,fd00::/8");
  world.site.file.clock().advance_ms(59'000);
  CHECK(program.get("wallet list") == 200);
  CHECK(world.listed("reports").at("usedAt") == first.at("usedAt"));
  world.site.file.clock().advance_ms(1'000);
  CHECK(program.get("wallet list") == 200);
  CHECK(world.listed("reports").at("usedAt") != first.at("usedAt"));
}

TEST_CASE("four eyes hold for programs, and their creator is not the second operator") {
  World world("all");
  Program program = world.program("funds", OperatorRole::administrator, "association create");
  const auto waits = program.post("association create", {{"NAME", "Acme"}});
  REQUIRE(waits.status == 202);
  const Json request = Json::parse(waits.body).at("data");
  CHECK(request.at("requestedBy") == "funds");
  Browser ada(world.site.site);
  Browser bob(world.site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  REQUIRE(bob.sign_in("bob", kPassword) == 204);
  CHECK(ada.post("/admin/api/run/approval/approve", {{"ID", request.at("id")}}).status == 403);
  CHECK(bob.post("/admin/api/run/approval/approve", {{"ID", request.at("id")}}).status == 200);
  // The end of a token ends its requests.
  const auto again = program.post("association create", {{"NAME", "Blue Ltd"}});
  CHECK(world.site.file.run("operator token end", {{"NAME", "funds"}}).code == 0);
  CHECK(bob.post("/admin/api/run/approval/approve",
                 {{"ID", Json::parse(again.body).at("data").at("id")}})
            .status == 409);
}

TEST_CASE("an operator who has seen a token cannot approve the requests of its program") {
  World world("all");
  REQUIRE(flows::ensure_administrator(world.site.flows, "carl", kPassword, false));
  Browser ada(world.site.site), bob(world.site.site), carl(world.site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  REQUIRE(bob.sign_in("bob", kPassword) == 204);
  REQUIRE(carl.sign_in("carl", kPassword) == 204);
  const auto approve = [](Browser& who, const http::Response& asked) {
    REQUIRE(asked.status == 202);
    return who.post("/admin/api/run/approval/approve",
                    {{"ID", Json::parse(asked.body).at("data").at("id")}});
  };
  const auto created = approve(
      bob, ada.post(path_of("operator token create"),
                    {{"NAME", "Funds"},
                     {"role", "administrator"},
                     {"commands", "association create"},
                     {"expires", world.site.file.clock().now().plus_ms(kDayMs).to_string()}}));
  INFO(created.body);
  REQUIRE(created.status == 200);
  Program program(world.site.site, Json::parse(created.body).at("data").at("token"));
  const auto waits = program.post("association create", {{"NAME", "Acme"}});
  CHECK(approve(ada, waits).status == 403);
  CHECK(approve(bob, waits).status == 403);
  CHECK(approve(carl, waits).status == 200);
}

TEST_CASE("a program's requests end with its token and with its creator's permission") {
  const auto outcome = [](const std::function<void(World&)>& change) {
    World world("all");
    Program program =
        world.program("funds", OperatorRole::administrator, "association create", {}, kHourMs);
    const auto waits = program.post("association create", {{"NAME", "Acme"}});
    change(world);
    Browser bob(world.site.site);
    REQUIRE(bob.sign_in("bob", kPassword) == 204);
    return bob
        .post("/admin/api/run/approval/approve",
              {{"ID", Json::parse(waits.body).at("data").at("id")}})
        .status;
  };
  CHECK(outcome([](World&) {}) == 200);
  CHECK(outcome([](World& world) { world.site.file.clock().advance_ms(kHourMs); }) == 409);
  CHECK(outcome([](World& world) {
          CHECK(world.site.file.run("operator suspend", {{"NAME", "ada"}}).code == 0);
        }) == 409);
  CHECK(outcome([](World& world) {
          CHECK(world.site.file.run("operator role", {{"NAME", "ada"}, {"role", "viewer"}}).code ==
                0);
        }) == 403);
}

TEST_CASE("a program cannot become a person") {
  World world;
  world.program("reports", OperatorRole::administrator);
  CHECK(world.site.file.run("operator reset", {{"NAME", "reports"}}).err.find("cannot sign in") !=
        std::string::npos);
  CHECK(world.site.file.run("operator add", {{"NAME", "reports"}}).code != 0);
  Browser browser(world.site.site);
  CHECK(browser.sign_in("reports", kPassword) == 401);
  for (const char* name : {"ada", "bob"}) {
    const auto ran = world.site.file.run("operator suspend", {{"NAME", name}});
    CHECK((ran.code == 0) == (name == std::string("ada")));  // a program is no last administrator
  }
}

TEST_CASE("a token is refused with the field that is not valid") {
  World world;
  const auto problem = [&](std::map<std::string, std::string> changed) {
    std::map<std::string, std::string> arguments{
        {"NAME", "x"}, {"expires", world.site.file.clock().now().plus_ms(kDayMs).to_string()}};
    for (auto& [name, value] : changed) arguments[name] = value;
    const auto ran = world.site.file.run("operator token create", arguments);
    CHECK(ran.code != 0);
    CHECK(world.listed("x").is_null());
    return ran.err;
  };
  CHECK(problem({{"NAME", "a b"}}).find("name") != std::string::npos);
  CHECK(problem({{"networks", "10.0.0.0/33"}}).find("10.0.0.0/33") != std::string::npos);
  CHECK(problem({{"networks", "here"}}).find("here") != std::string::npos);
  CHECK(problem({{"commands", "wallet,nothing"}}).find("nothing") != std::string::npos);
  CHECK(problem({{"commands", "wallet fund"}}).find("wallet fund") !=
        std::string::npos);  // a viewer
  CHECK(problem({{"commands", ","}}).find("--commands") != std::string::npos);
  CHECK(problem({{"expires", "2020-01-01"}}).find("366 days") != std::string::npos);
  CHECK(problem({{"expires", "2999-01-01"}}).find("366 days") != std::string::npos);
  CHECK(problem({{"expires", "soon"}}).find("expires") != std::string::npos);
}

TEST_CASE("a program fetches the file that its command produced, once, and no other program does") {
  World world;
  OpenFile& file = world.site.file;
  REQUIRE(file.run("asset add", {{"CODE", "USDC"}, {"name", "US Dollar"}}).code == 0);
  const std::string id = file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  const Tenant tenant =
      store::with_reader(file.app().database(), [&](store::Connection& db) -> Result<Tenant> {
        return *store::find_tenant(db, *AssociationId::parse(id), Environment::sandbox);
      }).value();
  const auto wallet = flows::register_wallet(world.site.flows, tenant,
                                             {"Treasury", *AssetCode::parse("USDC"), true, {}})
                          .value();
  Program books = world.program("books", OperatorRole::viewer);
  Program other = world.program("other", OperatorRole::viewer);
  const auto made = books.post("statement export", {{"ID", wallet.id.to_string()}});
  INFO(made.body);
  REQUIRE(made.status == 200);
  const std::string path =
      "/admin/api/" + Json::parse(made.body).at("data").at("download").get<std::string>();
  CHECK(other.send("GET", path).status == 404);
  const auto sent = books.send("GET", path);
  CHECK(sent.status == 200);
  CHECK(sent.stream != nullptr);
  CHECK(books.send("GET", path).status == 404);
}

}  // namespace
}  // namespace operator_tokens_test
