#include "http/client.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>

#include "base/mutex.h"
#include "base/thread.h"
#include "certificates.h"
#include "raw_client.h"
#include "running_server.h"
#include "support/listener.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

namespace {

ClientRequest plain(int port) {
  ClientRequest request;
  request.tls = false;
  request.host = "pay.example";
  request.port = port;
  request.address = "127.0.0.1";
  return request;
}

/// Accepts one connection at a time, and sends `bytes` in two pieces, `pause_ms` apart, then
/// closes.
class CannedServer {
 public:
  explicit CannedServer(std::string bytes, int pause_ms = 0)
      : bytes_(std::move(bytes)), pause_ms_(pause_ms), thread_("canned", [this] { serve(); }) {}
  ~CannedServer() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return listener_.port(); }
  /// The first line of the last request.
  std::string request_line() const {
    const Lock lock(mutex_);
    return request_line_;
  }

 private:
  void serve() {
    for (int peer; (peer = ::accept(listener_.fd(), nullptr, nullptr)) >= 0; ::close(peer)) {
      char chunk[4096];
      const ssize_t count = ::recv(peer, chunk, sizeof chunk, 0);
      if (count <= 0) continue;
      {
        const Lock lock(mutex_);
        const std::string request(chunk, static_cast<std::size_t>(count));
        request_line_ = request.substr(0, request.find("\r\n"));
      }
      const std::size_t half = bytes_.size() / 2;
      ::send(peer, bytes_.data(), half, MSG_NOSIGNAL);
      ::poll(nullptr, 0, pause_ms_);
      ::send(peer, bytes_.data() + half, bytes_.size() - half, MSG_NOSIGNAL);
    }
  }

  coffer::test::Listener listener_;
  std::string bytes_;
  int pause_ms_;
  mutable Mutex mutex_;
  std::string request_line_ COFFER_GUARDED_BY(mutex_);
  Thread thread_;  // last: starts after all members above are initialised
};

/// The client's result for these bytes, with at most `max` bytes of the body.
Result<ClientResponse> receive(std::string bytes, std::size_t max = 1'000,
                               const std::string& method = "GET") {
  const CannedServer server(std::move(bytes));
  ClientRequest request = plain(server.port());
  request.method = method;
  request.response_bytes_max = max;
  return Client("").send(request);
}

/// Sends a byte every 20 ms on each connection, and never ends.
class Dripping {
 public:
  explicit Dripping(std::string start)
      : start_(std::move(start)), thread_("drip", [this] { serve(); }) {}
  ~Dripping() {
    over_ = true;
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return listener_.port(); }

 private:
  void serve() {
    for (int peer; (peer = ::accept(listener_.fd(), nullptr, nullptr)) >= 0; ::close(peer)) {
      ::send(peer, start_.data(), start_.size(), MSG_NOSIGNAL);
      while (!over_ && ::send(peer, "\0", 1, MSG_NOSIGNAL) == 1) ::poll(nullptr, 0, 20);
    }
  }

  coffer::test::Listener listener_;
  std::string start_;
  std::atomic<bool> over_{false};
  Thread thread_;  // last: starts after all members above are initialised
};

/// A TLS server that responds to the first request of each connection, and closes the connection
/// properly while the second one arrives.
class ClosingTlsServer {
 public:
  explicit ClosingTlsServer(const Certificates& files) {
    identity_.load(files.cert(), files.key(), "").value();
    thread_ = Thread("closing", [this] { serve(); });
  }
  ~ClosingTlsServer() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return listener_.port(); }
  int requests() const { return requests_.load(); }

 private:
  void serve() {
    for (int peer; (peer = ::accept(listener_.fd(), nullptr, nullptr)) >= 0; ::close(peer)) {
      TlsSession session = identity_.accept(peer);
      if (session.handshake().state != IoState::done) continue;
      std::array<char, 65'536> chunk;
      constexpr std::string_view kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
      if (session.read(chunk.data(), chunk.size()).state == IoState::done) ++requests_;
      session.write(kAnswer.data(), kAnswer.size());
      if (session.read(chunk.data(), chunk.size()).state == IoState::done) ++requests_;
      session.close_notify();
      while (::recv(peer, chunk.data(), chunk.size(), 0) > 0) {
      }
    }
  }

  coffer::test::Listener listener_;
  TlsIdentity identity_;
  std::atomic<int> requests_{0};
  Thread thread_;
};

}  // namespace

TEST_CASE("the client sends one request and reads one response") {
  std::string host;
  RunningServer server({}, [&](Request& request) {
    host = *request.header("host");
    Response response = echo(request);
    response.header("X-Seen", *request.header("x-sent"));
    return response;
  });
  Client client("");
  ClientRequest request = plain(server.port());
  request.method = "POST";
  request.target = "/hook?x=1";
  request.body = "{\"a\":1}";
  request.headers = {{"X-Sent", "yes"}};
  const auto response = client.send(request);
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->body == "POST /hook {\"a\":1}");
  CHECK(*response->header("x-seen") == "yes");
  CHECK_FALSE(response->truncated);
  CHECK(host == "pay.example:" + std::to_string(server.port()));
}

TEST_CASE("the client connects to the given address, independent of the name") {
  RunningServer server;
  Client client("");
  ClientRequest request = plain(server.port());
  request.host = "this-name-does-not-exist.invalid";
  CHECK(client.send(request));
  request.address = "localhost";
  CHECK(client.send(request).error().slug == Slug::malformed_request);
}

TEST_CASE("redirects are responses like any other") {
  RunningServer server({}, [](Request&) {
    Response response;
    response.status = 302;
    response.header("Location", "http://127.0.0.1/");
    return response;
  });
  CHECK(Client("").send(plain(server.port()))->status == 302);
  CHECK(server->stats().requests == 1);
}

TEST_CASE("a request that cannot be sent is rejected") {
  Client client("");
  ClientRequest request = plain(1);
  request.headers = {{"X-A", "b\r\nX-C: d"}};
  CHECK(client.send(request).error().slug == Slug::malformed_request);
  request.headers = {{"X A", "b"}};
  CHECK(client.send(request).error().slug == Slug::malformed_request);
  request.headers.clear();
  request.target = "/a b";
  CHECK(client.send(request).error().slug == Slug::malformed_request);
  request.target = "http://x/";
  CHECK(client.send(request).error().slug == Slug::malformed_request);
}

TEST_CASE("a target is sent unchanged") {
  const CannedServer server("HTTP/1.1 204 No Content\r\n\r\n");
  for (const char* target : {"/a%2Fb?x=1,2&&y=%2f&z+1=", "/?flag", "/a?=b", "/%7Euser/?q=a b"}) {
    ClientRequest request = plain(server.port());
    request.target = target;
    const bool sent = Client("").send(request).has_value();
    CHECK(sent == !has(target, " "));
    if (sent) CHECK(server.request_line() == "GET " + request.target + " HTTP/1.1");
  }
}

TEST_CASE("a request without a body has one length, or none where no body is expected") {
  RunningServer server;
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    INFO(method);
    ClientRequest request = plain(server.port());
    request.method = method;
    CHECK(Client("").send(request)->status == 200);
  }
}

TEST_CASE("the status line of a response is bounded") {
  const std::string reason(30'000, 'x');
  CHECK(receive("HTTP/1.1 200 " + reason + "\r\nContent-Length: 0\r\n\r\n")->status == 200);
  const std::string endless(300'000, 'x');
  CHECK_FALSE(receive("HTTP/1.1 200 " + endless + "\r\nContent-Length: 0\r\n\r\n"));
}

TEST_CASE("no server, no response, or not HTTP") {
  Client client("");
  const int unused = [] {
    RunningServer server;
    return server.port();
  }();
  const auto rejected = client.send(plain(unused));
  CHECK(rejected.error().slug == Slug::provider_unavailable);
  CHECK(has(rejected.error().detail, "refused"));
  CHECK(receive("SSH-2.0-OpenSSH_9.2\r\n\r\n").error().slug == Slug::provider_error);
  CHECK(receive("").error().slug == Slug::provider_error);
}

TEST_CASE("one deadline covers everything") {
  const CannedServer slow("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 2'000);
  ClientRequest request = plain(slow.port());
  request.total_timeout_ms = 200;
  const SystemClock clock;
  const std::int64_t start = clock.monotonic_ms();
  const auto response = Client("").send(request);
  CHECK(response.error().slug == Slug::provider_timeout);
  CHECK(clock.monotonic_ms() - start < 1'500);
}

TEST_CASE("the deadline also ends waits beyond the library's own limits") {
  // A TLS record of 16 KiB, byte by byte: each wait is short, and the handshake never ends.
  const Dripping handshake(std::string("\x16\x03\x03\x40\x00", 5));
  ClientRequest request = plain(handshake.port());
  request.tls = true;
  request.total_timeout_ms = 200;
  const Certificates files;
  files.make("DNS:pay.example", 1);
  const SystemClock clock;
  const std::int64_t start = clock.monotonic_ms();
  CHECK(Client(files.cert()).send(request).error().slug == Slug::provider_unavailable);
  CHECK(clock.monotonic_ms() - start < 5'000);
}

TEST_CASE("one call is one request, also when the peer closes a TLS connection meanwhile") {
  const Certificates files;
  files.make("DNS:pay.example", 1);
  const ClosingTlsServer server(files);
  ClientRequest request = plain(server.port());
  request.method = "POST";
  request.tls = true;
  Client client(files.cert(), Client::Connections::keep);
  CHECK(client.send(request)->status == 200);
  CHECK(client.idle() == 1);
  request.body = std::string(16 << 20, 'x');  // more than buffers on the way hold
  CHECK(client.send(request).error().slug == Slug::provider_error);
  CHECK(server.requests() == 2);
}

TEST_CASE("a response beyond the maximum size is truncated") {
  RunningServer server({}, [](Request&) {
    Response response;
    response.body = std::string(1'000'000, 'x');
    return response;
  });
  ClientRequest request = plain(server.port());
  request.response_bytes_max = 1'000;
  const auto response = Client("").send(request);
  REQUIRE(response);
  CHECK(response->status == 200);
  CHECK(response->body.size() == 1'000);
  CHECK(response->truncated);
}

TEST_CASE("TLS is verified: name, root and address") {
  const Certificates files;
  files.make("DNS:pay.example,IP:127.0.0.1", 1);
  RunningServer server([&](ServerOptions& options) {
    options.tls_cert_file = files.cert();
    options.tls_key_file = files.key();
  });
  ClientRequest request = plain(server.port());
  request.tls = true;
  Client trusting(files.cert());
  CHECK(trusting.send(request)->status == 200);
  request.host = "127.0.0.1";
  CHECK(trusting.send(request)->status == 200);

  for (const char* host : {"evil.example", "127.0.0.2", "a.pay.example"}) {
    request.host = host;
    const auto response = trusting.send(request);
    REQUIRE_FALSE(response);
    CHECK(response.error().slug == Slug::provider_unavailable);
    CHECK(has(response.error().detail, "mismatch"));
  }

  request.host = "pay.example";
  const Certificates others;
  others.make("DNS:pay.example", 1);
  const auto stranger = Client(others.cert()).send(request);
  REQUIRE_FALSE(stranger);
  CHECK(has(stranger.error().detail, "self-signed"));
  CHECK_FALSE(Client("").send(request));
  CHECK_FALSE(Client(others.missing()).send(request));
}

TEST_CASE("a CA bundle that is replaced is read again") {
  const Certificates files;
  files.make("DNS:pay.example", 1);
  RunningServer server([&](ServerOptions& options) {
    options.tls_cert_file = files.cert();
    options.tls_key_file = files.key();
  });
  ClientRequest request = plain(server.port());
  request.tls = true;
  Client client(files.cert());
  CHECK(client.send(request));
  files.make("DNS:pay.example", 2);
  CHECK_FALSE(client.send(request));
  REQUIRE(server->reload_tls());
  CHECK(client.send(request));
}

TEST_CASE("the configured CA bundle is used, or none") {
  const Certificates files;
  std::ofstream(files.cert()) << "x";
  CHECK(find_ca_bundle(files.cert(), files.missing()).value() == files.cert());
  CHECK(find_ca_bundle("", files.cert()).value() == files.cert());
  CHECK_FALSE(find_ca_bundle(files.missing(), files.cert()));
  CHECK_FALSE(find_ca_bundle("", files.missing()));
}

TEST_CASE("responses are read in every framing") {
  CHECK(receive("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef")->body == "abc");
  CHECK(receive("HTTP/1.0 200\r\n\r\nabc")->body == "abc");
  CHECK(receive("HTTP/1.1 204 No Content\r\n\r\n")->status == 204);
  CHECK(receive("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", 10, "HEAD")->body.empty());
  CHECK(receive("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
            ->status == 201);
  const ClientResponse chunked = receive(
                                     "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                                     "chunked\r\n\r\n3\r\nabc\r\n0a;x=y\r\n0123456789\r\n0\r\n\r\n")
                                     .value();
  CHECK(chunked.body == "abc0123456789");
  CHECK_FALSE(chunked.truncated);
}

TEST_CASE("incomplete and inconsistent responses are marked as truncated") {
  const auto truncated = [](std::string_view rest) {
    const auto response = receive("HTTP/1.1 200 OK\r\n" + std::string(rest), 5);
    REQUIRE(response);
    CHECK(response->body.size() <= 5);
    return response->truncated;
  };
  CHECK(truncated("Content-Length: 3\r\n\r\nab"));
  CHECK(truncated("Content-Length: 9\r\n\r\nabcdefghi"));
  CHECK(truncated("Content-Length: -1\r\n\r\n"));
  CHECK(truncated("Transfer-Encoding: gzip, chunked\r\n\r\n"));
  CHECK(truncated("Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n"));
  CHECK(truncated("Transfer-Encoding: chunked\r\n\r\nffffffffff\r\n"));
  CHECK(truncated("Transfer-Encoding: chunked\r\n\r\n3\r\nab"));
  CHECK(truncated("Transfer-Encoding: chunked\r\n\r\n" + std::string(400, '1')));
  CHECK(truncated("\r\nabcdef"));
  for (const std::string& bytes :
       {std::string("HTTP/2 200 OK\r\n\r\n"), std::string("HTTP/1.1 2x0 OK\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nno colon\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nA: b\nContent-Length: 1\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        std::string("HTTP/1.x 200 OK\r\n\r\n"), std::string("HTTP/1.10 200 OK\r\n\r\n")}) {
    INFO(bytes);
    const auto response = receive(bytes);
    REQUIRE_FALSE(response);
    CHECK(response.error().slug == Slug::provider_error);
  }
}

TEST_CASE("informational responses before the response are skipped") {
  const std::string hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n";
  const std::string last = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\nA: last\r\n\r\nok";
  const auto times = [](int count, const std::string& text) {
    std::string out;
    for (int i = 0; i < count; ++i) out += text;
    return out;
  };
  for (const std::string& before :
       {hints, times(64, hints), std::string("HTTP/1.1 102 Processing\r\n\r\n") + hints,
        std::string("HTTP/1.1 100 Continue\r\n\r\n"),
        std::string("HTTP/1.1 100 Continue\r\nA: first\r\nDate: x\r\n\r\n"),
        std::string("HTTP/1.1 199 Whatever\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"),
        std::string("HTTP/1.0 103 Hints\r\nTransfer-Encoding: gzip\r\n\r\n")}) {
    INFO(before.substr(0, 200));
    const auto response = receive(before + last);
    REQUIRE(response);
    CHECK(response->status == 201);
    CHECK(response->body == "ok");
    CHECK(*response->header("A") == "last");
    CHECK(response->headers.size() == 2);
    CHECK_FALSE(response->truncated);
  }
  const std::vector<std::pair<std::string, const char*>> rejected = {
      {times(65, hints) + last, "more than 64 informational responses"},
      {hints + "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "status 101"},
      {hints, "The connection was closed"},
      {hints + "HTTP/1.1 20 Short\r\n\r\n", "not valid HTTP"}};
  for (const auto& [bytes, reason] : rejected) {
    INFO(bytes.substr(0, 200));
    const auto response = receive(bytes);
    REQUIRE_FALSE(response);
    CHECK(response.error().slug == Slug::provider_error);
    CHECK(response.error().detail.find(reason) != std::string::npos);
  }
}

TEST_CASE("a large header of a response is read up to a limit, and beyond it the reason is given") {
  const auto with = [](const std::string& fields) {
    return receive("HTTP/1.1 200 OK\r\n" + fields + "Content-Length: 2\r\n\r\nok");
  };
  const auto fields = [](int count, std::size_t size) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      out += "X-" + std::to_string(i) + ": " + std::string(size, 'v') + "\r\n";
    }
    return out;
  };
  for (const auto& [count, size] : std::vector<std::pair<int, std::size_t>>{
           {1, 20'000}, {150, 10}, {999, 20}, {12, 20'000}, {1, 250'000}}) {
    INFO(count << " fields of " << size);
    const auto response = with(fields(count, size));
    REQUIRE(response);
    CHECK(response->body == "ok");
    CHECK(response->headers.size() == static_cast<std::size_t>(count) + 1);
  }
  for (const auto& [count, size] : std::vector<std::pair<int, std::size_t>>{
           {1'000, 1}, {14, 20'000}, {1, 263'000}, {100, 4'000}}) {
    INFO(count << " fields of " << size);
    const auto response = with(fields(count, size));
    REQUIRE_FALSE(response);
    CHECK(response.error().slug == Slug::provider_error);
    CHECK(response.error().detail ==
          "The header of the response has more than 1000 fields or 256 KiB.");
  }
}

TEST_CASE("a response of a later minor version is read as HTTP/1.1") {
  CHECK(receive("HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok")->body == "ok");
  CHECK(receive("HTTP/1.9 204 No Content\r\n\r\n")->status == 204);
}

TEST_CASE("a field of a response is kept as sent, so a receiver cannot add lines to it") {
  const auto response =
      receive("HTTP/1.1 200 OK\r\nX-A: a%0d%0aX-Forged: b\r\nContent-Length: 2\r\n\r\nok");
  REQUIRE(response);
  CHECK(*response->header("X-A") == "a%0d%0aX-Forged: b");
}
