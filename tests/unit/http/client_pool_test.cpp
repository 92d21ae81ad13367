// Kept connections: reused only for the same host, and closed without losing a call.

#include <atomic>
#include <catch2/catch.hpp>

#include "base/thread.h"
#include "http/client.h"
#include "running_server.h"
#include "support/held_port.h"
#include "support/listener.h"

using namespace coffer;
using namespace coffer::http;
using coffer::http::test::has;
using coffer::http::test::RunningServer;
using coffer::test::HeldPort;

namespace {

ClientRequest request_to(int port, const std::string& body = "x") {
  ClientRequest request;
  request.method = "POST";
  request.tls = false;
  request.host = "hooks.example";
  request.port = port;
  request.address = "127.0.0.1";
  request.target = "/in";
  request.body = body;
  request.total_timeout_ms = 2'000;
  return request;
}

/// Responds to the first request of every connection; the test selects the reaction to the second.
class OneAnswer {
 public:
  enum class Second { close, reset, closed_before };
  explicit OneAnswer(Second second) : second_(second), thread_("one-answer", [this] { serve(); }) {}
  ~OneAnswer() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return listener_.port(); }
  int requests() const { return requests_.load(); }
  /// Waits until `count` connections are closed on this side; false after 5 s.
  bool wait_until_closed(int count) {
    const SystemClock clock;
    const std::int64_t deadline = clock.monotonic_ms() + 5'000;
    const Lock lock(mutex_);
    while (closed_ < count && clock.monotonic_ms() < deadline) changed_.wait_for_ms(mutex_, 100);
    return closed_ >= count;
  }

 private:
  void serve() {
    for (int peer; (peer = ::accept(listener_.fd(), nullptr, nullptr)) >= 0;) {
      if (read_request(peer)) {
        constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        ::send(peer, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
        if (second_ != Second::closed_before) read_request(peer);
      }
      const linger at_once{1, 0};
      if (second_ == Second::reset) {
        ::setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      }
      ::close(peer);
      const Lock lock(mutex_);
      ++closed_;
      changed_.notify_all();
    }
  }
  /// A request of `request_to` with its one byte of body.
  bool read_request(int peer) {
    std::string bytes;
    char chunk[4096];
    while (!bytes.ends_with("\r\n\r\nx")) {
      const ssize_t count = ::recv(peer, chunk, sizeof chunk, 0);
      if (count <= 0) return false;
      bytes.append(chunk, static_cast<std::size_t>(count));
    }
    ++requests_;
    return true;
  }

  const Second second_;
  coffer::test::Listener listener_;
  std::atomic<int> requests_{0};
  Mutex mutex_;
  Condition changed_;
  int closed_ COFFER_GUARDED_BY(mutex_) = 0;
  Thread thread_;  // last: starts after all members above are initialised
};

}  // namespace

TEST_CASE("pool: the next request to the same host uses the same connection") {
  RunningServer server;
  Client pool("", Client::Connections::keep);
  for (int i = 0; i < 5; ++i) {
    const auto response = pool.send(request_to(server.port(), std::to_string(i)));
    REQUIRE(response);
    CHECK(response->body == "POST /in " + std::to_string(i));
  }
  CHECK(pool.opened() == 1);
  CHECK(pool.idle() == 1);
  // Another name at the same address is another host.
  ClientRequest other = request_to(server.port());
  other.host = "other.example";
  CHECK(pool.send(other));
  CHECK(pool.opened() == 2);
  CHECK(pool.idle() == 2);
}

TEST_CASE("pool: an incomplete response, or one with close, is the last on its connection") {
  RunningServer server({}, [](Request&) {
    Response response;
    response.body = std::string(5'000, 'x');
    return response;
  });
  Client pool("", Client::Connections::keep);
  ClientRequest request = request_to(server.port());
  request.response_bytes_max = 100;
  for (int i = 0; i < 2; ++i) {
    const auto response = pool.send(request);
    REQUIRE(response);
    CHECK(response->truncated);
    CHECK(pool.idle() == 0);
  }
  request.response_bytes_max = 10'000;
  request.headers = {{"Connection", "close"}};
  CHECK(pool.send(request));
  CHECK(pool.idle() == 0);
  CHECK(pool.opened() == 3);
}

TEST_CASE("pool: a connection that the peer closed while idle is not used") {
  Client pool("", Client::Connections::keep);
  const HeldPort port;
  const auto listens_there = [&](ServerOptions& options) { options.port = port.number(); };
  {
    RunningServer server(listens_there);
    CHECK(pool.send(request_to(port.number())));
    CHECK(pool.idle() == 1);
  }
  RunningServer again(listens_there);
  CHECK(pool.send(request_to(port.number())));
  CHECK(pool.opened() == 2);
}

TEST_CASE("pool: one call is one request, also when the peer hangs up on a reused connection") {
  for (const auto second : {OneAnswer::Second::close, OneAnswer::Second::reset}) {
    OneAnswer server(second);
    Client pool("", Client::Connections::keep);
    REQUIRE(pool.send(request_to(server.port())));
    REQUIRE(pool.idle() == 1);
    const auto response = pool.send(request_to(server.port()));
    CHECK(server.requests() == 2);
    REQUIRE_FALSE(response);
    CHECK(response.error().slug == Slug::provider_error);
    CHECK(has(response.error().detail, "closed"));
    CHECK(pool.idle() == 0);

    // Connections to this host are not kept for a while, so the next calls do not fail.
    CHECK(pool.send(request_to(server.port())));
    CHECK(pool.idle() == 0);
    CHECK(pool.send(request_to(server.port())));
    CHECK(server.requests() == 4);
    CHECK(pool.opened() == 3);
  }
}

TEST_CASE(
    "pool: a connection that the peer closes after its answer is not used for the next call") {
  OneAnswer server(OneAnswer::Second::closed_before);
  Client pool("", Client::Connections::keep);
  for (int i = 1; i <= 3; ++i) {
    CHECK(pool.send(request_to(server.port())));
    REQUIRE(server.wait_until_closed(i));
  }
  CHECK(server.requests() == 3);
  CHECK(pool.opened() == 3);
}

TEST_CASE("pool: chunked and empty responses leave the connection usable") {
  int calls = 0;
  RunningServer server({}, [&](Request&) {
    Response response;
    if (++calls == 1) {
      response.stream = [](const Sink& sink) { return sink("one") && sink("two"); };
    } else {
      response.status = 204;
      response.content_type.clear();
    }
    return response;
  });
  Client pool("", Client::Connections::keep);
  CHECK(pool.send(request_to(server.port()))->body == "onetwo");
  CHECK(pool.send(request_to(server.port()))->status == 204);
  CHECK(pool.send(request_to(server.port()))->status == 204);
  // The end of the chunks may arrive separately; then the connection is closed, which is also
  // correct.
  CHECK(pool.opened() <= 2);
}

TEST_CASE("pool: an interruption ends waiting calls and all later ones, at once or after a time") {
  const int after_ms = GENERATE(0, 200);
  Mutex mutex;
  Condition asked;
  bool waits = false;
  bool over = false;
  RunningServer server({}, [&](Request&) {
    const Lock lock(mutex);
    waits = true;
    asked.notify_all();
    while (!over) asked.wait(mutex);
    return Response();
  });
  Client pool("", Client::Connections::keep);
  std::optional<Result<ClientResponse>> result;
  const std::int64_t began = SystemClock().monotonic_ms();
  {
    const Thread sending("sending", [&] {
      ClientRequest request = request_to(server.port());
      request.total_timeout_ms = 30'000;
      result.emplace(pool.send(request));
    });
    {
      const Lock lock(mutex);
      while (!waits) asked.wait(mutex);
    }
    pool.cut_after(after_ms);
  }
  CHECK(SystemClock().monotonic_ms() - began < 10'000);
  REQUIRE(result);
  CHECK_FALSE(*result);
  CHECK_FALSE(pool.send(request_to(server.port())));
  const Lock lock(mutex);
  over = true;
  asked.notify_all();
}
