#include "http/client.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "base/thread.h"
#include "certificates.h"
#include "http/response_parser.h"
#include "raw_client.h"
#include "running_server.h"
#include "support/listener.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;
using State = ResponseParser::State;

namespace {

ClientRequest plain(int port) {
  ClientRequest request;
  request.tls = false;
  request.host = "pay.example";
  request.port = port;
  request.address = "127.0.0.1";
  return request;
}

/// Accepts one connection after the other and answers with `bytes` in two pieces, `pause_ms` apart.
class CannedServer {
 public:
  CannedServer(std::string bytes, int pause_ms)
      : bytes_(std::move(bytes)), pause_ms_(pause_ms), thread_("canned", [this] { serve(); }) {}
  ~CannedServer() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  int port() const { return listener_.port(); }

 private:
  void serve() {
    for (int peer; (peer = ::accept(listener_.fd(), nullptr, nullptr)) >= 0; ::close(peer)) {
      char chunk[4096];
      if (::recv(peer, chunk, sizeof chunk, 0) <= 0) continue;
      const std::size_t half = bytes_.size() / 2;
      ::send(peer, bytes_.data(), half, MSG_NOSIGNAL);
      ::poll(nullptr, 0, pause_ms_);
      ::send(peer, bytes_.data() + half, bytes_.size() - half, MSG_NOSIGNAL);
    }
  }

  coffer::test::Listener listener_;
  std::string bytes_;
  int pause_ms_;
  Thread thread_;  // last: starts when everything above is there
};

/// Feeds all at once.
ClientResponse parse_whole(std::string_view bytes, State expected) {
  ResponseParser parser(false, 1'000);
  State state = parser.feed(bytes);
  if (state == State::header || state == State::body) state = parser.end(true);
  CHECK(state == expected);
  return parser.take();
}

/// Feeds byte by byte.
ClientResponse parse(std::string_view bytes, State expected, std::size_t max = 1'000,
                     bool head = false) {
  ResponseParser parser(head, max);
  State state = State::header;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (state == State::header || state == State::body) state = parser.feed(bytes.substr(i, 1));
  }
  if (state == State::header || state == State::body) state = parser.end(true);
  CHECK(state == expected);
  return parser.take();
}

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

TEST_CASE("the client goes to the address it is given, whatever the name") {
  RunningServer server;
  Client client("");
  ClientRequest request = plain(server.port());
  request.host = "this-name-does-not-exist.invalid";
  CHECK(client.send(request));
  request.address = "localhost";
  CHECK(client.send(request).error().slug == Slug::malformed_request);
}

TEST_CASE("redirects are answers like any other") {
  RunningServer server({}, [](Request&) {
    Response response;
    response.status = 302;
    response.header("Location", "http://127.0.0.1/");
    return response;
  });
  CHECK(Client("").send(plain(server.port()))->status == 302);
  CHECK(server->stats().requests == 1);
}

TEST_CASE("what cannot be sent is not sent") {
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

TEST_CASE("the limits of header and chunk lines are the same however a response arrives") {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::size_t size : {255U, 256U, 257U, 400U}) {
    INFO(size);
    const std::string bytes =
        chunked + "5;" + std::string(size - 2, 'x') + "\r\nhello\r\n0\r\n\r\n";
    for (const ClientResponse& response :
         {parse(bytes, State::complete), parse_whole(bytes, State::complete)}) {
      CHECK(response.truncated == (size > 256));
      CHECK(response.body == (size > 256 ? "" : "hello"));
    }
  }
  const std::string start = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
  for (const std::size_t size : {16'383U, 16'384U, 16'385U, 20'000U}) {
    INFO(size);
    const std::string bytes = start + std::string(size - start.size(), 'x') + "\r\n\r\n";
    const State expected = size > 16'384 ? State::broken : State::complete;
    parse(bytes, expected);
    parse_whole(bytes, expected);
  }
}

TEST_CASE("nobody there, nothing said, or not HTTP") {
  Client client("");
  const int unused = [] {
    RunningServer server;
    return server.port();
  }();
  const auto refused = client.send(plain(unused));
  CHECK(refused.error().slug == Slug::provider_unavailable);
  CHECK(has(refused.error().detail, "refused"));

  const CannedServer gibberish("SSH-2.0-OpenSSH_9.2\r\n\r\n", 0);
  CHECK(client.send(plain(gibberish.port())).error().slug == Slug::provider_error);
  const CannedServer mute("", 0);
  CHECK(client.send(plain(mute.port())).error().slug == Slug::provider_error);
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

TEST_CASE("a response longer than asked for is cut off") {
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
  CHECK_FALSE(Client("/nonexistent").send(request));
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

TEST_CASE("the CA bundle that was named is the one, or none") {
  const Certificates files;
  std::ofstream(files.cert()) << "x";
  CHECK(find_ca_bundle(files.cert(), "/nonexistent").value() == files.cert());
  CHECK(find_ca_bundle("", files.cert()).value() == files.cert());
  CHECK_FALSE(find_ca_bundle("/nonexistent", files.cert()));
  CHECK_FALSE(find_ca_bundle("", "/nonexistent"));
}

TEST_CASE("responses are read in every framing") {
  CHECK(parse("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", State::complete).body == "abc");
  CHECK(parse("HTTP/1.0 200\r\n\r\nabc", State::complete).body == "abc");
  CHECK(parse("HTTP/1.1 204 No Content\r\n\r\n", State::complete).status == 204);
  CHECK(parse("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", State::complete, 10, true)
            .body.empty());
  CHECK(parse("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
              State::complete)
            .status == 201);
  const ClientResponse chunked = parse(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\nabc\r\n0a;x=y\r\n0123456789\r\n0\r\n\r\n",
      State::complete);
  CHECK(chunked.body == "abc0123456789");
  CHECK_FALSE(chunked.truncated);
}

TEST_CASE("responses that break off or lie are cut, never trusted") {
  const auto truncated = [](std::string_view rest) {
    return parse("HTTP/1.1 200 OK\r\n" + std::string(rest), State::complete, 5).truncated;
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
  parse("HTTP/2 200 OK\r\n\r\n", State::broken);
  parse("HTTP/1.1 2x0 OK\r\n\r\n", State::broken);
  parse("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", State::broken);
  parse("HTTP/1.1 200 OK\r\nA: b\nContent-Length: 1\r\n\r\n", State::broken);
  parse("HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n", State::broken);
  parse("HTTP/1.1 200 OK\r\nA: " + std::string(20'000, 'x'), State::broken);
}
