// How a request that has passed the gate reaches the handler, and how its response is sent: by the
// rules of the contract, without the library's own.
#include "http/wire/adapter.h"

#include <catch2/catch.hpp>
#include <vector>

#include "support/served.h"

using namespace coffer;
using namespace coffer::http;

namespace adapter_test {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

RequestHead head_of(std::string_view bytes) {
  GateProgress progress;
  GateResult result = inspect_header(bytes, {}, progress);
  REQUIRE(std::holds_alternative<RequestHead>(result));
  return std::get<RequestHead>(std::move(result));
}

struct Seen {
  Request request;
  coffer::test::Served served;
};

/// `response` is what the handler returns.
Seen serve(std::string_view bytes, const Response& response = {}) {
  Seen out;
  int handled = 0;
  out.served = coffer::test::serve(bytes, head_of(bytes), [&](Request& request) {
    ++handled;
    out.request = std::move(request);
    return response;
  });
  CHECK(out.served.ok);
  CHECK(handled == 1);
  CHECK(out.served.left.empty());
  return out;
}

std::string get(std::string_view fields, std::string_view target = "/") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

std::string post(std::string_view fields, std::string_view body) {
  return "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         std::string(fields) + "\r\n" + std::string(body);
}

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("adapter: the handler gets the request unchanged") {
  const std::string bytes =
      "\r\nPOST /v1/wallets/a%20b?limit=5&q=a+b%26c&flag HTTP/1.1\r\nHost: pay.example:8443\r\n"
      "X-Auth: a%2Bb%0d%0a\r\ncontent-length:  7 \r\nX-Empty:\r\nX-Request-Id: id.1\r\n\r\n"
      "{\"a\":1}";
  const Request request = serve(bytes).request;
  CHECK(request.method == "POST");
  CHECK(request.path == "/v1/wallets/a%20b");
  CHECK(request.query == Pairs{{"limit", "5"}, {"q", "a b&c"}, {"flag", ""}});
  CHECK_FALSE(request.bad_query);
  CHECK(*request.header("x-auth") == "a%2Bb%0d%0a");  // never decoded
  CHECK(request.header("x-empty")->empty());
  CHECK(request.body == "{\"a\":1}");
  CHECK(request.peer == "192.0.2.1");
  CHECK(request.request_id == "id.1");
}

TEST_CASE("adapter: the handler gets the query as pairs") {
  CHECK(serve(get("", "/?a=%zz")).request.bad_query);
  CHECK(serve(get("", "/?a=%00")).request.bad_query);
  CHECK(serve(get("", "/?a=%4")).request.bad_query);
  const Request repeated = serve(get("", "/?b=1&&a=2&=3&b=1")).request;
  CHECK(repeated.query == Pairs{{"b", "1"}, {"a", "2"}, {"", "3"}, {"b", "1"}});
}

TEST_CASE("adapter: fields of one name keep their order") {
  const Request request = serve(get("A: 1\r\nB: x\r\na: 2\r\nC: y\r\nA: 3\r\nA: 4\r\n")).request;
  std::string order;
  for (const auto& [name, value] : request.headers) {
    if (same_name(name, "a")) order += value;
  }
  CHECK(order == "1234");
  CHECK(*request.header("A") == "1");
}

TEST_CASE("adapter: no field makes the library respond instead of the handler") {
  const auto [name, fields] = GENERATE(table<std::string, std::string>({
      {"Range", "Range: bytes=0-1\r\n"},
      {"Range", "Range: bytes=0-1,3-4\r\n"},
      {"Range", "Range: bytes=900-\r\n"},
      {"Range", "Range: rubbish\r\n"},
      {"Range", "Range: bytes=5-1\r\n"},
      {"If-Range", "If-Range: \"a\"\r\nRange: bytes=0-1\r\n"},
      {"Accept", "Accept: text/csv, */*;q=0.1\r\n"},
      {"Accept", "Accept: ,\r\n"},
      {"Accept", "Accept: */*;q=x\r\n"},
      {"Accept", "Accept: text\r\n"},
      {"Accept-Encoding", "Accept-Encoding: gzip, br, zstd\r\n"},
      {"Expect", "Expect: 100-continue\r\n"},
      {"Expect", "Expect: rubbish\r\n"},
      {"Upgrade",
       "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
       "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"},
      {"Connection", "Connection: close\r\n"},
      {"Keep-Alive", "Keep-Alive: timeout=1, max=1\r\n"},
      {"If-None-Match", "If-None-Match: *\r\n"},
      {"X-Forwarded-For", "X-Forwarded-For: 198.51.100.1\r\n"},
      {"X-Long", "X-Long: " + std::string(12'000, 'x') + "\r\n"},
      {"X-Obs-Text", "X-Obs-Text: \xc3\xa4\t\xff\r\n"},
      {"Content-Type", "Content-Type: multipart/form-data\r\n"},
      {"Content-Type", "Content-Type: multipart/form-data; boundary=b\r\n"},
      {"Content-Type", "Content-Type: application/x-www-form-urlencoded\r\n"},
      {"Content-Encoding", "Content-Encoding: identity\r\n"},
  }));
  INFO(fields);
  Response response;
  response.body = "a whole body";
  const std::string body(9'000, '=');
  for (const std::string& bytes : {get(fields), post(fields, body)}) {
    const Seen seen = serve(bytes, response);
    CHECK(seen.request.header(name) != nullptr);
    CHECK(seen.request.body.size() == (bytes.front() == 'P' ? body.size() : 0));
    CHECK(seen.served.answer.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(seen.served.answer.ends_with("\r\n\r\na whole body"));
    CHECK(has_part(seen.served.answer, "\r\nContent-Length: 12\r\n"));
    for (const char* own : {"Accept-Ranges", "Content-Range", "Keep-Alive", "Connection", "Vary"}) {
      CHECK_FALSE(has_part(seen.served.answer, own));
    }
  }
}

TEST_CASE("adapter: every method reaches the handler, with its fields and its body") {
  const std::string method = GENERATE("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS",
                                      "TRACE", "CONNECT", "PRI", "BREW", "get", "a!#$%&'*+-.^_`|~");
  INFO(method);
  const std::string line = method + " /x?a=1 HTTP/1.1\r\nHost: a\r\nX-A: %41\r\n";
  for (const std::string& bytes :
       {line + "Content-Length: 3\r\n\r\nabc",
        line + "Range: x\r\nAccept: ,\r\nContent-Length: 3\r\n\r\nabc",
        line + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x\r\nbc\r\n0\r\nT: t\r\n\r\n"}) {
    const Request request = serve(bytes).request;
    CHECK(request.method == method);
    CHECK(request.path == "/x");
    CHECK(*request.query_value("a") == "1");
    CHECK(*request.header("x-a") == "%41");
    CHECK(request.header("t") == nullptr);
    CHECK(request.body == "abc");
  }
  CHECK(serve(line + "\r\n").request.body.empty());
}

TEST_CASE("adapter: a chunked body is complete with any chunks") {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(serve(head + "0\r\n\r\n").request.body.empty());
  CHECK(serve(head + "5\r\n0\r\n\r\n\r\n0\r\n\r\n").request.body == "0\r\n\r\n");
  CHECK(serve(head + "0000000000000002\r\n\r\n\r\n0;x\r\nA: b\r\n\r\n").request.body == "\r\n");
  std::string many = head;
  for (int i = 0; i < 9'000; ++i) many += "1\r\nx\r\n";
  CHECK(serve(many + "0\r\n\r\n").request.body == std::string(9'000, 'x'));
}

TEST_CASE("adapter: a status is the handler's, and so are its fields and its body") {
  const auto [status, line] = GENERATE(table<int, std::string>({
      {200, "200 OK"},
      {201, "201 Created"},
      {206, "206 Partial Content"},
      {303, "303 See Other"},
      {304, "304 Not Modified"},
      {204, "204 No Content"},
      {400, "400 Bad Request"},
      {402, "402 Payment Required"},
      {404, "404 Not Found"},
      {416, "416 Range Not Satisfiable"},
      {422, "422 Unprocessable Content"},
      {503, "503 Service Unavailable"},
  }));
  Response response;
  response.status = status;
  const bool has_body = status != 204 && status != 304;
  if (has_body) response.body = "body";
  response.header("X-Own", "1").header("Connection", "upgrade").header("Bad Name", "x");
  response.header("X-Bad", "a\r\nb").header("Content-Length", "9");
  for (const char* fields : {"", "Range: bytes=1-2\r\n", "Accept: ,\r\n"}) {
    const std::string answer = serve(get(fields), response).served.answer;
    CHECK(answer.starts_with("HTTP/1.1 " + line + "\r\n"));
    CHECK(answer.ends_with(has_body ? "\r\n\r\nbody" : "\r\n\r\n"));
    CHECK(has_part(answer, "\r\nX-Own: 1\r\n"));
    CHECK(has_part(answer, "\r\nContent-Length: 4\r\n") == has_body);
    CHECK(has_part(answer, "Content-Length") == has_body);
    CHECK(has_part(answer, "\r\nContent-Type: application/json\r\n") == has_body);
    CHECK_FALSE(has_part(answer, "upgrade"));
    CHECK_FALSE(has_part(answer, "Bad Name"));
    CHECK_FALSE(has_part(answer, "X-Bad"));
  }
}

TEST_CASE("adapter: HEAD has the headers of GET") {
  Response response;
  response.body = "body";
  const std::string answer = serve("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", response).served.answer;
  CHECK(has_part(answer, "\r\nContent-Length: 4\r\n"));
  CHECK(answer.ends_with("\r\n\r\n"));
  CHECK_FALSE(has_part(answer, "Accept-Ranges"));
}

TEST_CASE("adapter: a stream is chunked for any requested range; HTTP/1.0 gets it unframed") {
  Response response;
  response.stream = [](const Sink& sink) { return sink("one") && sink("") && sink("two"); };
  for (const char* fields : {"", "Range: bytes=1-2\r\n", "Range: x\r\n", "TE: trailers\r\n"}) {
    const std::string answer = serve(get(fields), response).served.answer;
    CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(has_part(answer, "\r\nTransfer-Encoding: chunked\r\n"));
    CHECK(answer.ends_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
  }
  const std::string bare = serve("GET / HTTP/1.0\r\n\r\n", response).served.answer;
  CHECK_FALSE(has_part(bare, "Transfer-Encoding"));
  CHECK(bare.ends_with("\r\n\r\nonetwo"));
  CHECK(serve("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", response).served.answer.ends_with("\r\n\r\n"));
}

TEST_CASE(
    "adapter: a stream of a known size has Content-Length, and never another number of bytes") {
  Response response;
  response.stream = [](const Sink& sink) { return sink("one") && sink("") && sink("two"); };
  response.stream_bytes = 6;
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: a\r\nRange: bytes=1-2\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    const auto served = serve(request, response).served;
    CHECK(served.ok);
    CHECK(has_part(served.answer, "\r\nContent-Length: 6\r\n"));
    CHECK_FALSE(has_part(served.answer, "Transfer-Encoding"));
    CHECK_FALSE(has_part(served.answer, "Content-Range"));
    CHECK(served.answer.ends_with("\r\n\r\nonetwo"));
  }
  const std::string head = serve("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", response).served.answer;
  CHECK(has_part(head, "\r\nContent-Length: 6\r\n"));
  CHECK(head.ends_with("\r\n\r\n"));
  for (const std::uint64_t other : {std::uint64_t{5}, std::uint64_t{7}}) {
    response.stream_bytes = other;
    const std::string bytes = get("");
    const auto served =
        coffer::test::serve(bytes, head_of(bytes), [&](Request&) { return response; });
    CHECK_FALSE(served.ok);
    CHECK(served.answer.ends_with(other == 5 ? "\r\n\r\none" : "\r\n\r\nonetwo"));
  }
  response.stream = [](const Sink&) { return true; };
  response.stream_bytes = 0;
  const auto empty = serve(get(""), response).served;
  CHECK(empty.ok);
  CHECK(has_part(empty.answer, "\r\nContent-Length: 0\r\n"));
}

TEST_CASE("adapter: a stream has a floor of 16 KiB a second, after the write timeout") {
  CHECK_FALSE(is_below_floor(0, 10'000, 10'000));
  CHECK(is_below_floor(0, 10'001, 10'000));
  CHECK_FALSE(is_below_floor(60 * 16 * 1024, 70'000, 10'000));
  CHECK(is_below_floor(60 * 16 * 1024 - 1, 70'000, 10'000));
}

}  // namespace adapter_test
