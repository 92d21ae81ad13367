// Rules for every request: prefixes, methods, request IDs, error formats.
#include <catch2/catch.hpp>

#include "support/armed_fault.h"
#include "support/test_app.h"
#include "support/wire.h"

using namespace coffer;
using namespace coffer::test;

TEST_CASE("a known path with another method is 405 with Allow, and OPTIONS succeeds") {
  TestApp app;
  struct Row {
    const char* path;
    const char* allow;
    const char* method;
  };
  const Row rows[] = {
      {"/v1/wallets", "GET, HEAD, OPTIONS, POST", "DELETE"},
      {"/v1/wallets/0194", "GET, HEAD, OPTIONS, PUT", "PATCH"},
      {"/v1/auth/token", "OPTIONS, POST", "GET"},
      {"/v1/payments/p2p/own", "OPTIONS, POST", "HEAD"},
      {"/v1/transactions", "GET, HEAD, OPTIONS", "POST"},
      {"/healthz", "GET, HEAD, OPTIONS", "POST"},
      {"/gw/v1/wallets", "GET, HEAD, OPTIONS, POST", "get"},
  };
  for (const Row& row : rows) {
    INFO(row.method << " " << row.path);
    const Reply wrong = app.anonymous().send({row.method, row.path, {}, {}});
    CHECK(wrong.status == 405);
    CHECK(wrong.header("Allow") == row.allow);
    if (std::string(row.method) != "HEAD") CHECK(wrong.slug() == "method-not-allowed");
    const Reply options = app.anonymous().send({"OPTIONS", row.path, {}, {}});
    CHECK(options.status == 204);
    CHECK(options.header("Allow") == row.allow);
    CHECK(options.body.empty());
  }
}

TEST_CASE("HEAD is GET without the body") {
  TestApp app;
  app.listen();
  const Client client = app.me().over_wire().with("X-Request-Id", "same");
  for (const char* path : {"/v1/wallets", "/v1/assets/USDC", "/v1/assets/NOPE", "/livez", "/"}) {
    INFO(path);
    const Reply get = client.get(path);
    const Reply head = client.send({"HEAD", path, {}, {}});
    CHECK(head.status == get.status);
    CHECK(head.body.empty());
    CHECK(head.header("Content-Length") == std::to_string(get.body.size()));
    CHECK(head.header("Content-Type") == get.header("Content-Type"));
  }
}

TEST_CASE("other paths are not found") {
  TestApp app;
  for (const char* path :
       {"/v1", "/v1/", "/v2/wallets", "/v1/wallets/", "/v1//wallets", "/gw/wallets", "/gw",
        "/gw/gw/v1/wallets", "/v1/wallets/../assets", "/v1/payments/p2p", "/V1/wallets", "/wallets",
        "/connectors", "/gw/healthz", "/gw/livez", "/v1/healthz"}) {
    const Reply reply = app.me().get(path);
    INFO(path << " " << reply.text());
    CHECK(reply.status == 404);
    CHECK(reply.slug() == "not-found");
    CHECK(reply.json().at("instance") == path);
  }
}

TEST_CASE("a path that does not exist leads to the nearest one") {
  TestApp app;
  for (const auto& [path, nearest] :
       {std::pair{"/v1/wallet", "/v1/wallets"},
        std::pair{"/v1/wallet/0190a5a0-0000-7000-8000-00005f607182", "/v1/wallets/{walletId}"},
        std::pair{"/gw/v1/benificiaries", "/v1/beneficiaries"},
        std::pair{"/wallets", "/v1/wallets"},
        std::pair{"/v1/payments/p2p/own/mutli", "/v1/payments/p2p/own/multi"}}) {
    INFO(path);
    CHECK(app.me().get(path).json().at("detail") ==
          "This path does not exist. The nearest is " + std::string(nearest) + ".");
  }
  // What stands at a parameter does not make other words near.
  for (const char* path :
       {"/v1/nothing-at-all-like-this", "/nothing-at-all-like-this",
        "/v1/xyz/0190a5a0-0000-7000-8000-00005f607182", "/v1/payments/p2p/xyz"}) {
    INFO(path);
    CHECK(app.me().get(path).json().at("detail") == "This path does not exist.");
  }
}

TEST_CASE("the members of a problem") {
  TestApp app;
  const Reply reply = app.me().with("X-Request-Id", "my.own_id-1").get("/v1/wallets?limit=0");
  CHECK(reply.header("Content-Type") == "application/problem+json");
  CHECK(reply.json() ==
        Json{{"type", "urn:coffer:problem:malformed-request"},
             {"title", "Malformed request"},
             {"status", 400},
             {"detail", "limit must be a whole number from 1 to 100."},
             {"instance", "/v1/wallets"},
             {"requestId", "my.own_id-1"},
             {"code", "malformed_request"},
             {"docUrl", "https://coffer.example/problems/malformed-request"},
             {"errors",
              {{{"field", "limit"}, {"message", "limit must be a whole number from 1 to 100."}}}}});
}

TEST_CASE("an acceptable request ID is kept, any other is replaced by a UUID") {
  TestApp app;
  app.listen();
  const Client client = app.anonymous().over_wire();
  for (const std::string& id : {std::string("a"), std::string("A-Z.0_9"), std::string(64, 'x')}) {
    const Reply reply = client.with("X-Request-Id", id).get("/v1/wallets");
    CHECK(reply.header("X-Request-Id") == id);
    CHECK(reply.json().at("requestId") == id);
  }
  for (const std::string& id :
       {std::string(65, 'x'), std::string("a b"), std::string("a/b"), std::string("\"a\"")}) {
    const Reply reply = client.with("X-Request-Id", id).get("/v1/wallets");
    INFO(id);
    CHECK(reply.header("X-Request-Id") != id);
    CHECK(Uuid::parse(reply.header("X-Request-Id")));
    CHECK(reply.json().at("requestId") == reply.header("X-Request-Id"));
  }
  const Reply first = client.get("/livez"), second = client.get("/livez");
  CHECK(first.header("X-Request-Id") != second.header("X-Request-Id"));
}

TEST_CASE("errors before routing have the same members and a request ID") {
  TestApp app;
  app.listen();
  struct Row {
    const char* bytes;
    int status;
    const char* slug;
  };
  const Row rows[] = {
      {"GET /v1/wallets HTTP/1.1\r\nX-Request-Id: mine\r\n\r\n", 400, "malformed-request"},
      {"GET /v1/wallets HTTP/2.0\r\nHost: a\r\nX-Request-Id: mine\r\n\r\n", 400,
       "malformed-request"},
      {"POST /v1/wallets HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\nTransfer-Encoding: "
       "chunked\r\nContent-Length: 1\r\n\r\n",
       400, "malformed-request"},
      {"POST /v1/wallets HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\nTransfer-Encoding: "
       "gzip, chunked\r\n\r\n",
       400, "malformed-request"},
      {"POST /v1/wallets HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\nTransfer-Encoding: "
       "chunked\r\n\r\n0x1\r\n",
       400, "malformed-request"},
      {"POST /v1/wallets HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\nTransfer-Encoding: "
       "chunked\r\n\r\n10001\r\n",
       413, "payload-too-large"},
      {"POST /v1/wallets HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\nContent-Encoding: "
       "gzip\r\nContent-Length: 1\r\n\r\nx",
       415, "unsupported-media-type"},
      {"POST /v1/wallets HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\nContent-Length: "
       "65537\r\n\r\n",
       413, "payload-too-large"},
  };
  for (const Row& row : rows) {
    const Reply reply = send_raw(app.core().listeners().port(), row.bytes);
    INFO(row.bytes << reply.text());
    CHECK(reply.status == row.status);
    CHECK(reply.slug() == row.slug);
    CHECK(reply.header("Content-Type") == "application/problem+json");
    CHECK(reply.header("X-Request-Id") == "mine");
    CHECK(reply.json().at("requestId") == "mine");
  }
}

TEST_CASE("a body of 64 KiB is accepted, one byte more is rejected") {
  TestApp app;
  app.listen();
  const Client client = app.me().over_wire();
  const std::string shortest =
      R"({"walletName":"x","assetCode":"USDC","ownAccount":true,"pad":[]})";
  const auto padded = [&](std::size_t size) {
    std::string body = shortest;
    body.insert(body.size() - 2, std::string(size - shortest.size(), ' '));
    return body;
  };
  CHECK(client.post_text("/v1/wallets", padded(64 * 1024)).status == 201);
  const Reply reply = client.post_text("/v1/wallets", padded(64 * 1024 + 1));
  CHECK(reply.status == 413);
  CHECK(reply.slug() == "payload-too-large");
}

TEST_CASE("JSON bodies that are rejected before the handler") {
  TestApp app;
  std::string deep = R"({"walletName":"x","assetCode":"USDC","metadata":)";
  for (int i = 0; i < 32; ++i) deep += "[";
  for (int i = 0; i < 32; ++i) deep += "]";
  const std::string bodies[] = {
      "",
      "{",
      "nonsense",
      "{} {}",
      R"({"walletName":"a","walletName":"b"})",
      R"({"walletName":"a\u0000b"})",
      "{\"walletName\":\"\xff\xfe\"}",
      "\xef\xbb\xbf{}",
      R"({"walletName":")" + std::string(4097, 'x') + R"("})",
      deep + "}",
      "[1,2]",
      "null",
      "\"text\"",
      "12",
  };
  for (const std::string& body : bodies) {
    const Reply reply =
        app.me().send({"POST", "/v1/wallets", {{"Content-Type", "application/json"}}, body});
    INFO(body.substr(0, 100) << " -> " << reply.text());
    CHECK(reply.status == 400);
    CHECK(reply.slug() == "malformed-request");
  }
}

TEST_CASE("an unexpected error shows no details to the client and all details in the log") {
  TestApp app;
  const ArmedFault fault("pipeline.handler=throw");
  const Reply reply = app.me().with("X-Request-Id", "seen-in-log").get("/v1/assets");
  CHECK(reply.status == 502);
  CHECK(reply.slug() == "unexpected-error");
  CHECK_THAT(reply.body, !Catch::Matchers::Contains("fault point"));
  CHECK_THAT(app.log(), Catch::Matchers::Contains("fault point pipeline.handler"));
  CHECK_THAT(app.log(), Catch::Matchers::Contains("seen-in-log"));
  // The next request is served normally.
  CHECK(app.me().get("/v1/assets").status == 200);
}

TEST_CASE("headers that every response has, and headers that none has") {
  TestApp app;
  app.listen();
  const Client client = app.me().over_wire().with("X-Request-Id", "mine");
  for (const char* path :
       {"/v1/assets", "/v1/assets/NOPE", "/nothing", "/livez", "/v1/wallets?x=%zz"}) {
    const Reply reply = client.get(path);
    INFO(path);
    CHECK(reply.header("X-Request-Id") == "mine");
    CHECK(reply.header("X-Content-Type-Options") == "nosniff");
    CHECK(reply.header("Cache-Control") == "no-store");
    CHECK_FALSE(reply.header("Date").empty());
    CHECK_FALSE(reply.has_header("Server"));
  }
}
