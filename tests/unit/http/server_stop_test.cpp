// Starting and stopping: addresses in use, adopted sockets, and a stop that finishes its requests.

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>

#include "base/thread.h"
#include "raw_client.h"
#include "running_server.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

namespace server_stop_test {
namespace {

std::int64_t now_ms() { return SystemClock().monotonic_ms(); }

}  // namespace

TEST_CASE("an address in use is reported with its name") {
  RunningServer first;
  SeededRandom random(1);
  ServerOptions options;
  options.port = first.port();
  Server second(options, random, echo);
  const Result<void> started = second.start();
  REQUIRE_FALSE(started);
  CHECK(has(started.error().detail, "127.0.0.1 port " + std::to_string(first.port())));
  CHECK(has(started.error().detail, "in use"));
  CHECK(started.error().slug == Slug::conflict);  // it may be free later
}

TEST_CASE("an invalid address is reported") {
  SeededRandom random(1);
  ServerOptions options;
  options.host = "not-an-address";
  const Result<void> started = Server(options, random, echo).start();
  REQUIRE_FALSE(started);
  CHECK(has(started.error().detail, "not-an-address"));
}

TEST_CASE("IPv6 and both families at once") {
  RunningServer server([](ServerOptions& options) { options.host = "::"; },
                       [](Request& request) {
                         Response response;
                         response.body = request.peer;
                         return response;
                       });
  RawClient client(server.port());
  REQUIRE(client.connected());
  client.send(get("/"));
  CHECK(body_of(client.read_response()) == "127.0.0.1");
}

TEST_CASE("a socket that already listens can be adopted") {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  SeededRandom random(1);
  {
    ServerOptions options;
    options.listen_fd = fd;
    const Result<void> started = Server(options, random, echo).start();
    CHECK_FALSE(started);  // bound, but it does not listen
  }
  REQUIRE(::listen(fd, 16) == 0);
  RunningServer server([&](ServerOptions& options) { options.listen_fd = fd; });
  CHECK(server.port() != 0);
  RawClient client(server.port());
  client.send(get("/fixed"));
  CHECK(body_of(client.read_response()) == "ok");
}

TEST_CASE("a stop closes idle connections soon and accepts no new ones") {
  RunningServer server;
  RawClient used(server.port());
  used.send(get("/fixed"));
  CHECK(status_of(used.read_response()) == 200);
  RawClient fresh(server.port());
  CHECK(server.eventually([](const ServerStats& stats) { return stats.connections == 2; }));
  const std::int64_t start = now_ms();
  server->stop(5'000);
  CHECK(now_ms() - start < 4'000);
  CHECK(used.at_end(100));
  CHECK(fresh.at_end(100));
  CHECK_FALSE(RawClient(server.port()).connected());
  server->stop(5'000);  // again, to no effect
}

TEST_CASE("a client between two requests learns of the stop from a response") {
  std::string last;
  // It has 250 ms for its request, for which a busy machine may be too slow, but not again and
  // again.
  for (int tries = 0; tries < 5 && last.empty(); ++tries) {
    RunningServer server;
    RawClient client(server.port());
    client.send(get("/fixed"));
    CHECK(status_of(client.read_response()) == 200);
    Thread stopper("stopper", [&] { server->stop(5'000); });
    while (RawClient(server.port()).connected()) {
    }
    client.send(get("/fixed"));
    last = client.read_all();
  }
  CHECK(body_of(last) == "ok");
  CHECK(has(last, "\r\nConnection: close\r\n"));
}

TEST_CASE("a stop responds to received requests and waits for incomplete ones") {
  Gatekeeper gate;
  RunningServer server([](ServerOptions& options) { options.workers = 1; },
                       [&](Request& request) {
                         if (request.path == "/wait") gate.wait();
                         return echo(request);
                       });
  RawClient busy(server.port());
  busy.send(get("/wait") + get("/pipelined"));
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.busy == 1; }));
  RawClient queued(server.port());
  queued.send(get("/queued"));
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.queued == 1; }));
  RawClient arriving(server.port());
  arriving.send("POST /arriving HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na");
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.connections == 3; }));

  Thread stopper("stopper", [&] { server->stop(10'000); });
  while (RawClient(server.port()).connected()) {
  }
  arriving.send("bc");
  gate.open();
  const std::string both = busy.read_all();
  CHECK(has(both, "GET /wait "));
  CHECK(has(both, "GET /pipelined "));
  CHECK(has(both, "\r\nConnection: close\r\n"));
  const std::string second = queued.read_all();
  CHECK(body_of(second) == "GET /queued ");
  CHECK(has(second, "\r\nConnection: close\r\n"));
  CHECK(body_of(arriving.read_all()) == "POST /arriving abc");
  stopper.join();
  CHECK(server->stats().connections == 0);
}

TEST_CASE("a stop does not wait longer than a second for the rest of a request") {
  RunningServer server;
  RawClient head(server.port());
  head.send("GET /fixed HTTP/1.1\r\nHo");
  RawClient body(server.port());
  body.send("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na");
  RawClient chunks(server.port());
  chunks.send("POST /chunks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab");
  RawClient next(server.port());
  next.send(get("/fixed") + "GET /next HTTP/1.1\r\n");
  CHECK(status_of(next.read_response()) == 200);
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.connections == 4; }));
  const std::int64_t start = now_ms();
  server->stop(60'000);
  CHECK(now_ms() - start < 4'000);  // the deadline of a header is 5 s, of a body 10 s
  for (RawClient* client : {&head, &body, &chunks, &next}) {
    const std::string last = client->read_all();
    CHECK(status_of(last) == 503);
    CHECK(has(last, "\r\nConnection: close\r\n"));
    CHECK(has(last, "stopping"));
  }
}

TEST_CASE("a stop ends at its deadline") {
  RunningServer server;
  RawClient half(server.port());
  half.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na");
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.connections == 1; }));
  const std::int64_t start = now_ms();
  server->stop(300);
  const std::int64_t took = now_ms() - start;
  CHECK(took >= 290);
  CHECK(took < 2'000);
  CHECK(half.at_end(100));
}

TEST_CASE("a stop under load interrupts no response") {
  constexpr int kThreads = 8;
  RunningServer server;
  std::atomic<int> whole{0};
  std::atomic<int> broken{0};
  std::vector<Thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back("client", [&] {
      for (;;) {
        RawClient client(server.port());
        if (!client.connected()) return;
        for (bool open = true; open;) {
          if (!client.send(get("/fixed"))) break;
          const std::string response = client.read_response();
          if (response.empty()) break;  // not received by the server: the client may repeat it
          const bool is_whole = status_of(response) == 200 && body_of(response) == "ok";
          ++(is_whole ? whole : broken);
          open = is_whole && !has(response, "Connection: close");
        }
      }
    });
  }
  CHECK(server.eventually([](const ServerStats& stats) { return stats.requests > 500; }));
  server->stop(5'000);
  for (Thread& thread : threads) thread.join();
  CHECK(broken == 0);
  CHECK(static_cast<std::uint64_t>(whole) == server->stats().requests);
}

}  // namespace server_stop_test
