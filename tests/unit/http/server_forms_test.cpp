// The forms of a request line, and the idle time that responses announce.
#include <catch2/catch.hpp>
#include <vector>

#include "raw_client.h"
#include "running_server.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

namespace server_forms_test {

TEST_CASE("the announced idle time is always shorter than the real one") {
  for (const auto& [idle_ms, announced] :
       std::vector<std::pair<int, std::string>>{{2'000, "1"},
                                                {3'000, "1"},
                                                {9'000, "4"},
                                                {10'000, "5"},
                                                {30'000, "25"},
                                                {86'400'000, "86395"}}) {
    RunningServer server(
        [idle = idle_ms](ServerOptions& options) { options.limits.idle_ms = idle; });
    RawClient client(server.port());
    client.send(get("/fixed"));
    CHECK(has(client.read_response(), "\r\nKeep-Alive: timeout=" + announced + "\r\n"));
    client.send(get("/fixed", "Connection: close\r\n"));
    const std::string last = client.read_all();
    CHECK(has(last, "\r\nConnection: close\r\n"));
    CHECK_FALSE(has(last, "Keep-Alive"));
  }
}

TEST_CASE("every form of a request line that RFC 9112 allows is served, on one connection") {
  std::string host;
  RunningServer server({}, [&](Request& request) {
    const std::string* sent = request.header("Host");
    host = sent == nullptr ? "-" : *sent;
    Response out;
    out.body = request.method + ' ' + request.path + ' ' + request.body;
    return out;
  });
  RawClient client(server.port());
  struct Row {
    const char* request;
    const char* body;
    const char* host;
  };
  const Row rows[] = {
      {"GET http://pay.example/v1/x?y=1 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /v1/x ", "pay.example"},
      {"GET HTTPS://Pay.Example:8443 HTTP/1.1\r\nHost: a\r\n\r\n", "GET / ", "Pay.Example:8443"},
      {"POST http://b/x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "POST /x abc", "b"},
      {"POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
       "POST /x abc", "a"},
      {"POST http://b HTTP/1.7\r\nHost: a\r\nTransfer-Encoding: CHUNKED\r\n\r\n"
       "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n",
       "POST / abc", "b"},
      {"GET /x HTTP/1.2\r\nHost: a\r\n\r\n", "GET /x ", "a"},
      {"GET /x HTTP/1.1\r\nHost:\r\n\r\n", "GET /x ", ""},
      {"GET /x HTTP/1.1\r\nHost: \t \r\n\r\n", "GET /x ", ""},
      {"BREW http://b/x HTTP/1.1\r\nHost: a\r\n\r\n", "BREW /x ", "b"},
      {"GET http://b/x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET /x ", "b"}};
  for (const Row& row : rows) {
    INFO(row.request);
    client.send(row.request);
    const std::string response = client.read_response();
    CHECK(status_of(response) == 200);
    CHECK(body_of(response) == row.body);
    CHECK(host == row.host);
  }
  client.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string options = client.read_response();
  CHECK(status_of(options) == 204);
  CHECK(has(options, "\r\nAllow: DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r\n"));
  client.send(get("/fixed"));
  CHECK(status_of(client.read_response()) == 200);
  CHECK(server->stats().connections == 1);
}

}  // namespace server_forms_test
