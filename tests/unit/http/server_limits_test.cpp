// Slow, idle and too many clients: the server's limits, without an effect on other clients.

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <optional>
#include <utility>

#include "base/platform/processors.h"
#include "base/thread.h"
#include "raw_client.h"
#include "running_server.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

namespace {

std::int64_t now_ms() { return SystemClock().monotonic_ms(); }

void pause_ms(std::int64_t ms) {
  Mutex mutex;
  Condition never;
  const Lock lock(mutex);
  never.wait_for_ms(mutex, ms);
}

}  // namespace

TEST_CASE("a slow header is cut off at its deadline, however it arrives") {
  RunningServer server([](ServerOptions& options) { options.limits.header_ms = 400; });
  RawClient client(server.port());
  const std::int64_t start = now_ms();
  const std::string bytes = get("/", "A: " + std::string(100, 'x') + "\r\n");
  std::size_t sent = 0;
  while (sent < bytes.size() && client.send(bytes.substr(sent, 1)) && !client.at_end(20)) ++sent;
  CHECK(sent < bytes.size());
  CHECK(now_ms() - start < 2'000);
  CHECK(server->stats().requests == 0);
}

TEST_CASE("a silent connection is closed") {
  RunningServer server([](ServerOptions& options) { options.limits.header_ms = 200; });
  RawClient client(server.port());
  CHECK(client.at_end(2'000));
}

TEST_CASE("a body that does not arrive is cut off at its deadline") {
  RunningServer server([](ServerOptions& options) { options.limits.body_ms = 200; });
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na");
  CHECK(client.at_end(2'000));
  CHECK(server->stats().requests == 0);
}

TEST_CASE("time spent on the header reduces the time for the body") {
  RunningServer server([](ServerOptions& options) {
    options.limits.header_ms = 5'000;
    options.limits.body_ms = 10'000;
    options.limits.request_ms = 2'400;
  });
  const std::string header = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
  SECTION("on a new connection, from its first moment") {
    RawClient client(server.port());
    CHECK_FALSE(client.at_end(600));
    client.send(header);
    CHECK_FALSE(client.at_end(100));
    CHECK(client.at_end(4'500));
  }
  SECTION("on a kept one, from the first byte of the request") {
    RawClient client(server.port());
    client.send(get("/fixed"));
    CHECK(status_of(client.read_response()) == 200);
    pause_ms(2'700);  // idle: does not count
    client.send(header.substr(0, 10));
    CHECK_FALSE(client.at_end(600));
    client.send(header.substr(10));
    CHECK_FALSE(client.at_end(100));
    CHECK(client.at_end(4'500));
  }
  SECTION("fast clients are served") {
    RawClient client(server.port());
    client.send(header);
    pause_ms(100);
    client.send("abc");
    CHECK(status_of(client.read_response()) == 200);
  }
}

TEST_CASE("a kept connection is closed after its idle time, not before") {
  RunningServer server([](ServerOptions& options) {
    options.limits.idle_ms = 2'000;
    options.limits.header_ms = 100;
  });
  RawClient client(server.port());
  client.send(get("/fixed"));
  CHECK(status_of(client.read_response()) == 200);
  CHECK_FALSE(client.at_end(350));  // the header deadline does not count here
  client.send(get("/fixed"));
  CHECK(status_of(client.read_response()) == 200);
  CHECK(client.at_end(6'000));
}

TEST_CASE("slow clients occupy no worker") {
  RunningServer server([](ServerOptions& options) { options.workers = 2; });
  std::deque<RawClient> slow;
  for (int i = 0; i < 50; ++i) {
    slow.emplace_back(server.port()).send("GET / HTTP/1.1\r\nHo");
    slow.emplace_back(server.port())
        .send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab");
  }
  RawClient good(server.port());
  for (int i = 0; i < 20; ++i) {
    const std::int64_t start = now_ms();
    good.send(get("/fixed"));
    CHECK(body_of(good.read_response()) == "ok");
    CHECK(now_ms() - start < 5'000);
  }
  CHECK(server->stats().parked >= 100);
  CHECK(server.eventually([](const ServerStats& stats) { return stats.busy == 0; }));
}

TEST_CASE("a client that does not read its response occupies no worker") {
  const bool reads = GENERATE(false, true);
  const std::string large(8 * 1024 * 1024, 'x');
  RunningServer server(
      [&](ServerOptions& options) {
        options.workers = 1;
        options.limits.write_ms = reads ? 20'000 : 600;
      },
      [&](Request& request) {
        Response response;
        response.body = request.path == "/large" ? large : "ok";
        return response;
      });
  RawClient slow(server.port(), 4'096);
  slow.send(get("/large"));
  RawClient good(server.port());
  good.send(get("/fixed"));
  CHECK(body_of(good.read_response()) == "ok");
  if (!reads) {  // it is cut when it makes no progress
    CHECK(server.eventually([](const ServerStats& stats) { return stats.connections == 1; }));
  } else {  // it gets everything
    slow.send(get("/fixed"));
    CHECK(body_of(slow.read_response(20'000)).size() == large.size());
    CHECK(body_of(slow.read_response()) == "ok");
  }
}

TEST_CASE("unread responses are limited over all clients") {
  const std::string large(16 * 1024 * 1024, 'x');  // far more than the kernel buffers
  RunningServer server(
      [](ServerOptions& options) { options.limits.unread_bytes_max = 20 * 1024 * 1024; },
      [&](Request&) {
        Response response;
        response.body = large;
        return response;
      });
  RawClient first(server.port(), 4'096);
  first.send(get("/"));
  REQUIRE(server.eventually(
      [](const ServerStats& stats) { return stats.requests == 1 && stats.busy == 0; }));
  {
    RawClient second(server.port(), 4'096);
    second.send(get("/"));
    CHECK(server.eventually(
        [](const ServerStats& stats) { return stats.requests == 2 && stats.connections == 1; }));
  }
  CHECK(body_of(first.read_response(20'000)).size() == large.size());
  first.send(get("/"));  // given back: there is room again
  CHECK(body_of(first.read_response(20'000)).size() == large.size());
}

TEST_CASE("a connection with unread responses gets no further responses") {
  constexpr std::size_t kRequests = 5'000;
  constexpr std::size_t kBytes = 1'024;
  RunningServer server({}, [](Request&) {
    Response response;
    response.body = std::string(kBytes, 'x');
    return response;
  });
  RawClient slow(server.port(), 4'096);
  Thread sender("sender", [&slow] {
    std::string requests;
    for (std::size_t i = 0; i < kRequests; ++i) requests += get("/");
    slow.send(requests);
  });
  std::uint64_t before = 0;
  const auto stands_still = [&](const ServerStats& stats) {
    return stats.busy == 0 && std::exchange(before, stats.requests) == stats.requests && before > 0;
  };
  for (int looks = 0; looks < 20; ++looks) REQUIRE(server.eventually(stands_still));
  CHECK(before * kBytes < 160 * 1024);
  RawClient good(server.port());
  good.send(get("/"));
  CHECK(status_of(good.read_response()) == 200);
  // Nothing is lost: the response continues when the client reads.
  for (std::size_t i = 0; i < kRequests; ++i) {
    if (body_of(slow.read_response()).size() != kBytes) FAIL("response " << i);
  }
  sender.join();
}

TEST_CASE(
    "a client that reads less than 16 KiB a second is disconnected, however steadily it reads") {
  RunningServer server([](ServerOptions& options) { options.limits.write_ms = 300; },
                       [](Request&) {
                         Response response;
                         response.body = std::string(4 * 1024 * 1024, 'x');
                         return response;
                       });
  RawClient slow(server.port(), 4'096);
  slow.send(get("/"));
  const std::int64_t start = now_ms();
  while (server->stats().connections > 0 && now_ms() - start < 20'000) {
    std::array<char, 512> piece;
    static_cast<void>(::recv(slow.fd(), piece.data(), piece.size(), MSG_DONTWAIT));
    pause_ms(50);
  }
  CHECK(now_ms() - start < 20'000);
}

TEST_CASE("bodies that arrive in parts without credentials share little memory") {
  RunningServer server([](ServerOptions& options) {
    options.limits.unauthenticated_bodies_bytes_max = 256 * 1024;
    options.admit = [](const Request& head, std::uint64_t) {
      Admission out;
      out.caller = {1, head.header("x-svc-auth") != nullptr};
      return Result<Admission>(out);
    };
  });
  const std::string half =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n" + std::string(20'000, 'x');
  const std::string chunked =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab";
  RawClient first(server.port());
  first.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\nExpect: 100-continue\r\n\r\n");
  CHECK(status_of(first.read_response()) == 100);
  first.send(std::string(20'000, 'x'));
  for (const std::string& bytes : {half, chunked}) {
    RawClient beyond(server.port());
    beyond.send(bytes);
    CHECK(status_of(beyond.read_all()) == 429);
  }
  // A body that comes with its header, or from a known application, does not use this memory.
  RawClient whole(server.port());
  whole.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
  CHECK(status_of(whole.read_response()) == 200);
  std::deque<RawClient> known;
  for (int i = 0; i < 10; ++i) {
    known.emplace_back(server.port())
        .send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\nX-Svc-Auth: k\r\n\r\n" +
              std::string(20'000, 'x'));
  }
  for (RawClient& client : known) {
    client.send(std::string(20'000, 'x'));
    CHECK(status_of(client.read_response()) == 200);
  }
  first.send(std::string(20'000, 'x'));
  CHECK(status_of(first.read_response()) == 200);
  RawClient next(server.port());  // given back: there is room again
  next.send(half);
  next.send(std::string(20'000, 'x'));
  CHECK(status_of(next.read_response()) == 200);
}

TEST_CASE(
    "a client that does not read a stream is disconnected, and the kernel buffers little for it") {
  std::atomic<bool> gave_up{false};
  std::atomic<std::size_t> pieces{0};
  RunningServer server(
      [](ServerOptions& options) {
        options.workers = 1;
        options.limits.write_ms = 300;
      },
      [&](Request&) {
        Response response;
        response.stream = [&](const Sink& sink) {
          const std::string piece(64 * 1024, 'x');
          for (int i = 0; i < 1'000; ++i) {
            if (!sink(piece)) {
              gave_up = true;
              return false;
            }
            ++pieces;
          }
          return true;
        };
        return response;
      });
  RawClient slow(server.port(), 4'096);
  slow.send(get("/"));
  CHECK(server.eventually([&](const ServerStats&) { return gave_up.load(); }));
  CHECK(server.eventually([](const ServerStats& stats) { return stats.connections == 0; }));
  CHECK(pieces.load() * 64 * 1024 <= 1024 * 1024);
}

TEST_CASE("connections without a rejection slot also get a response") {
  RunningServer server([](ServerOptions& options) {
    options.limits.connections_max = 1;
    options.limits.header_ms = options.limits.incomplete_ms = 60'000;
  });
  std::deque<RawClient> silent;
  // Clients that do not finish occupy the one served connection and all slots for rejections.
  for (int i = 0; i < 65; ++i) silent.emplace_back(server.port()).send("GET /");
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.connections == 65; }));
  for (int i = 0; i < 20; ++i) {
    const std::int64_t start = now_ms();
    RawClient client(server.port());
    if (i % 2 == 0) pause_ms(20);  // its request comes when it has been answered already
    client.send(get("/"));
    const bool in_time = now_ms() - start < 300;  // later, the connection may be closed correctly
    const std::string response = client.read_all();
    INFO(response);
    CHECK(status_of(response) == 503);
    CHECK(has(response, "Retry-After: 1\r\n"));
    CHECK(has(response, "Connection: close\r\n"));
    CHECK_FALSE(client.timed_out());
    if (in_time) CHECK_FALSE(client.was_reset());
  }
  CHECK(server->stats().connections == 65);
}

TEST_CASE("connections over the limit get a response") {
  RunningServer server([](ServerOptions& options) {
    options.limits.connections_max = 2;
    options.limits.incomplete_ms = 60'000;
  });
  RawClient first(server.port());
  RawClient second(server.port());
  first.send(get("/fixed"));
  second.send(get("/fixed"));
  CHECK(status_of(first.read_response()) == 200);
  CHECK(status_of(second.read_response()) == 200);
  first.send("GET");  // neither is idle
  second.send("GET");
  RawClient third(server.port());
  third.send(get("/fixed", "X-Request-Id: third\r\n"));
  const std::string rejected = third.read_all();
  CHECK(status_of(rejected) == 503);
  CHECK(has(rejected, "\r\nRetry-After: 1\r\n"));
  CHECK(has(rejected, "\r\nX-Request-Id: third\r\n"));
  CHECK_FALSE(third.was_reset());
  first.close();
  CHECK(server.eventually([](const ServerStats& stats) { return stats.connections == 1; }));
  RawClient fourth(server.port());
  fourth.send(get("/fixed"));
  CHECK(status_of(fourth.read_response()) == 200);
}

TEST_CASE("requests without a free worker are queued, then rejected, and none is lost") {
  Gatekeeper gate;
  RunningServer server(
      [](ServerOptions& options) {
        options.workers = 2;
        // Callers without credentials take three of the places.
        options.lanes[0] = {"system", 2, 4, 2, 4};
      },
      [&](Request& request) {
        if (request.path == "/wait") gate.wait();
        return echo(request);
      });
  std::deque<RawClient> waiting;
  for (std::size_t i = 0; i < 5; ++i) {
    waiting.emplace_back(server.port()).send(get("/wait"));
    REQUIRE(server.eventually(
        [&](const ServerStats& stats) { return stats.busy + stats.queued == i + 1; }));
  }
  CHECK(server->stats().busy == 2);
  CHECK(server->stats().queued == 3);

  RawClient shed(server.port());
  for (int i = 0; i < 3; ++i) {  // and the connection stays usable
    shed.send(get("/fixed"));
    const std::string response = shed.read_response();
    CHECK(status_of(response) == 503);
    CHECK(has(response, "\r\nRetry-After: 1\r\n"));
    CHECK(has(response, R"("code":"overloaded")"));
    CHECK_FALSE(has(response, "Connection: close"));
  }
  CHECK(server->stats().rejected == 3);

  gate.open();
  for (RawClient& client : waiting) CHECK(body_of(client.read_response()) == "GET /wait ");
  shed.send(get("/fixed"));
  CHECK(status_of(shed.read_response()) == 200);
}

TEST_CASE("workers are started when others block, and only then") {
  const auto processor_count = static_cast<std::size_t>(processors());
  const std::size_t blocked = processor_count + 2;
  Gatekeeper gate;
  const auto set = [&](ServerOptions& options) {
    options.workers = blocked + 1;
    const int width = static_cast<int>(options.workers);
    options.lanes[0] = {"system", width, width, width, width};
  };
  const auto serve = [&](Request& request) {
    if (request.path == "/wait") gate.wait();
    return echo(request);
  };
  const auto get_quickly = [](RawClient& client) {
    client.send(get("/fixed"));
    CHECK(status_of(client.read_response()) == 200);
  };

  // A worker that gets no processor for 2 ms looks blocked, so a busy machine may need some tries.
  bool none_started = false;
  for (int tries = 0; tries < 20 && !none_started; ++tries) {
    RunningServer quick(set, serve);
    RawClient client(quick.port());
    for (int i = 0; i < 10; ++i) get_quickly(client);
    none_started = quick->stats().workers == processor_count;
  }
  CHECK(none_started);

  RunningServer server(set, serve);
  RawClient other(server.port());
  std::deque<RawClient> waiting;
  for (std::size_t i = 0; i < blocked; ++i) {
    REQUIRE(server.eventually([&](const ServerStats& stats) { return stats.busy == i; }));
    waiting.emplace_back(server.port()).send(get("/wait"));
    REQUIRE(server.eventually([&](const ServerStats& stats) { return stats.busy == i + 1; }));
    get_quickly(other);
  }
  CHECK(server->stats().workers == blocked + 1);
  gate.open();
  for (RawClient& client : waiting) CHECK(body_of(client.read_response()) == "GET /wait ");
}

TEST_CASE("a connection is closed after its share of requests") {
  RunningServer server(
      [](ServerOptions& options) { options.limits.requests_per_connection_max = 2; });
  RawClient client(server.port());
  client.send(get("/fixed"));
  CHECK_FALSE(has(client.read_response(), "Connection: close"));
  client.send(get("/fixed"));
  CHECK(has(client.read_response(), "Connection: close"));
  CHECK(client.at_end());
}

TEST_CASE("more clients than workers, in bursts, lose nothing") {
  // Exercises the handover between the poller and the workers.
  constexpr int kThreads = 6;
  constexpr int kRounds = 150;
  RunningServer server([](ServerOptions& options) { options.workers = 2; },
                       [](Request& request) {
                         if (request.path.back() == '7') pause_ms(1);
                         return echo(request);
                       });
  std::atomic<int> good{0};
  std::vector<Thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back("client", [&, t] {
      RawClient client(server.port());
      for (int i = 0; i < kRounds; ++i) {
        const std::string path = "/" + std::to_string(t) + "-" + std::to_string(i);
        client.send(get(path));
        client.send(get(path + "-7"));
        if (body_of(client.read_response()) == "GET " + path + " ") ++good;
        if (body_of(client.read_response()) == "GET " + path + "-7 ") ++good;
      }
    });
  }
  for (Thread& thread : threads) thread.join();
  CHECK(good == 2 * kThreads * kRounds);
}
