#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <initializer_list>

#include "base/digest.h"
#include "base/platform/exit_code.h"
#include "cli/admin/site.h"
#include "flows/ledger/wallet_changes.h"
#include "store/identity/tenants.h"
#include "unit/cli/admin_browser.h"
#include "unit/http/raw_client.h"
#include "unit/http/running_server.h"

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;

TEST_CASE("admin: files are served with a strict policy and are revalidated", "[cli][admin]") {
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
  const auto opened = browser.post("/admin/api/link", {{"link", link.reveal()}});
  CHECK(opened.status == 200);
  CHECK(Json::parse(opened.body).at("name").is_null());  // its holder chooses one
  REQUIRE(browser.post("/admin/api/claim", claim).status == 204);
  CHECK(browser.post("/admin/api/link", {{"link", link.reveal()}}).status == 401);  // used
  browser.load();
  CHECK(Json::parse(browser.get("/admin/api/session").body).at("mustEnrol") == true);
  CHECK(browser.get("/admin/api/run/wallet/list").status == 403);

  CHECK(browser.post("/admin/api/authenticator").status == 401);
  const Secret key = browser.begin_authenticator(kPassword);
  const auto step = auth::totp_step(site.file.clock().now());
  CHECK(browser.post("/admin/api/authenticator/confirm", {{"code", "000000"}}).status == 422);
  const auto confirmed =
      browser.post("/admin/api/authenticator/confirm", {{"code", auth::totp_code(key, step)}});
  REQUIRE(confirmed.status == 200);
  CHECK(Json::parse(confirmed.body).at("recoveryCodes").size() == 10);
  CHECK(browser.get("/admin/api/run/wallet/list").status == 200);

  Browser other(site.site);
  CHECK(other.sign_in("ada", kPassword) == 401);
  CHECK(other.sign_in("ada", kPassword, auth::totp_code(key, step)) == 401);  // used to enrol
  CHECK(other.sign_in("ada", kPassword, auth::totp_code(key, step + 1)) == 204);
}

TEST_CASE("admin: a change needs the same origin and the token of the session", "[cli][admin]") {
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
    CHECK(command.at("command") != "events follow");  // it does not end
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

TEST_CASE("admin: the page and the metrics accept only known Host names", "[cli][admin]") {
  OpenFile file([](Config& config) { config.admin_hosts = {"Admin.Example"}; });
  AdminSite site(file.app());
  const auto status = [&](const char* host, const char* path) {
    http::Request request;
    request.method = "GET";
    request.path = path;
    request.peer = "127.0.0.1";
    request.headers = {{"Host", host}};
    return site.handle(request).status;
  };
  for (const char* path : {"/admin/", "/metrics"}) {
    for (const char* own : {"127.0.0.1:8081", "localhost", "LOCALHOST:8081", "[::1]:8081",
                            "192.0.2.1", "admin.example", "ADMIN.example:443"}) {
      INFO(own);
      CHECK(status(own, path) == 200);
    }
    for (const char* other :
         {"evil.example", "evil.example:8081", "localhost.evil.example", "127.0.0.1.evil.example",
          "", "[evil]", "admin.example.evil.example"}) {
      INFO(other);
      CHECK(status(other, path) == 403);
    }
  }
  CHECK(status("evil.example", "/admin/api/session") == 403);
}

TEST_CASE("admin: an administrator funds a wallet, once for any number of repetitions",
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

TEST_CASE("admin: sessions end by inactivity, age, sign-out and suspension", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  site.add("bob", OperatorRole::administrator);
  Browser browser(site.site);
  const auto alive = [&] { return browser.get("/admin/api/session").status == 200; };
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  site.file.clock().advance_ms(flows::OperatorSessions::kIdleMs - 1);
  CHECK(alive());
  site.file.clock().advance_ms(flows::OperatorSessions::kIdleMs);
  CHECK_FALSE(alive());

  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  for (std::int64_t ms = 0; ms < flows::OperatorSessions::kLongestMs;
       ms += flows::OperatorSessions::kIdleMs / 2) {
    CHECK(alive());
    site.file.clock().advance_ms(flows::OperatorSessions::kIdleMs / 2);
  }
  CHECK_FALSE(alive());

  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  const std::string stolen = browser.cookie;
  CHECK(browser.post("/admin/api/sign-out").status == 204);
  browser.cookie = stolen;
  CHECK_FALSE(alive());

  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  CHECK(browser.cookie.rfind("coffer-admin-8081=", 0) == 0);
  REQUIRE(flows::suspend_operator(site.flows, "ada", true));
  CHECK_FALSE(alive());
}

TEST_CASE("admin: arguments are checked as on the command line", "[cli][admin]") {
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

TEST_CASE("admin: no page contains a path of the server", "[cli][admin]") {
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
  // Uploaded content is never used as a path: this one is parsed as JSON.
  const auto answer = browser.post("/admin/api/run/apply", {{"FILE", site.file.path()}});
  CHECK(answer.status == 400);
  CHECK(answer.body.find("SQLite") == std::string::npos);
}

TEST_CASE("admin: the page uploads a file larger than other requests", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  http::Request head;
  head.method = "POST";
  head.path = "/admin/api/run/apply";
  CHECK(site.site.admit(head, 0)->body_bytes_max == 2 * kContentBytesMax);
  head.path = "/admin/api/run/association/create";
  CHECK(site.site.admit(head, 0)->body_bytes_max < kContentBytesMax);
  std::string rates = R"({"rates":[)";
  rates.append(100'000, ' ');
  const auto taken =
      browser.post("/admin/api/run/apply", {{"FILE", rates + "]}"}, {"dry-run", true}});
  CHECK(taken.status == 200);
  const std::string beyond(kContentBytesMax + 1, ' ');
  CHECK(browser.post("/admin/api/run/apply", {{"FILE", beyond}}).status == 400);
}

TEST_CASE("admin: the listener of the page accepts the largest file of every command",
          "[cli][admin]") {
  // Different addresses, so that the page has a separate listener.
  Site site([](Config& config) {
    config.listen_http = {"127.0.0.2", 0};
    config.admin_listen = {"127.0.0.1", 0};
    config.workers = 2;
  });
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  App& app = site.file.app();
  StartError error;
  REQUIRE(app.serve(error, {[&](http::Request& request) { return site.site.handle(request); },
                            [&](const http::Request& head, std::uint64_t body_bytes) {
                              return site.site.admit(head, body_bytes);
                            },
                            AdminSite::owns}));
  REQUIRE(app.listeners().admin_stats());
  const int port = app.listeners().admin_address()->address.port;
  std::size_t tried = 0;
  for (const Command& command : commands()) {
    const bool takes_file = std::any_of(
        command.arguments.begin(), command.arguments.end(),
        [](const Argument& argument) { return argument.value == Argument::Value::content; });
    if (!takes_file) continue;
    ++tried;
    INFO(command.path);
    std::string path(command.path);
    std::replace(path.begin(), path.end(), ' ', '/');
    // The content is neither a declaration nor a payment: it reaches the command, which may reject
    // it.
    const std::string file = "{" + std::string(kContentBytesMax - 2, ' ') + "}";
    const std::string body = Json{{"FILE", file}}.dump();
    http::test::RawClient client(port);
    client.send("POST /admin/api/run/" + path + " HTTP/1.1\r\nHost: " + kHost +
                "\r\nOrigin: http://" + kHost + "\r\nCookie: " + browser.cookie +
                "\r\nX-CSRF-Token: " + browser.csrf + "\r\nContent-Type: application/json" +
                "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n");
    client.send(body);
    const std::string response = client.read_response(60'000);
    INFO(response.substr(0, 600));
    const int status = http::test::status_of(response);
    CHECK((status == 200 || status == 400));
  }
  CHECK(tried == 2);
  const http::ServerStats stats = *app.listeners().admin_stats();
  for (const LaneStats& lane : stats.lanes) CHECK(lane.rejected == 0);
  app.stop();
}

// Files that commands produce
// ----------------------------------------------------------------------

namespace {

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The streamed body; nullopt if it is incomplete.
std::optional<std::string> body_of(const http::Response& response) {
  std::string out;
  if (!response.stream) return std::nullopt;
  const bool complete = response.stream([&](std::string_view piece) {
    out += piece;
    return true;
  });
  return complete ? std::optional(out) : std::nullopt;
}

/// A site whose file has one backup in its folder.
struct SiteWithBackup {
  Folder folder;
  Site site{[this](Config& config) { config.backup_dir = folder.file("backups"); }};
  std::string path;
  std::string name;

  SiteWithBackup() {
    path = site.file.run("backup", {{"verify", "true"}}).json().at("file");
    name = path.substr(path.rfind('/') + 1);
    site.add("ada", OperatorRole::administrator);
  }
  http::Response ask(Browser& browser) {
    return browser.post("/admin/api/run/backups/download", {{"NAME", name}});
  }
  /// The URL of the file that a command produced.
  static std::string place_of(const http::Response& response) {
    REQUIRE(response.status == 200);
    return "/admin/api/" + Json::parse(response.body).at("data").at("download").get<std::string>();
  }
};

}  // namespace

TEST_CASE("admin: a backup download by an administrator is in the audit log", "[cli][admin]") {
  SiteWithBackup kept;
  Browser ada(kept.site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  const auto asked = kept.ask(ada);
  const Json data = Json::parse(asked.body).at("data");
  const std::string whole = bytes_of_file(kept.path);
  CHECK(data.at("file") == kept.name);
  CHECK(data.at("bytes") == whole.size());
  CHECK(data.at("sha256") == to_hex(as_text(sha256(whole))));
  const auto sent = ada.get(SiteWithBackup::place_of(asked));
  CHECK(sent.status == 200);
  CHECK(sent.body.empty());  // streamed
  CHECK(sent.stream_bytes == whole.size());
  CHECK(header_of(sent, "Content-Disposition") == "attachment; filename=\"" + kept.name + "\"");
  CHECK(body_of(sent) == whole);
  const Json acts = kept.site.acts("backups download", "done");
  REQUIRE(acts.size() == 1);
  CHECK(acts.at(0).at("actor") == "ada");
  CHECK(acts.at(0).dump().find(kept.name) != std::string::npos);
}

TEST_CASE("admin: a download works in one session, once, within a minute", "[cli][admin]") {
  SiteWithBackup kept;
  Browser ada(kept.site.site);
  Browser other(kept.site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  REQUIRE(other.sign_in("ada", kPassword) == 204);
  const std::string place = SiteWithBackup::place_of(kept.ask(ada));
  CHECK(other.get(place).status == 404);
  Browser stranger(kept.site.site);
  CHECK(stranger.get(place).status == 401);
  CHECK(ada.post(place).status == 405);
  CHECK(ada.post("/admin/").status == 405);
  CHECK(ada.get(place).status == 200);
  CHECK(ada.get(place).status == 404);
  const std::string late = SiteWithBackup::place_of(kept.ask(ada));
  kept.site.file.clock().advance_ms(60'001);
  CHECK(ada.get(late).status == 404);
  CHECK(ada.get("/admin/api/downloads/").status == 404);
}

TEST_CASE("admin: a waiting download survives the deletion of its backup; the oldest are dropped",
          "[cli][admin]") {
  SiteWithBackup kept;
  Browser ada(kept.site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  const std::string whole = bytes_of_file(kept.path);
  const std::string first = SiteWithBackup::place_of(kept.ask(ada));
  std::string last;
  for (std::size_t i = 0; i < Downloads::kMax; ++i) last = SiteWithBackup::place_of(kept.ask(ada));
  CHECK(ada.get(first).status == 404);
  std::filesystem::remove(kept.path);
  CHECK(body_of(ada.get(last)) == whole);
  CHECK(kept.ask(ada).status == 404);
}

TEST_CASE("admin: downloading a backup needs an administrator and a recent sign-in",
          "[cli][admin]") {
  SiteWithBackup kept;
  kept.site.add("opal", OperatorRole::operating);
  Browser opal(kept.site.site);
  REQUIRE(opal.sign_in("opal", kPassword) == 204);
  CHECK(kept.ask(opal).status == 403);
  Browser ada(kept.site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  CHECK(ada.get("/admin/api/run/backups/download?NAME=" + kept.name).status == 405);
  kept.site.file.clock().advance_ms(flows::OperatorSessions::kFreshMs + 1);
  CHECK(kept.ask(ada).status == 401);
  CHECK(kept.site.acts("backups download", "done").empty());
}

TEST_CASE("admin: a download ends when the client disconnects or the server stops",
          "[cli][admin]") {
  SiteWithBackup kept;
  Browser ada(kept.site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  int pieces = 0;
  const auto gone = ada.get(SiteWithBackup::place_of(kept.ask(ada)));
  CHECK_FALSE(gone.stream([&](std::string_view) { return ++pieces < 1; }));
  CHECK(pieces == 1);
  const auto stopped = ada.get(SiteWithBackup::place_of(kept.ask(ada)));
  kept.site.site.stop();
  CHECK_FALSE(body_of(stopped));
}

TEST_CASE("admin: files are in the lane of exports", "[cli][admin]") {
  Site site;
  http::Request head;
  head.path = "/admin/api/downloads/abc";
  CHECK(site.site.admit(head, 0)->lane == Lane::exports);
  head.path = "/admin/api/run/backups/download";
  CHECK(site.site.admit(head, 0)->lane == Lane::admin);
}

TEST_CASE("backups download: writes a listed backup to standard output", "[cli]") {
  SiteWithBackup kept;
  OpenFile& file = kept.site.file;
  const Ran ran = file.run("backups download", {{"NAME", kept.name}});
  CHECK(ran.code == 0);
  CHECK(ran.out == bytes_of_file(kept.path));
  CHECK(ran.err.empty());
  for (const std::string& name :
       {kept.name + ".sha256", std::string("../coffer.db"), kept.path, std::string("coffer.db")}) {
    INFO(name);
    const Ran rejected = file.run("backups download", {{"NAME", name}});
    CHECK(rejected.code == exit_code::kFailed);
    CHECK(rejected.out.empty());
    CHECK(rejected.err.find("was not found in backup_dir") != std::string::npos);
  }
}

TEST_CASE("backups signature: the file that a restore expects", "[cli]") {
  SiteWithBackup kept;
  const auto run = [&] { return kept.site.file.run("backups signature", {{"NAME", kept.name}}); };
  CHECK(run().out == bytes_of_file(kept.path + ".checkpoint"));
  std::filesystem::remove(kept.path + ".checkpoint");
  CHECK(run().err.find("has no signature") != std::string::npos);
}

TEST_CASE("backups download: writes no binary file to a terminal", "[cli]") {
  SiteWithBackup kept;
  std::ostringstream out;
  std::ostringstream err;
  Interruption interruption;
  const ControlRequest request{
      .command = "backups download", .arguments = {{"NAME", kept.name}}, .terminal = true};
  CHECK(run_request(kept.site.file.app(), request, out, err, interruption) == exit_code::kUsage);
  CHECK(out.str().empty());
  CHECK(err.str().find("Redirect it to a file") != std::string::npos);
}
