// `docUrl` of every problem is absolute and points to this server's page about the problem.
#include <catch2/catch.hpp>
#include <map>

#include "support/test_app.h"
#include "support/wire.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kPage = "/problems/unauthorized";

void no_domain(Config& config) {
  config.home_domain.clear();
  config.trusted_proxies = {"127.0.0.1", "::1"};
}

/// The docUrl of a rejected request with these header lines.
std::string doc_url(TestApp& app, const std::string& headers) {
  const Reply reply =
      send_raw(app.core().listeners().port(),
               "GET /v1/wallets HTTP/1.1\r\nConnection: close\r\n" + headers + "\r\n");
  INFO(reply.text());
  REQUIRE(reply.slug() == "unauthorized");
  return reply.json().at("docUrl");
}

}  // namespace

TEST_CASE("docUrl names the host that the client called") {
  TestApp app(no_domain);
  app.listen();
  const std::string own = "http://127.0.0.1:" + std::to_string(app.core().listeners().port());
  struct Row {
    const char* headers;
    std::string base;
  };
  const Row rows[] = {
      {"Host: pay.example\r\n", "http://pay.example"},
      {"Host: pay.example:8443\r\n", "http://pay.example:8443"},
      {"Host: PAY.example\r\n", "http://PAY.example"},
      {"Host: 192.0.2.1:80\r\n", "http://192.0.2.1:80"},
      {"Host: [2001:db8::1]:8080\r\n", "http://[2001:db8::1]:8080"},
      {"Host: [::1]\r\n", "http://[::1]"},
      // The test connects like a trusted proxy that terminates TLS.
      {"Host: pay.example\r\nX-Forwarded-Proto: https\r\n", "https://pay.example"},
      {"Host: pay.example\r\nX-Forwarded-Proto: HTTPS\r\n", "https://pay.example"},
      {"Host: pay.example\r\nX-Forwarded-Proto: javascript\r\n", "http://pay.example"},
      {"Host: pay.example\r\nX-Forwarded-Host: evil.example\r\n", "http://pay.example"},
      // Hosts that the header gate accepts but that must not be in a link.
      {"Host: evil.example;x=1\r\n", own},
      {"Host: a'b.example\r\n", own},
      {"Host: pay.example:\r\n", own},
      {"Host: pay.example:99999\r\n", own},
      {"Host: pay.example:8o\r\n", own},
      {"Host: -pay.example\r\n", own},
      {"Host: pay..example\r\n", own},
      {"Host: .example\r\n", own},
      {"Host: %2e\r\n", own},
      {"Host: [::1\r\n", own},
      {"Host: [nonsense]\r\n", own},
      {"Host: ::1\r\n", own},
      {"Host: ()\r\n", own},
  };
  for (const Row& row : rows) {
    INFO(row.headers);
    CHECK(doc_url(app, row.headers) == row.base + kPage);
  }
  CHECK(doc_url(app, "Host: " + std::string(254, 'a') + "\r\n") == own + kPage);
}

TEST_CASE("X-Forwarded-Proto counts only from trusted proxies") {
  TestApp app(no_domain);
  for (const auto& [peer, scheme] : std::map<std::string, std::string>{{"127.0.0.1", "https"},
                                                                       {"::1", "https"},
                                                                       {"192.0.2.9", "http"},
                                                                       {"2001:db8::9", "http"}}) {
    http::Request request;
    request.method = "GET";
    request.path = "/v1/wallets";
    request.headers = {{"Host", "pay.example"}, {"X-Forwarded-Proto", "https"}};
    request.peer = peer;
    INFO(peer);
    CHECK(Json::parse(app.core().pipeline().handle(request).body).at("docUrl") ==
          scheme + "://pay.example" + kPage);
  }
}

TEST_CASE("docUrl names the configured domain, whatever the request says") {
  TestApp app([](Config& config) { config.web_auth_domain = "pay.example.com"; });
  app.listen();
  CHECK(doc_url(app, "Host: other.example\r\n") == "https://pay.example.com" + kPage);
  // A rejection before the request is read.
  const Reply early =
      send_raw(app.core().listeners().port(), "GET /v1/wallets HTTP/2.0\r\nHost: a\r\n\r\n");
  CHECK(early.json().at("docUrl") == "https://pay.example.com/problems/malformed-request");
}

TEST_CASE(
    "docUrl is absolute and its page exists, also for rejections before routing and in rows") {
  TestApp app(no_domain);
  app.listen();
  const std::string own = "http://127.0.0.1:" + std::to_string(app.core().listeners().port());
  const Client client = app.me().over_wire();  // sends a Host without a port
  const Reply early =
      send_raw(app.core().listeners().port(), "GET /v1/wallets HTTP/2.0\r\nHost: a\r\n\r\n");
  const Reply form = client.send({"POST",
                                  "/v1/auth/token",
                                  {{"Content-Type", "application/x-www-form-urlencoded"}},
                                  "grant_type=nonsense"});
  const Reply bulk = client.post("/v1/beneficiaries/bulk", {{"beneficiaries", {Json::object()}}});
  REQUIRE(bulk.status == 200);
  for (const Json& problem : {early.json(), form.json(), bulk.json().at("results")[0].at("problem"),
                              client.get("/v1/nothing").json()}) {
    const std::string url = problem.at("docUrl");
    INFO(url);
    const auto page = url.find("/problems/");
    REQUIRE(page != std::string::npos);
    const std::string base = url.substr(0, page);
    CHECK((base == own || base == "http://127.0.0.1" || base == "http://a"));
    CHECK(client.get(url.substr(page)).status == 200);
  }
}

TEST_CASE("docUrl of a rejection before routing names the host that the client called") {
  TestApp app(no_domain);
  app.listen();
  const std::string host = "Host: pay.example\r\nX-Forwarded-Proto: https\r\n";
  const std::string token = "POST /v1/auth/token HTTP/1.1\r\n";
  const std::vector<std::pair<std::string, int>> early = {
      {token + host + "Content-Length: 70000\r\n\r\n", 413},
      {"POST /nowhere HTTP/1.1\r\n" + host + "Content-Length: 70000\r\n\r\n", 404},
      {token + host + "Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n", 415},
      {token + "Content-Encoding: gzip\r\n" + host + "\r\n", 415},
      {token + host + "A: " + std::string(17'000, 'a') + "\r\n\r\n", 431},
      {token + host + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {token + host + "Transfer-Encoding: chunked\r\n\r\n11170\r\n", 413},
      {"GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET / HTTP/2.0\r\n" + host + "\r\n", 400},
      {"GET /v1/wallets HTTP/1.1\r\n" + host + "no colon\r\n\r\n", 400},
      {"GET http://pay.example/" + std::string(3, '/') +
           "v1 HTTP/1.1\r\nHost: other\r\n"
           "X-Forwarded-Proto: https\r\nConnection: close\r\n\r\n",
       404}};
  for (const auto& [bytes, status] : early) {
    INFO(bytes.substr(0, 120));
    const Reply reply = send_raw(app.core().listeners().port(), bytes);
    CHECK(reply.status == status);
    CHECK(
        reply.json().at("docUrl").get<std::string>().starts_with("https://pay.example/problems/"));
  }
}
