// Routes outside the versioned API: health, the pages, the document (docs/contract.md#addresses).
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "api/about/openapi.h"
#include "api/pipeline/routes.h"
#include "base/thread.h"
#include "support/armed_fault.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

/// Waits for the server's threads, which use the machine's clock.
void wait_a_moment() {
  Mutex mutex;
  Condition never;
  const Lock lock(mutex);
  never.wait_for_ms(mutex, 5);
}

}  // namespace

TEST_CASE("livez responds while the process runs") {
  TestApp app;
  app.clock.advance_ms(60'000);
  const Reply reply = app.anonymous().get("/livez");
  CHECK(reply.status == 200);
  CHECK(reply.json() == Json{{"status", "ok"}});
}

TEST_CASE("healthz is ready while payments can be accepted, and readyz is an alias") {
  TestApp app;
  for (const char* path : {"/healthz", "/readyz"}) {
    const Reply reply = app.anonymous().get(path);
    CHECK(reply.status == 200);
    const Json body = reply.json();
    CHECK(body.at("status") == "ok");
    for (const auto& [name, value] : body.at("checks").items()) {
      INFO(name);
      CHECK(value == "ok");
    }
  }
}

TEST_CASE("on a full disk, the server is alive but not ready, and recovers automatically") {
  TestApp app;
  const std::string from = app.wallet("USDC", "5"), to = app.wallet("USDC");
  app.clock.advance_ms(1'000);
  {
    const ArmedFault fault("disk.full:0=fail");
    CHECK(app.me().post("/v1/payments/p2p/own", transfer_body(from, to, "1")).slug() ==
          "storage-full");
    const Reply reply = app.anonymous().get("/healthz");
    CHECK(reply.status == 503);
    CHECK_FALSE(reply.header("Retry-After").empty());
    CHECK(reply.json().at("status") == "unavailable");
    CHECK(reply.json().at("checks").at("disk") == "failed");
    CHECK(app.anonymous().get("/livez").status == 200);
    CHECK(app.me().get("/v1/wallets/" + from).status == 200);
  }
  app.clock.advance_ms(1'000);
  CHECK(app.me().post("/v1/payments/p2p/own", transfer_body(from, to, "1")).status == 202);
  CHECK(app.anonymous().get("/healthz").status == 200);
}

TEST_CASE("a writer that is stuck in a batch is not ready") {
  TestApp app;
  Mutex mutex;
  Condition changed;
  bool inside = false, released = false;
  const auto wait_for = [&](bool& what) {
    const Lock lock(mutex);
    while (!what) changed.wait(mutex);
  };
  const auto tell = [&](bool& what) {
    const Lock lock(mutex);
    what = true;
    changed.notify_all();
  };
  Thread stuck("stuck", [&] {
    app.core()
        .queue()
        .run([&](store::WriteTx&) -> Result<void> {
          tell(inside);
          wait_for(released);
          return {};
        })
        .value();
  });
  wait_for(inside);
  CHECK(app.anonymous().get("/healthz").status == 200);
  app.clock.advance_ms(60'000);
  const Reply reply = app.anonymous().get("/healthz");
  CHECK(reply.status == 503);
  CHECK(reply.json().at("checks").at("writer") == "failed");
  tell(released);
  stuck.join();
  CHECK(app.anonymous().get("/healthz").status == 200);
}

TEST_CASE("a server that does not settle is not ready, and it recovers automatically") {
  TestApp app;
  const std::string from = app.wallet("USDC", "5"), to = app.wallet("USDC");
  app.listen();
  const auto settlement = [&] {
    return app.anonymous().get("/healthz").json().at("checks").at("settlement").get<std::string>();
  };
  CHECK(settlement() == "ok");
  {
    const ArmedFault fault("settle.before:0=throw");
    app.me().transfer(from, to, "1");
    // Its thread is running; wait until it has failed.
    for (int i = 0; i < 2'000 && settlement() == "ok"; ++i) {
      app.clock.advance_ms(1'000);
      wait_a_moment();
    }
    const Reply reply = app.anonymous().get("/healthz");
    CHECK(reply.status == 503);
    CHECK(reply.json().at("checks").at("settlement") == "failed");
  }
  for (int i = 0; i < 2'000 && settlement() != "ok"; ++i) wait_a_moment();
  CHECK(app.anonymous().get("/healthz").status == 200);
}

TEST_CASE("a server that is stopping is not ready") {
  TestApp app;
  app.core().stop();
  const Reply reply = app.anonymous().get("/healthz");
  CHECK(reply.status == 503);
  CHECK(reply.json().at("checks").at("serving") == "failed");
}

TEST_CASE("a server whose database was moved stores nothing, and continues when it is back") {
  TestApp app;
  const std::string from = app.wallet("USDC", "5"), to = app.wallet("USDC");
  const std::string path = app.core().database().path();
  std::filesystem::rename(path, path + ".away");
  const auto pay = [&] {
    return app.me().post("/v1/payments/p2p/own", {{"transactionId", "moved"},
                                                  {"sendingAssetCode", "USDC"},
                                                  {"amount", "1"},
                                                  {"sourceWalletId", from},
                                                  {"destinationWalletId", to}});
  };
  const Reply rejected = pay();
  CHECK(rejected.status == 503);
  CHECK(rejected.json().at("type") == "urn:coffer:problem:overloaded");
  const Reply health = app.anonymous().get("/healthz");
  CHECK(health.status == 503);
  CHECK(health.json().at("checks").at("database") == "failed");
  std::filesystem::rename(path + ".away", path);
  CHECK(app.anonymous().get("/healthz").status == 200);
  const Reply again = pay();
  CHECK(again.status == 202);
  CHECK_FALSE(again.json().at("isIdempotent").get<bool>());
}

TEST_CASE("every problem has the page its docUrl names") {
  TestApp app;
  for (const SlugInfo& slug : slug_table()) {
    const Reply reply = app.anonymous().get("/problems/" + std::string(slug.name));
    INFO(slug.name);
    CHECK(reply.status == 200);
    CHECK(reply.header("Content-Type") == "text/html; charset=utf-8");
    CHECK_FALSE(reply.header("Content-Security-Policy").empty());
    CHECK_THAT(reply.body, Catch::Matchers::Contains(std::string(slug.name)));
    CHECK_THAT(reply.body, Catch::Matchers::Contains(std::to_string(slug.status)));
    CHECK_THAT(reply.body, !Catch::Matchers::Contains("{{"));
  }
  CHECK(app.anonymous().get("/problems/no-such-problem").status == 404);
  // A real problem links to its page.
  const std::string url = app.anonymous().get("/v1/wallets").json().at("docUrl");
  const std::string host = "https://coffer.example";
  REQUIRE(url.starts_with(host + "/"));
  CHECK(app.anonymous().get(url.substr(host.size())).status == 200);
}

TEST_CASE("the index and its style sheet") {
  TestApp app;
  const Reply index = app.anonymous().get("/");
  CHECK(index.status == 200);
  CHECK(index.header("Content-Type") == "text/html; charset=utf-8");
  // Every link of the page works.
  std::set<std::string> links;
  for (const char* mark : {"href=\"", "src=\""}) {
    for (auto at = index.body.find(mark); at != std::string::npos;
         at = index.body.find(mark, at + 1)) {
      const auto begin = at + std::string_view(mark).size();
      links.insert(index.body.substr(begin, index.body.find('"', begin) - begin));
    }
  }
  CHECK_FALSE(links.empty());
  for (const std::string& link : links) {
    INFO(link);
    const std::string path = link.substr(0, link.find('#'));
    if (path.starts_with("/")) CHECK(app.anonymous().get(path).status == 200);
  }
  CHECK(app.anonymous().get("/style.css").header("Content-Type") == "text/css; charset=utf-8");
}

TEST_CASE("the document names every route under /v1 with every status, and nothing else") {
  TestApp app;
  const Reply reply = app.anonymous().get("/v1/openapi.json");
  CHECK(reply.status == 200);
  CHECK(reply.header("Content-Type") == "application/json");
  CHECK(reply.body == api::openapi_document());
  const Json document = reply.json();
  CHECK(document.at("openapi") == "3.1.0");
  CHECK(document.at("info").at("version") == COFFER_VERSION);
  std::set<std::string> documented, declared;
  for (const auto& [path, operations] : document.at("paths").items()) {
    for (const auto& [method, operation] : operations.items()) {
      for (const auto& [status, answer] : operation.at("responses").items()) {
        documented.insert(method + " " + path + " " + status);
      }
    }
  }
  for (const api::Route& route : api::routes()) {
    if (!route.pattern.starts_with("/v1/")) continue;
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const auto declare = [&](int status) {
      declared.insert(method + " " + std::string(route.pattern) + " " + std::to_string(status));
    };
    // A success that a query selects is documented with its own operation.
    for (const api::DeclaredResponse& answer : route.responses) declare(answer.status);
    for (const Slug slug : api::problems_of(route)) declare(info(slug).status);
  }
  CHECK(documented == declared);
}

TEST_CASE("every reference in the document resolves, and every component is used") {
  TestApp app;
  const Json document = app.anonymous().get("/v1/openapi.json").json();
  std::set<std::string> used;
  const auto flat = document.flatten();
  for (const auto& [path, value] : flat.items()) {
    if (!path.ends_with("/$ref")) continue;
    const std::string target = value.get<std::string>().substr(1);
    INFO(path << " -> " << target);
    CHECK(document.contains(Json::json_pointer(target)));
    used.insert(target);
  }
  for (const char* kind : {"schemas", "responses", "headers", "parameters", "examples"}) {
    for (const auto& [name, part] : document.at("components").at(kind).items()) {
      INFO(kind << " " << name);
      CHECK(used.contains("/components/" + std::string(kind) + "/" + name));
    }
  }
}
