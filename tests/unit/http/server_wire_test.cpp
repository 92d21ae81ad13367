// The running server on the wire: attacks on its limits, and the rules of RFC 9112 that clients can
// rely on.

#include <atomic>
#include <catch2/catch.hpp>
#include <vector>

#include "base/thread.h"
#include "http/json_body.h"
#include "http/problem_json.h"
#include "raw_client.h"
#include "running_server.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

TEST_CASE("a request gets its response, and the connection serves the next one") {
  RunningServer server;
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    client.send(get("/a%20b?x=1", "X-Request-Id: caller.1\r\n"));
    const std::string response = client.read_response();
    CHECK(status_of(response) == 200);
    CHECK(body_of(response) == "GET /a%20b ");
    CHECK(has(response, "\r\nX-Request-Id: caller.1\r\n"));
    CHECK(has(response, "\r\nX-Content-Type-Options: nosniff\r\n"));
    CHECK(has(response, "\r\nCache-Control: no-store\r\n"));
    CHECK(has(response, "\r\nContent-Type: text/plain\r\n"));
    CHECK(has(response, "\r\nDate: "));
    // Less than the 660 seconds after which the server closes the connection.
    CHECK(has(response, "\r\nConnection: keep-alive\r\nKeep-Alive: timeout=655\r\n"));
    CHECK_FALSE(has(response, "Server:"));
  }
  CHECK(server->stats().requests == 3);
  CHECK(server->stats().connections == 1);
}

TEST_CASE("without an acceptable request ID, the server creates a UUID version 7") {
  RunningServer server;
  RawClient client(server.port());
  client.send(get("/", "X-Request-Id: not ok\r\n"));
  const std::string response = client.read_response();
  const std::size_t at = response.find("X-Request-Id: ") + 14;
  const auto id = Uuid::parse(response.substr(at, 36));
  REQUIRE(id);
  CHECK(id->bytes[6] >> 4 == 7);
}

TEST_CASE("hostile requests get one response and end the connection") {
  RunningServer server;
  const std::string host = "Host: a\r\n";
  const auto [name, bytes, status] = GENERATE_COPY(table<std::string, std::string, int>({
      {"two lengths",
       "POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
      {"length and coding",
       "POST / HTTP/1.1\r\n" + host +
           "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x "
           "HTTP/1.1\r\n\r\n",
       400},
      {"xchunked", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: xchunked\r\n\r\n", 400},
      {"a broken chunk size",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
       400},
      {"a chunk that is longer than its size",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
       400},
      {"a chunk size of 16 GiB",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n400000000\r\n", 413},
      {"a length as trailer",
       "POST / HTTP/1.1\r\n" + host +
           "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 9\r\n\r\n",
       400},
      {"signed length", "POST / HTTP/1.1\r\n" + host + "Content-Length: +3\r\n\r\nabc", 400},
      {"length of 20 digits",
       "POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n", 413},
      {"length of 1 GiB", "POST / HTTP/1.1\r\n" + host + "Content-Length: 1073741824\r\n\r\n", 413},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"bare LF", "GET / HTTP/1.1\nHost: a\n\n", 400},
      {"folded header", get("/", "A: b\r\n c\r\n"), 400},
      {"space before colon", get("/", "Content-Length : 3\r\n"), 400},
      {"NUL in a value", get("/", std::string_view("A: \0\r\n", 6)), 400},
      {"absolute target without a host", "GET http:/// HTTP/1.1\r\n" + host + "\r\n", 400},
      {"HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"a coded body", get("/", "Content-Encoding: gzip\r\n"), 415},
  }));
  INFO(name);
  RawClient client(server.port());
  client.send(bytes);
  const std::string response = client.read_all();
  CHECK_FALSE(client.timed_out());
  CHECK_FALSE(client.was_reset());
  CHECK(status_of(response) == status);
  CHECK(response.rfind("HTTP/1.1 4") == 0);  // one answer, not two
  CHECK(has(response, "\r\nConnection: close\r\n"));
  CHECK(has(response, "\r\nX-Request-Id: "));
  CHECK(has(response, "\r\nContent-Type: application/problem+json\r\n"));
  const auto body = parse_json(body_of(response));
  REQUIRE(body);
  CHECK(body->find("status")->number()->text == std::to_string(status));
  CHECK_FALSE(body->find("detail")->string()->empty());
  CHECK(server->stats().requests == 0);
  CHECK(server->stats().rejected == 1);
}

TEST_CASE("5,000 headers, a header of 200 KB and a long target are rejected before their end") {
  RunningServer server;
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "A" + std::to_string(i) + ": b\r\n";
  RawClient first(server.port());
  first.send(get("/", many));
  CHECK(status_of(first.read_all()) == 431);
  CHECK_FALSE(first.was_reset());

  RawClient second(server.port());
  second.send(get("/", "A: " + std::string(200'000, 'x') + "\r\n"));
  CHECK(status_of(second.read_all()) == 431);
  CHECK_FALSE(second.was_reset());

  RawClient third(server.port());
  third.send("GET /" + std::string(9'000, 'x'));
  CHECK(status_of(third.read_all()) == 400);
}

TEST_CASE("a rejection contains path and request ID if they could be parsed") {
  RunningServer server;
  RawClient client(server.port());
  client.send(
      "POST /v1/x HTTP/1.1\r\nX-Request-Id: me-1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n");
  const std::string response = client.read_all();
  CHECK(status_of(response) == 413);
  CHECK(has(response, "\r\nX-Request-Id: me-1\r\n"));
  CHECK(has(response, R"("instance":"/v1/x")"));
  CHECK(has(response, R"("requestId":"me-1")"));
}

TEST_CASE("a rejected upload gets its response while it is still sending") {
  RunningServer server;
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n");
  CHECK(client.send(std::string(4'000'000, 'x')));
  CHECK(status_of(client.read_all()) == 413);
  CHECK_FALSE(client.was_reset());
}

TEST_CASE("the server's own rejections can use the format of the route") {
  RunningServer server([](ServerOptions& options) {
    options.render_problem = [](const Problem& problem, const Request& request) {
      return request.path.starts_with("/v1/business")
                 ? envelope_problem_response(problem, request.request_id)
                 : problem_response(problem, request.path, request.request_id);
    };
  });
  RawClient client(server.port());
  client.send("GET /v1/business/x HTTP/1.1\r\n\r\n");
  CHECK(has(client.read_all(), R"({"success":false,"message":"MALFORMED_REQUEST: )"));
}

TEST_CASE("all pipelined requests get responses, in order") {
  RunningServer server;
  RawClient client(server.port());
  std::string bytes;
  for (int i = 0; i < 100; ++i) {
    bytes += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc";
  }
  client.send(bytes.substr(0, 1'000));
  client.send(bytes.substr(1'000));
  for (int i = 0; i < 100; ++i) {
    CHECK(body_of(client.read_response()) == "POST /" + std::to_string(i) + " abc");
  }
}

TEST_CASE("nothing after Connection: close is served") {
  RunningServer server;
  RawClient client(server.port());
  client.send(get("/1", "Connection: close\r\n") + get("/2"));
  const std::string all = client.read_all();
  CHECK(has(all, "\r\nConnection: close\r\n"));
  CHECK(has(all, "GET /1 "));
  CHECK_FALSE(has(all, "GET /2 "));
  CHECK(server->stats().requests == 1);
}

TEST_CASE("the length delimits the body, in any number of pieces") {
  RunningServer server;
  RawClient client(server.port());
  client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01");
  CHECK(server.eventually([](const ServerStats& stats) { return stats.parked == 1; }));
  client.send("234");
  client.send("56789" + get("/fixed"));
  CHECK(body_of(client.read_response()) == "POST /p 0123456789");
  CHECK(body_of(client.read_response()) == "ok");

  std::string large(64 * 1024, 'x');
  client.send("PUT /l HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n" + large);
  CHECK(body_of(client.read_response()) == "PUT /l " + large);
}

TEST_CASE("a chunked body is decoded, however it arrives, and the next request follows it") {
  RunningServer server;
  RawClient client(server.port());
  const std::string head = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body = "3;a=b\r\nabc\r\n00A\r\n0123456789\r\n0\r\nX-Checksum: 1\r\n\r\n";
  const std::string three = head + body + head + "0\r\n\r\n" + get("/fixed");
  client.send(three);
  const auto check_answers = [&] {
    CHECK(body_of(client.read_response()) == "POST /c abc0123456789");
    CHECK(body_of(client.read_response()) == "POST /c ");
    CHECK(body_of(client.read_response()) == "ok");
  };
  check_answers();
  for (std::size_t at = 0; at < three.size(); ++at) client.send(three.substr(at, 1));
  check_answers();

  client.send(
      "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  CHECK(client.read_response() == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(body + get("/fixed"));
  CHECK(body_of(client.read_response()) == "POST /c abc0123456789");
  CHECK(body_of(client.read_response()) == "ok");
}

TEST_CASE(
    "a chunked body has the same limit as any other, and is rejected as soon as it exceeds it") {
  RunningServer server;
  const std::string head = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string full = "10000\r\n" + std::string(64 * 1024, 'x') + "\r\n";
  RawClient client(server.port());
  client.send(head + full + "0\r\n\r\n");
  CHECK(body_of(client.read_response()).size() == 64 * 1024 + 8);
  // One byte per chunk: six bytes on the wire per byte of the body.
  std::string single = head;
  for (int i = 0; i < 64 * 1024; ++i) single += "1\r\ny\r\n";
  client.send(single + "0\r\n\r\n");
  CHECK(body_of(client.read_response()) == "POST /c " + std::string(64 * 1024, 'y'));
  client.send(head + full + "1\r\n");  // the byte itself is not awaited
  CHECK(status_of(client.read_all()) == 413);
  CHECK_FALSE(client.was_reset());
}

TEST_CASE("large chunked bodies share the memory for large bodies") {
  RunningServer server([](ServerOptions& options) {
    options.admit = each_its_own("/bulk");
    options.limits.large_bodies_bytes_max = 1'500'000;
  });
  const std::string head = "POST /bulk HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string part = "14000\r\n" + std::string(80 * 1024, 'x') + "\r\n";
  RawClient small(server.port());
  small.send(head + "3\r\nabc\r\n");
  RawClient first(server.port());
  first.send(head + part);
  CHECK(server.eventually([](const ServerStats& stats) { return stats.large_bodies_bytes > 0; }));
  RawClient second(server.port());
  second.send(head + part);
  CHECK(status_of(second.read_all()) == 503);
  first.send("0\r\n\r\n");
  CHECK(body_of(first.read_response()).size() == 80 * 1024 + 11);
  small.send("0\r\n\r\n");
  CHECK(body_of(small.read_response()) == "POST /bulk abc");
  RawClient third(server.port());
  third.send(head + part + "0\r\n\r\n");
  CHECK(status_of(third.read_response()) == 200);
}

TEST_CASE("a few paths may have larger bodies") {
  RunningServer server([](ServerOptions& options) {
    options.admit = each_its_own("/bulk");
    options.limits.large_bodies_bytes_max = 1'500'000;
  });
  const std::string large(1024 * 1024, 'x');
  const std::string head = " HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n\r\n";
  RawClient client(server.port());
  client.send("POST /bulk" + head + large);
  CHECK(body_of(client.read_response()).size() == large.size() + 11);

  // In pieces, followed by the next request.
  std::string counted;
  while (counted.size() < 200'000) counted += std::to_string(counted.size()) + " ";
  client.send("POST /bulk HTTP/1.1\r\nHost: a\r\nContent-Length: " +
              std::to_string(counted.size()) + "\r\n\r\n" + counted.substr(0, 70'000));
  CHECK(server.eventually([](const ServerStats& stats) { return stats.parked == 1; }));
  client.send(counted.substr(70'000) + get("/fixed"));
  CHECK(body_of(client.read_response()) == "POST /bulk " + counted);
  CHECK(body_of(client.read_response()) == "ok");

  RawClient other(server.port());
  other.send("POST /other" + head);
  CHECK(status_of(other.read_all()) == 413);

  // The memory for large bodies is shared, so a second one at the same time is rejected.
  RawClient first(server.port());
  first.send(
      "POST /bulk HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n"
      "Expect: 100-continue\r\n\r\n");
  CHECK(status_of(first.read_response()) == 100);
  RawClient second(server.port());
  second.send("POST /bulk" + head);
  const std::string rejected = second.read_all();
  CHECK(status_of(rejected) == 503);
  CHECK(has(rejected, "\r\nRetry-After: 1\r\n"));
  first.close();
  CHECK(server.eventually([&](const ServerStats& stats) { return stats.connections == 1; }));
  client.send("POST /bulk" + head + large);
  CHECK(status_of(client.read_response()) == 200);
}

TEST_CASE("Expect: 100-continue gets its response before the body") {
  RunningServer server;
  RawClient client(server.port());
  client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  CHECK(client.read_response() == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  CHECK(body_of(client.read_response()) == "POST /p abc");

  client.send(
      "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\nExpect: 100-continue\r\n\r\n");
  CHECK(status_of(client.read_response()) == 413);
}

TEST_CASE("HEAD has the header of GET and no body") {
  RunningServer server;
  RawClient client(server.port());
  client.send("HEAD /fixed HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string response = client.read_all();
  CHECK(status_of(response) == 200);
  CHECK(has(response, "\r\nContent-Length: 2\r\n"));
  CHECK(body_of(response).empty());
  CHECK_FALSE(has(response, "Accept-Ranges"));
}

TEST_CASE("request headers do not change the framing of the response") {
  RunningServer server;
  RawClient client(server.port());
  client.send(get("/fixed",
                  "Range: bytes=0-0\r\nAccept: ;;;\r\nUpgrade: websocket\r\n"
                  "Connection: Upgrade\r\nSec-WebSocket-Key: x\r\nAccept-Encoding: gzip\r\n"
                  "REMOTE_ADDR: 1.2.3.4\r\nIf-None-Match: *\r\n"));
  const std::string response = client.read_response();
  CHECK(status_of(response) == 200);
  CHECK(body_of(response) == "ok");
}

TEST_CASE("HTTP/1.0 is served, and kept alive only on request") {
  RunningServer server;
  RawClient client(server.port());
  client.send("GET /fixed HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(has(client.read_response(), "\r\nConnection: keep-alive\r\n"));
  client.send("GET /fixed HTTP/1.0\r\n\r\n");
  const std::string last = client.read_all();
  CHECK(has(last, "\r\nConnection: close\r\n"));
  CHECK(body_of(last) == "ok");
}

TEST_CASE("a client that has finished sending still gets its responses") {
  RunningServer server;
  RawClient client(server.port());
  client.send(get("/1") + get("/2") + "GET /half HT");
  client.finish_sending();
  const std::string all = client.read_all();
  CHECK(has(all, "GET /1 "));
  CHECK(has(all, "GET /2 "));
  CHECK_FALSE(client.timed_out());
  CHECK(server.eventually([](const ServerStats& stats) { return stats.connections == 0; }));
}

TEST_CASE("the handler sees peer, query and headers, and may set its own") {
  std::string seen;
  RunningServer server({}, [&](Request& request) {
    seen = request.peer + "|" + *request.query_value("q") + "|" + *request.header("authorization");
    Response response;
    response.status = 204;
    response.header("Cache-Control", "max-age=60").header("X-Note", "a\tb");
    response.header("X-Split", "a\r\nSet-Cookie: b").header("Connection", "close");
    response.header("Content-Length", "99").header("Bad Name", "x");
    return response;
  });
  RawClient client(server.port());
  client.send(get("/?q=%2B", "Authorization: Bearer%20x\r\n"));
  const std::string response = client.read_response();
  CHECK(seen == "127.0.0.1|+|Bearer%20x");
  CHECK(status_of(response) == 204);
  CHECK(has(response, "\r\nCache-Control: max-age=60\r\n"));
  CHECK(has(response, "\r\nX-Note: a\tb\r\n"));
  for (const char* absent : {"no-store", "Set-Cookie", "Connection: close", "Content-Length",
                             "Bad Name", "\r\nContent-Type"}) {
    INFO(absent);
    CHECK_FALSE(has(response, absent));
  }
  client.send(get("/?q=", "Authorization: x\r\n"));
  CHECK(status_of(client.read_response()) == 204);
}

TEST_CASE("an exception in a handler is not visible to the client") {
  RunningServer server({}, [](Request&) -> Response { throw std::runtime_error("SECRET"); });
  RawClient client(server.port());
  client.send(get("/x"));
  const std::string response = client.read_response();
  CHECK(status_of(response) == 502);
  CHECK(has(response, R"("code":"unexpected_error")"));
  CHECK_FALSE(has(response, "SECRET"));
  client.send(get("/x"));
  CHECK(status_of(client.read_response()) == 502);
}

TEST_CASE("a streamed body is chunked and ends in order") {
  RunningServer server({}, [](Request& request) {
    Response response;
    response.content_type = "text/csv";
    const bool fails = request.path == "/fails";
    const bool throws = request.path == "/throws";
    response.stream = [=](const Sink& sink) {
      if (!sink("first,") || !sink("") || !sink(std::string(100'000, 'x'))) return false;
      if (throws) throw std::runtime_error("SECRET");
      return !fails && sink(",last");
    };
    return response;
  });
  const auto ask = [&](std::string_view request) {
    RawClient client(server.port());
    client.send(request);
    return client.read_all();
  };
  const std::string whole = ask(get("/", "Connection: close\r\n"));
  CHECK(has(whole, "\r\nTransfer-Encoding: chunked\r\n"));
  CHECK_FALSE(has(whole, "Content-Length"));
  CHECK(has(whole, "\r\n\r\n6\r\nfirst,\r\n186a0\r\nxxx"));
  CHECK(has(whole, "\r\n5\r\n,last\r\n0\r\n\r\n"));
  CHECK_FALSE(has(ask(get("/fails")), "\r\n0\r\n\r\n"));
  CHECK_FALSE(has(ask(get("/throws")), "\r\n0\r\n\r\n"));
  CHECK_FALSE(has(ask(get("/throws")), "SECRET"));

  const std::string old = ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK_FALSE(has(old, "chunked"));
  CHECK(body_of(old).size() == 100'011);
  const std::string head = ask("HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(has(head, "chunked"));
  CHECK(body_of(head).empty());
}

TEST_CASE("connections are served at the same time") {
  constexpr int kThreads = 8;
  constexpr int kRequests = 200;
  RunningServer server;
  std::atomic<int> good{0};
  std::vector<Thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back("client", [&, t] {
      RawClient client(server.port());
      for (int i = 0; i < kRequests; ++i) {
        const std::string path = "/" + std::to_string(t) + "-" + std::to_string(i);
        client.send(get(path));
        if (body_of(client.read_response()) == "GET " + path + " ") ++good;
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  CHECK(good == kThreads * kRequests);
}
