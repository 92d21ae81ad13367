// Access to /metrics.
#include "cli/admin/metrics_page.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "cli/admin/site.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;

namespace metrics_page_test {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

http::Response ask(AdminSite& site, const std::string& peer, const Headers& headers = {},
                   const std::string& method = "GET") {
  http::Request request;
  request.method = method;
  request.path = "/metrics";
  request.peer = peer;
  request.headers = headers;
  return site.handle(request);
}

std::string header_of(const http::Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

struct Page {
  explicit Page(const std::string& token = {})
      : file([&](Config& config) { config.metrics_token = Secret(token); }) {}
  OpenFile file;
  AdminSite site{file.app()};
};

const std::string kToken = "a-token-of-the-settings";

}  // namespace

TEST_CASE("metrics page: readable without credentials from this machine") {
  Page page;
  for (const char* peer : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    INFO(peer);
    const auto response = ask(page.site, peer);
    CHECK(response.status == 200);
    CHECK(response.content_type == "text/plain; version=0.0.4; charset=utf-8");
    CHECK(header_of(response, "Cache-Control") == "no-store");
    CHECK_THAT(response.body, Catch::Matchers::Contains("# TYPE coffer_build_info gauge\n"));
  }
}

TEST_CASE("metrics page: without a configured token it is not found remotely") {
  Page page;
  CHECK(ask(page.site, "192.0.2.1").status == 404);
  CHECK(ask(page.site, "192.0.2.1", {{"Authorization", "Bearer "}}).status == 404);
}

TEST_CASE("metrics page: a request through a proxy is not local") {
  for (const char* name : {"X-Forwarded-For", "x-forwarded-for", "Forwarded", "Via", "X-Real-IP"}) {
    INFO(name);
    Page closed;
    CHECK(ask(closed.site, "127.0.0.1", {{name, "127.0.0.1"}}).status == 404);
    Page open(kToken);
    CHECK(ask(open.site, "127.0.0.1", {{name, "127.0.0.1"}}).status == 401);
    CHECK(ask(open.site, "127.0.0.1", {{name, "127.0.0.1"}, {"Authorization", "Bearer " + kToken}})
              .status == 200);
  }
}

TEST_CASE("metrics page: other machines need the complete Bearer token") {
  Page page(kToken);
  CHECK(ask(page.site, "127.0.0.1").status == 200);
  const auto rejected = ask(page.site, "192.0.2.1");
  CHECK(rejected.status == 401);
  CHECK_THAT(header_of(rejected, "WWW-Authenticate"), Catch::Matchers::StartsWith("Bearer"));
  CHECK_THAT(rejected.body, !Catch::Matchers::Contains("coffer_"));
  for (const std::string& wrong :
       {std::string("Bearer "), "Bearer x" + kToken, "Bearer " + kToken + " ",
        "Bearer " + kToken.substr(1), kToken, "Basic " + kToken}) {
    INFO(wrong);
    CHECK(ask(page.site, "192.0.2.1", {{"Authorization", wrong}}).status == 401);
  }
  CHECK(ask(page.site, "192.0.2.1", {{"Authorization", "Bearer " + kToken}}).status == 200);
}

TEST_CASE("metrics page: only readable, and not opened by a cookie") {
  Page page;
  CHECK(ask(page.site, "::1", {}, "HEAD").status == 200);
  CHECK(ask(page.site, "::1", {}, "POST").status == 405);
  CHECK(ask(page.site, "192.0.2.1", {{"Cookie", "coffer-admin=x"}}).status == 404);
}

TEST_CASE("admin site: other paths are not found, and the root redirects to it") {
  Page page;
  const auto get = [&](const std::string& path) {
    http::Request request;
    request.method = "GET";
    request.path = path;
    request.peer = "127.0.0.1";
    return page.site.handle(request);
  };
  CHECK(get("/x").status == 404);
  CHECK(get("/administrator").status == 404);
  CHECK(get("/").status == 308);
  CHECK(header_of(get("/"), "Location") == "/admin/");
  CHECK(AdminSite::owns("/metrics"));
  CHECK_FALSE(AdminSite::owns("/metrics/"));
}

}  // namespace metrics_page_test
