#include <atomic>
#include <catch2/catch.hpp>
#include <initializer_list>
#include <thread>
#include <vector>

#include "auth/totp.h"
#include "base/digest.h"
#include "cli/admin/site.h"
#include "flows/identity/operators.h"
#include "flows/ledger/wallet_changes.h"
#include "store/identity/tenants.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;

namespace {

using Json = nlohmann::json;

constexpr const char* kHost = "127.0.0.1:8081";
const Secret kPassword("correct horse battery");

std::string header_of(const http::Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

/// A browser: keeps the cookie, sends where it is from.
class Browser {
 public:
  explicit Browser(AdminSite& site, std::string peer = "127.0.0.1")
      : site_(site), peer_(std::move(peer)) {}

  http::Response get(const std::string& path) { return send("GET", path, {}); }
  http::Response post(const std::string& path, const Json& body = Json::object()) {
    return send("POST", path, body.dump());
  }
  /// Signs in and reads the token of the session.
  int sign_in(const std::string& name, const Secret& password, const std::string& code = {}) {
    const auto answer = post("/admin/api/sign-in",
                             {{"name", name}, {"password", password.reveal()}, {"code", code}});
    if (answer.status == 204) load();
    return answer.status;
  }
  void load() { csrf = Json::parse(get("/admin/api/session").body).at("csrfToken"); }

  std::string csrf;
  std::string cookie;
  std::string origin = std::string("http://") + kHost;

 private:
  http::Response send(const std::string& method, const std::string& target,
                      const std::string& body) {
    http::Request request;
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    if (const auto at = target.find("?limit="); at != std::string::npos) {
      request.query.emplace_back("limit", target.substr(at + 7));
    }
    request.peer = peer_;
    request.body = body;
    request.headers = {{"Host", kHost}};
    if (!origin.empty() && method == "POST") request.headers.emplace_back("Origin", origin);
    if (!cookie.empty()) request.headers.emplace_back("Cookie", "other=1; " + cookie);
    if (!csrf.empty()) request.headers.emplace_back("X-CSRF-Token", csrf);
    http::Response response = site_.handle(request);
    if (const auto set = header_of(response, "Set-Cookie"); !set.empty()) {
      cookie = set.substr(0, set.find(';'));
    }
    return response;
  }

  AdminSite& site_;
  std::string peer_;
};

struct Site {
  OpenFile file;
  AdminSite site{file.app()};
  const flows::Context& flows = file.app().flows();

  /// An operator who signs in with the password only.
  void add(const std::string& name, OperatorRole role) {
    const auto link = flows::administrator_link(flows);
    REQUIRE(flows::ensure_administrator(flows, name, kPassword, false));
    if (role != OperatorRole::administrator) {
      REQUIRE(flows::ensure_administrator(flows, "keeper", kPassword, false));
      REQUIRE(flows::change_operator_role(flows, name, role));
    }
  }
};

}  // namespace

TEST_CASE("admin: files are served with a strict policy and revalidate", "[cli][admin]") {
  Site site;
  Browser browser(site.site);
  CHECK(browser.get("/admin").status == 308);
  const auto page = browser.get("/admin/");
  CHECK(page.status == 200);
  CHECK(page.content_type == "text/html; charset=utf-8");
  const std::string policy = header_of(page, "Content-Security-Policy");
  CHECK(policy.find("default-src 'none'") != std::string::npos);
  CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
  CHECK(policy.find("unsafe") == std::string::npos);
  CHECK(header_of(page, "Referrer-Policy") == "no-referrer");
  CHECK_FALSE(header_of(page, "ETag").empty());
  for (const char* nothing : {"/admin/../schema.sql", "/admin/none.js", "/admin/api/none"}) {
    CHECK(browser.get(nothing).status >= 400);
  }
}

TEST_CASE("admin: first link, password, authenticator, then everything", "[cli][admin]") {
  Site site;
  Browser browser(site.site);
  CHECK(browser.get("/admin/api/session").status == 401);
  CHECK(browser.get("/admin/api/run/wallet/list").status == 401);
  const auto link = flows::administrator_link(site.flows).value();
  const Json claim{{"link", link.reveal()}, {"name", "Ada"}, {"password", kPassword.reveal()}};
  REQUIRE(browser.post("/admin/api/claim", claim).status == 204);
  browser.load();
  CHECK(Json::parse(browser.get("/admin/api/session").body).at("mustEnrol") == true);
  CHECK(browser.get("/admin/api/run/wallet/list").status == 403);

  const Json begun = Json::parse(browser.post("/admin/api/authenticator").body);
  const std::string uri = begun.at("otpauthUri");
  const auto at = uri.find("secret=") + 7;
  const Secret key(from_base32(uri.substr(at, uri.find('&', at) - at)).value());
  const auto step = auth::totp_step(site.file.clock().now());
  CHECK(browser.post("/admin/api/authenticator/confirm", {{"code", "000000"}}).status == 422);
  REQUIRE(browser.post("/admin/api/authenticator/confirm", {{"code", auth::totp_code(key, step)}})
              .status == 204);
  CHECK(browser.get("/admin/api/run/wallet/list").status == 200);

  Browser other(site.site);
  CHECK(other.sign_in("ada", kPassword) == 401);
  CHECK(other.sign_in("ada", kPassword, auth::totp_code(key, step)) == 401);  // used to enrol
  CHECK(other.sign_in("ada", kPassword, auth::totp_code(key, step + 1)) == 204);
}

TEST_CASE("admin: a change needs the own origin and the token of the session", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  const std::string create = "/admin/api/run/association/create";
  CHECK(browser.post(create, {{"NAME", "Acme"}}).status == 200);
  for (const char* origin : {"", "null", "http://evil.example", "http://127.0.0.1:9999"}) {
    INFO(origin);
    browser.origin = origin;
    CHECK(browser.post(create, {{"NAME", "Evil"}}).status == 403);
    CHECK(browser.post("/admin/api/sign-in").status == 403);
  }
  browser.origin = std::string("http://") + kHost;
  const std::string csrf = browser.csrf;
  for (const std::string& token : {std::string(), std::string("x"), csrf + "x"}) {
    browser.csrf = token;
    CHECK(browser.post(create, {{"NAME", "Evil"}}).status == 403);
  }
  browser.csrf = csrf;
  CHECK(browser.get(create).status == 405);
  CHECK(site.file.run("association list").json().size() == 1);
}

TEST_CASE("admin: each role has its permissions, and the audit log names the operator",
          "[cli][admin]") {
  Site site;
  site.add("vic", OperatorRole::viewer);
  Browser viewer(site.site);
  REQUIRE(viewer.sign_in("vic", kPassword) == 204);
  CHECK(viewer.get("/admin/api/run/association/list").status == 200);
  const std::string id = site.file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  CHECK(viewer.post("/admin/api/run/association/suspend", {{"ID", id}}).status == 403);
  const Json listed = Json::parse(viewer.get("/admin/api/commands").body);
  for (const auto& command : listed.at("data")) {
    CHECK(command.at("role") == "viewer");
    CHECK(command.at("command") != "events follow");  // it has no end
  }
  CHECK(viewer.get("/admin/api/run/events/follow").status == 404);
  CHECK(viewer.get("/admin/api/run/payment/list").status == 200);
  REQUIRE(flows::change_operator_role(site.flows, "vic", OperatorRole::operating));
  CHECK(viewer.get("/admin/api/session").status == 401);  // the change ended the session
  REQUIRE(viewer.sign_in("vic", kPassword) == 204);
  CHECK(viewer.post("/admin/api/run/association/suspend", {{"ID", id}}).status == 200);
  CHECK(viewer.post("/admin/api/run/association/create", {{"NAME", "B"}}).status == 403);
  const auto acts = site.file.run("audit list", {{"actor", "vic"}}).json();
  CHECK(acts.at(0).at("command") == "association suspend");
  CHECK(acts.at(0).at("outcome") == "done");
}

TEST_CASE("admin: a wallet is funded by an administrator, once however often it is sent",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  REQUIRE(site.file.run("asset add", {{"CODE", "USDC"}, {"name", "US Dollar"}}).code == 0);
  const std::string association =
      site.file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  const Tenant tenant =
      store::with_reader(site.file.app().database(), [&](store::Connection& db) -> Result<Tenant> {
        return *store::find_tenant(db, *AssociationId::parse(association), Environment::production);
      }).value();
  const std::string wallet =
      flows::register_wallet(site.flows, tenant, {"Treasury", *AssetCode::parse("USDC"), true, {}})
          .value()
          .id.to_string();
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  const Json form{{"ID", wallet},
                  {"asset", "USDC"},
                  {"amount", "100"},
                  {"reason", "Deposit"},
                  {"transaction-id", "BANK-1"}};
  for (const bool again : {false, true}) {
    const auto reply = browser.post("/admin/api/run/wallet/fund", form);
    REQUIRE(reply.status == 200);
    const Json record = Json::parse(reply.body).at("data");
    CHECK(record.at("isIdempotent") == again);
    CHECK(record.at("balances").at(0).at("balance") == "100.00");
  }
  site.add("bob", OperatorRole::operating);
  Browser operating(site.site);
  REQUIRE(operating.sign_in("bob", kPassword) == 204);
  CHECK(operating.post("/admin/api/run/wallet/fund", form).status == 403);
}

TEST_CASE("admin: guessing is throttled, also with the right password", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  for (int i = 0; i < 5; ++i) CHECK(browser.sign_in("ada", Secret("wrong wrong wrong")) == 401);
  const auto blocked =
      browser.post("/admin/api/sign-in", {{"name", "ada"}, {"password", kPassword.reveal()}});
  CHECK(blocked.status == 429);
  CHECK_FALSE(header_of(blocked, "Retry-After").empty());
  Browser elsewhere(site.site, "192.0.2.7");
  CHECK(elsewhere.sign_in("ada", kPassword) == 204);
  site.file.clock().advance_ms(Throttle::kBlockMs);
  CHECK(browser.sign_in("ada", kPassword) == 204);
}

TEST_CASE("admin: guesses that come together are no more than guesses one by one", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  std::atomic<int> looked_at = 0;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> guessers;
    for (int i = 0; i < 8; ++i) {
      guessers.emplace_back([&] {
        Browser browser(site.site);
        const int status = browser.sign_in("ada", Secret("wrong wrong wrong"));
        looked_at += status == 401;
        refused += status == 429;
      });
    }
  }
  CHECK(looked_at == 5);
  CHECK(refused == 3);
}

TEST_CASE("admin: sessions end by idling, by age, by signing out and by suspension",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  site.add("bob", OperatorRole::administrator);
  Browser browser(site.site);
  const auto alive = [&] { return browser.get("/admin/api/session").status == 200; };
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  site.file.clock().advance_ms(AdminSessions::kIdleMs - 1);
  CHECK(alive());
  site.file.clock().advance_ms(AdminSessions::kIdleMs);
  CHECK_FALSE(alive());

  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  for (std::int64_t ms = 0; ms < AdminSessions::kLongestMs; ms += AdminSessions::kIdleMs / 2) {
    CHECK(alive());
    site.file.clock().advance_ms(AdminSessions::kIdleMs / 2);
  }
  CHECK_FALSE(alive());

  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  const std::string stolen = browser.cookie;
  CHECK(browser.post("/admin/api/sign-out").status == 204);
  browser.cookie = stolen;
  CHECK_FALSE(alive());

  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  CHECK(browser.cookie.rfind("coffer-admin=", 0) == 0);
  REQUIRE(flows::suspend_operator(site.flows, "ada", true));
  CHECK_FALSE(alive());
}

TEST_CASE("admin: arguments are judged as on the command line", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  const std::string create = "/admin/api/run/association/create";
  CHECK(browser.post(create).status == 400);
  CHECK(browser.post(create, {{"NAME", "A"}, {"nonsense", "1"}}).status == 400);
  CHECK(browser.post(create, {{"NAME", Json::array()}}).status == 400);
  CHECK(browser.post(create, {{"NAME", "A"}, {"pending", true}, {"type", ""}}).status == 200);
  CHECK(browser.post("/admin/api/run/serve").status == 404);
  CHECK(browser.get("/admin/api/run/audit/list?limit=0").status == 400);
  const Json listed = Json::parse(browser.get("/admin/api/run/association/list").body);
  CHECK(listed.at("data").at(0).at("status") == "pending");
  CHECK(listed.at("columns").at(0) == "id");
}

TEST_CASE("admin: no page names a file of the server", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  for (const std::string command : {"backup", "verify"}) {
    INFO(command);
    CHECK(browser.post("/admin/api/run/" + command, {{"FILE", "/tmp/chosen.db"}}).status == 403);
  }
  CHECK(browser.post("/admin/api/run/backup").status == 400);  // no folder for backups is set
  CHECK(browser.post("/admin/api/run/export", {{"FILE", "-"}}).status == 404);
  const std::string offered = browser.get("/admin/api/commands").body;
  CHECK(offered.find("\"backup\"") != std::string::npos);
  CHECK(offered.find("\"export\"") == std::string::npos);
  CHECK(offered.find("\"FILE\"") == std::string::npos);
}
