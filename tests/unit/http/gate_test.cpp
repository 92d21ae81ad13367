#include "http/gate.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::http;

namespace {

GateResult inspect(std::string_view bytes, GateLimits limits = {}) {
  GateProgress progress;
  return inspect_header(bytes, limits, progress);
}

RequestHead passed(std::string_view bytes) {
  GateResult result = inspect(bytes);
  if (const auto* rejection = std::get_if<Rejection>(&result)) INFO(rejection->problem.detail);
  REQUIRE(std::holds_alternative<RequestHead>(result));
  return std::get<RequestHead>(std::move(result));
}

/// Status of the rejection; 0 if the request passed, -1 while it is incomplete.
int rejected(std::string_view bytes, GateLimits limits = {}) {
  const GateResult result = inspect(bytes, limits);
  if (std::holds_alternative<Incomplete>(result)) return -1;
  const auto* rejection = std::get_if<Rejection>(&result);
  return rejection == nullptr ? 0 : rejection->problem.status();
}

std::string get_request(std::string_view fields) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

}  // namespace

TEST_CASE("a plain request passes, with its method, target and frame") {
  const std::string bytes =
      "\r\nPOST /v1/wallets/a%20b?limit=5&q=a+b%26c&flag HTTP/1.1\r\nHost: pay.example:8443\r\n"
      "X-Auth: a%2Bb%0d%0a\r\ncontent-length:  7 \r\nX-Empty:\r\n\r\n{\"a\":1}GET ";
  const RequestHead head = passed(bytes);
  CHECK(head.method == "POST");
  CHECK(head.target == "/v1/wallets/a%20b?limit=5&q=a+b%26c&flag");
  CHECK(head.path() == "/v1/wallets/a%20b");
  CHECK(head.content_length == 7);
  CHECK(bytes.substr(head.head_bytes, 7) == "{\"a\":1}");
  CHECK(head.keep_alive);
}

TEST_CASE("a header that arrives byte by byte gives the same result") {
  const std::string bytes = "\r\nGET /x HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n";
  GateProgress progress;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    const GateResult result = inspect_header(std::string_view(bytes).substr(0, i), {}, progress);
    REQUIRE(std::holds_alternative<Incomplete>(result));
    REQUIRE(progress.scanned + 1 >= i);  // a carriage return waits for what follows it
  }
  const GateResult result = inspect_header(bytes, {}, progress);
  REQUIRE(std::holds_alternative<RequestHead>(result));
  CHECK(std::get<RequestHead>(result).head_bytes == bytes.size());
}

TEST_CASE("an invalid request line is rejected before the header ends") {
  CHECK(rejected("GET /\r\n") == 400);  // HTTP/0.9: nothing more will come
  CHECK(rejected("GET / HTTP/2.0\r\n") == 400);
  CHECK(rejected("EHLO a\r\n") == 400);
  CHECK(rejected("\r\nGET / HTTP/3\r\n") == 400);
  CHECK(rejected("GET / HTTP/1.1\r\n") == -1);
  CHECK(rejected("GET / HTTP/1.1\r\nHost: a\r\n") == -1);
  CHECK(rejected("GET /\r") == -1);
  CHECK(rejected("\r\n") == -1);
}

TEST_CASE("ambiguous requests are rejected") {
  const auto [name, fields, status] = GENERATE(table<std::string, std::string, int>({
      {"two lengths", "Content-Length: 3\r\nContent-Length: 4\r\n", 400},
      {"the same length twice", "Content-Length: 3\r\nContent-Length: 3\r\n", 400},
      {"a list of lengths", "Content-Length: 3, 3\r\n", 400},
      {"a signed length", "Content-Length: +3\r\n", 400},
      {"a negative length", "Content-Length: -3\r\n", 400},
      {"a hex length", "Content-Length: 0x3\r\n", 400},
      {"an empty length", "Content-Length:\r\n", 400},
      {"length and coding", "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", 400},
      {"coding and length", "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", 400},
      {"chunked", "Transfer-Encoding: chunked\r\n", 0},
      {"chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 400},
      {"chunked in a list", "Transfer-Encoding: chunked, chunked\r\n", 400},
      {"another coding first", "Transfer-Encoding: gzip, chunked\r\n", 400},
      {"an empty coding", "Transfer-Encoding:\r\n", 400},
      {"chunked in capitals", "Transfer-Encoding: CHUNKED\r\n", 0},
      {"chunked in mixed case", "Transfer-Encoding: Chunked\r\n", 0},
      {"chunked twice in mixed case",
       "Transfer-Encoding: Chunked\r\nTransfer-Encoding: chunked\r\n", 400},
      {"another coding in capitals first", "Transfer-Encoding: GZIP, CHUNKED\r\n", 400},
      {"a vertical tab before chunked", "Transfer-Encoding: \vchunked\r\n", 400},
      {"length and coding in capitals", "Content-Length: 3\r\nTransfer-Encoding: CHUNKED\r\n", 400},
      {"chunked in quotes", "Transfer-Encoding: \"chunked\"\r\n", 400},
      {"chunked with a parameter", "Transfer-Encoding: chunked;a=b\r\n", 400},
      {"a length of zero and coding", "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n", 400},
      {"an unknown coding", "Transfer-Encoding: xchunked\r\n", 400},
      {"identity coding", "Transfer-Encoding: identity\r\n", 400},
      {"coding in odd case", "transfer-ENCODING: \tchunked\r\n", 0},
      {"a second Host", "Host: b\r\n", 400},
      {"the same Host twice", "host: a\r\n", 400},
      {"folding with a space", "A: b\r\n c\r\n", 400},
      {"folding with a tab", "A: b\r\n\tc\r\n", 400},
      {"space before the colon", "Content-Length : 3\r\n", 400},
      {"tab before the colon", "A\t: b\r\n", 400},
      {"no colon", "Abc\r\n", 400},
      {"an empty name", ": b\r\n", 400},
      {"a space in the name", "A b: c\r\n", 400},
      {"a parenthesis in the name", "A(b): c\r\n", 400},
      {"a NUL in the value", std::string("A: b\0c\r\n", 8), 400},
      {"a NUL in the name", std::string("A\0: b\r\n", 7), 400},
      {"a bell in the value", "A: b\ac\r\n", 400},
      {"a delete in the value", "A: b\x7f\r\n", 400},
      {"a lone CR in the value", "A: b\rc\r\n", 400},
      {"a bare line feed", "A: b\nC: d\r\n", 400},
      {"a bare line feed at once", "A: b\n\n", 400},
      {"a coded body", "Content-Encoding: gzip\r\n", 415},
      {"a length of 20 digits", "Content-Length: 99999999999999999999\r\n", 0},
      {"identity content", "Content-Encoding: identity\r\n", 0},
      {"bytes above ASCII in a value", "A: \xc3\xa4\r\n", 0},
      {"a tab in a value", "A: b\tc\r\n", 0},
  }));
  INFO(name);
  CHECK(rejected(get_request(fields)) == status);
}

TEST_CASE("the request line is read strictly") {
  const auto [line, status] = GENERATE(table<std::string, int>({
      {"GET / HTTP/1.1", 0},
      {"get / HTTP/1.1", 0},  // another method, for the router to
                              // reject
      {"GET /a|b?{c} HTTP/1.1", 0},
      {"GET  / HTTP/1.1", 400},
      {" GET / HTTP/1.1", 400},
      {"GET / HTTP/1.1 ", 400},
      {"GET /a b HTTP/1.1", 400},
      {"GET /", 400},
      {"GET / HTTP/1.2", 0},
      {"GET / HTTP/1.9", 0},
      {"GET / HTTP/1.", 400},
      {"GET / HTTP/1.x", 400},
      {"GET / HTTP/1.-1", 400},
      {"GET / HTTP/2.0", 400},
      {"GET / http/1.1", 400},
      {"GET / HTTP/1.11", 400},
      {"PRI * HTTP/2.0", 400},
      {"G{T / HTTP/1.1", 400},
      {"GET http://a/ HTTP/1.1", 0},
      {"GET HTTPS://A:443/x?y HTTP/1.1", 0},
      {"GET http://a HTTP/1.1", 0},
      {"GET http://[::1]:80?x HTTP/1.0", 0},
      {"GET http:///x HTTP/1.1", 400},
      {"GET http://user@a/ HTTP/1.1", 400},
      {"GET http://a\\b/ HTTP/1.1", 400},
      {"GET http:/a HTTP/1.1", 400},
      {"GET ftp://a/ HTTP/1.1", 400},
      {"GET a/b HTTP/1.1", 400},
      {"GET * HTTP/1.1", 400},
      {"options * HTTP/1.1", 400},
      {"OPTIONS ** HTTP/1.1", 400},
      {"CONNECT a:443 HTTP/1.1", 400},
      {"OPTIONS * HTTP/1.1", 0},
      {"GET /#top HTTP/1.1", 400},
      {"GET /\xc3\xa4 HTTP/1.1", 400},
      {"GET\t/ HTTP/1.1", 400},
  }));
  INFO(line);
  CHECK(rejected(line + "\r\nHost: a\r\n\r\n") == status);
}

TEST_CASE("exactly one valid Host is required") {
  CHECK(rejected("GET / HTTP/1.1\r\n\r\n") == 400);
  CHECK(rejected("GET / HTTP/1.1\r\nHost:\r\n\r\n") == 0);  // RFC 9112 section 3.2
  CHECK(rejected("GET / HTTP/1.1\r\nHost:\r\nHost: a\r\n\r\n") == 400);
  CHECK(rejected("GET http://a/ HTTP/1.1\r\n\r\n") == 400);
  CHECK(rejected("GET / HTTP/1.1\r\nHost: a b\r\n\r\n") == 400);
  CHECK(rejected("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n") == 400);
  CHECK(rejected("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n") == 400);
  CHECK(rejected("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n") == 0);
  CHECK(rejected("GET / HTTP/1.0\r\n\r\n") == 0);
  CHECK(rejected("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n") == 400);
}

TEST_CASE("sizes are limited, as early as the bytes arrive") {
  const GateLimits limits;
  CHECK(rejected("GET /" + std::string(8'191, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n") == 0);
  CHECK(rejected("GET /" + std::string(8'192, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
  CHECK(rejected("GET /" + std::string(9'000, 'a')) == 400);  // without waiting for its end

  std::string fields;
  for (int i = 0; i < 63; ++i) fields += "A: b\r\n";
  CHECK(rejected(get_request(fields)) == 0);
  CHECK(rejected(get_request(fields + "A: b\r\n")) == 431);
  CHECK(rejected(get_request(fields + "A: b\r\nA: b\r\n").substr(0, 450)) == 431);

  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\nA: ";
  const std::string exact = head + std::string(limits.header_bytes_max - head.size() - 4, 'x');
  CHECK(rejected(exact + "\r\n\r\n") == 0);
  CHECK(rejected(exact + "x\r\n\r\n") == 431);
  CHECK(rejected(head + std::string(20'000, 'x')) == 431);
  CHECK(rejected(std::string(20'000, '\r')) == 400);
}

TEST_CASE("bytes that cannot start a request are rejected immediately") {
  CHECK(rejected("\x16\x03\x01\x02") == 400);  // a TLS ClientHello on a plain port
  CHECK(rejected("\n") == 400);
  CHECK(rejected(std::string(1, '\0')) == 400);
  CHECK(rejected("GET / HT") == -1);
  CHECK(rejected("\r\n\r\n") == -1);  // empty lines before a request are skipped
}

TEST_CASE("keep-alive follows version and Connection") {
  CHECK(passed(get_request("")).keep_alive);
  CHECK_FALSE(passed(get_request("Connection: close\r\n")).keep_alive);
  CHECK_FALSE(passed(get_request("Connection: Upgrade, CLOSE\r\n")).keep_alive);
  CHECK(passed(get_request("Connection: Upgrade\r\nUpgrade: websocket\r\n")).keep_alive);
  CHECK_FALSE(passed("GET / HTTP/1.0\r\n\r\n").keep_alive);
  CHECK(passed("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
}

TEST_CASE("a chunked body has no length yet, and HTTP/1.0 has none") {
  const RequestHead head =
      passed("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(head.chunked);
  CHECK(head.content_length == 0);
  CHECK(head.keep_alive);
  CHECK_FALSE(passed(get_request("Content-Length: 1\r\n")).chunked);
  CHECK(rejected("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") == 400);
}

TEST_CASE("only a request with a body gets 100 Continue") {
  CHECK(passed(get_request("Expect: 100-Continue\r\nContent-Length: 1\r\n")).expect_continue);
  CHECK(passed(get_request("Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n"))
            .expect_continue);
  CHECK_FALSE(passed(get_request("Expect: 100-continue\r\n")).expect_continue);
  CHECK_FALSE(passed("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
                  .expect_continue);
}

TEST_CASE("a rejection contains the parts of the request that could be parsed") {
  const GateResult result =
      inspect("GET /v1/x?y HTTP/1.1\r\nX-Request-Id: my-id.1\r\nBad Name: 1\r\n\r\n");
  const auto* rejection = std::get_if<Rejection>(&result);
  REQUIRE(rejection != nullptr);
  CHECK(rejection->head.path() == "/v1/x");
  CHECK(rejection->head.request_id == "my-id.1");

  // The format of the response depends on the path.
  for (const std::string& line :
       {"GET /v1/x?y=" + std::string(8'200, 'a') + " HTTP/1.1\r\n",
        "GET /v1/x?y=" + std::string(9'000, 'a'), std::string("GET /v1/x HTTP/2.0\r\n"),
        std::string("GET /v1/x?y#z HTTP/1.1\r\n")}) {
    INFO(line.substr(0, 40));
    const GateResult early = inspect(line + "Host: a\r\n\r\n");
    REQUIRE(std::holds_alternative<Rejection>(early));
    CHECK(std::get<Rejection>(early).head.path() == "/v1/x");
  }

  const GateResult other = inspect("GET / HTTP/1.1\r\nX-Request-Id: a b\r\n\r\n");
  CHECK(std::get<Rejection>(other).head.request_id.empty());

  // Also the fields after the error, which show the address that the client used.
  for (const std::string& start :
       {"GET /" + std::string(9'000, 'a') + " HTTP/1.1\r\n", std::string("GET /x HTTP/3\r\n"),
        std::string("GET /x HTTP/1.1\r\nA: b\x01\r\n"),
        std::string("GET /x HTTP/1.1\r\nA: b\n\r\n")}) {
    INFO(start.substr(0, 40));
    const GateResult late = inspect(start + "Host: pay.example\r\n\r\n");
    const auto& fields = std::get<Rejection>(late).head.fields;
    CHECK(std::find(fields.begin(), fields.end(),
                    std::pair<std::string, std::string>("Host", "pay.example")) != fields.end());
  }
}

TEST_CASE("the target of each form is the path; the host of an absolute form replaces Host") {
  const auto [line, target, host] = GENERATE(table<std::string, std::string, std::string>({
      {"GET /x?y", "/x?y", "a"},
      {"GET http://pay.example/x?y", "/x?y", "pay.example"},
      {"GET HTTP://Pay.Example:8080/x", "/x", "Pay.Example:8080"},
      {"GET https://[::1]:443", "/", "[::1]:443"},
      {"GET http://pay.example?y", "/?y", "pay.example"},
      {"GET /http://pay.example/", "/http://pay.example/", "a"},
      {"OPTIONS *", "*", "a"},
      {"OPTIONS http://pay.example", "/", "pay.example"},
  }));
  INFO(line);
  const RequestHead head = passed(line + " HTTP/1.1\r\nHost: a\r\nAccept: x\r\n\r\n");
  CHECK(head.target == target);
  CHECK(head.fields ==
        std::vector<std::pair<std::string, std::string>>{{"Host", host}, {"Accept", "x"}});
}

TEST_CASE("an absolute form in HTTP/1.0 needs no Host") {
  const RequestHead head = passed("GET http://pay.example/ HTTP/1.0\r\n\r\n");
  CHECK(head.http_1_0);
  CHECK(head.fields == std::vector<std::pair<std::string, std::string>>{{"Host", "pay.example"}});
}

TEST_CASE("the first request ID is used if it is acceptable") {
  CHECK(passed(get_request("X-Request-Id: a\r\nx-request-id: b\r\n")).request_id == "a");
  CHECK(passed(get_request("X-Request-Id: a/b\r\nX-Request-Id: b\r\n")).request_id.empty());
}

TEST_CASE("request IDs are used only if they are harmless") {
  CHECK(is_acceptable_request_id("aZ09._-"));
  CHECK(is_acceptable_request_id(std::string(64, 'a')));
  CHECK_FALSE(is_acceptable_request_id(std::string(65, 'a')));
  CHECK_FALSE(is_acceptable_request_id(""));
  CHECK_FALSE(is_acceptable_request_id("a/b"));
}

TEST_CASE("all fields are kept in order, as sent") {
  const RequestHead head = passed(
      "\r\nGET /v1/x HTTP/1.1\r\nHost: a\r\nX-Svc: \t one \r\nx-svc-auth:two:2\r\n"
      "X-SVC-AUTH: \tthree \r\nAccept:\r\nAuthorization: Bearer a%20b\r\nX-Empty:\r\n\r\n"
      "Cookie: x\r\n");
  CHECK(head.fields ==
        std::vector<std::pair<std::string, std::string>>{{"Host", "a"},
                                                         {"X-Svc", "one"},
                                                         {"x-svc-auth", "two:2"},
                                                         {"X-SVC-AUTH", "three"},
                                                         {"Accept", ""},
                                                         {"Authorization", "Bearer a%20b"},
                                                         {"X-Empty", ""}});
  CHECK(passed(get_request("")).fields.size() == 1);
}
