#include <openssl/err.h>
#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <deque>
#include <fstream>
#include <memory>

#include "certificates.h"
#include "raw_client.h"
#include "running_server.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

namespace {

std::function<void(ServerOptions&)> with(const Certificates& files) {
  return [&](ServerOptions& options) {
    options.tls_cert_file = files.cert();
    options.tls_key_file = files.key();
  };
}

/// A blocking TLS client without verification, because only the server is tested.
class TlsClient {
 public:
  explicit TlsClient(int port, std::string_view alpn = "\x08http/1.1", int max_version = 0)
      : raw_(port), context_(SSL_CTX_new(TLS_client_method())) {
    if (max_version != 0) SSL_CTX_set_max_proto_version(context_, max_version);
    SSL_CTX_set_security_level(context_, 0);
    session_ = SSL_new(context_);
    if (!alpn.empty()) {
      SSL_set_alpn_protos(session_, reinterpret_cast<const unsigned char*>(alpn.data()),
                          static_cast<unsigned>(alpn.size()));
    }
    SSL_set_fd(session_, raw_.fd());
    agreed_ = SSL_connect(session_) == 1;
    ERR_clear_error();
  }
  ~TlsClient() {
    SSL_free(session_);
    SSL_CTX_free(context_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool agreed() const { return agreed_; }
  SSL* session() { return session_; }
  long serial() {
    X509* cert = SSL_get1_peer_certificate(session_);
    const long serial = ASN1_INTEGER_get(X509_get0_serialNumber(cert));
    X509_free(cert);
    return serial;
  }

  void send(std::string_view bytes) {
    SSL_write(session_, bytes.data(), static_cast<int>(bytes.size()));
  }
  /// Reads `count` bytes, or until the end.
  std::string read(std::size_t count) {
    std::string out;
    char chunk[16384];
    while (out.size() < count) {
      const int got = SSL_read(session_, chunk, sizeof chunk);
      if (got <= 0) break;
      out.append(chunk, static_cast<std::size_t>(got));
    }
    return out;
  }
  std::string ask(std::string_view request) {
    send(request);
    std::string out;
    while (!has(out, "\r\n\r\n") || body_of(out).empty()) {
      const std::string more = read(1);
      if (more.empty()) break;
      out += more;
    }
    return out;
  }
  /// Whether the server announced the end (close_notify) before it closed.
  bool ended_in_order() {
    char byte = 0;
    const int got = SSL_read(session_, &byte, 1);
    return SSL_get_error(session_, got) == SSL_ERROR_ZERO_RETURN;
  }

 private:
  RawClient raw_;
  SSL_CTX* context_;
  SSL* session_;
  bool agreed_ = false;
};

}  // namespace

TEST_CASE("requests over TLS, kept alive, pipelined and large") {
  const Certificates files;
  files.make("DNS:localhost", 1);
  const std::string large(300'000, 'y');
  RunningServer server(with(files), [&](Request& request) {
    Response response = echo(request);
    if (request.path == "/large") response.body = large;
    return response;
  });
  TlsClient client(server.port());
  REQUIRE(client.agreed());
  CHECK(SSL_version(client.session()) == TLS1_3_VERSION);
  const unsigned char* protocol = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(client.session(), &protocol, &size);
  CHECK(std::string_view(reinterpret_cast<const char*>(protocol), size) == "http/1.1");
  for (int i = 0; i < 3; ++i) CHECK(body_of(client.ask(get("/fixed"))) == "ok");

  client.send(get("/1") + get("/2"));
  std::string both;
  while (!has(both, "GET /2 ")) both += client.read(1);
  CHECK(has(both, "GET /1 "));

  const std::string body(60'000, 'x');
  client.send("POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" + body);
  CHECK(has(client.read(body.size() + 200), "POST /p xxxxx"));

  client.send(get("/large", "Connection: close\r\n"));
  CHECK(body_of(client.read(1'000'000)) == large);
}

TEST_CASE("the end of a TLS connection is announced") {
  const Certificates files;
  files.make("DNS:localhost", 1);
  RunningServer server([&](ServerOptions& options) {
    with(files)(options);
    options.limits.idle_ms = 200;
  });
  TlsClient closing(server.port());
  CHECK(body_of(closing.ask(get("/fixed", "Connection: close\r\n"))) == "ok");
  CHECK(closing.ended_in_order());
  TlsClient idle(server.port());
  CHECK(body_of(idle.ask(get("/fixed"))) == "ok");
  CHECK(idle.ended_in_order());
  TlsClient rejected(server.port());
  CHECK(status_of(rejected.ask("GET / HTTP/1.1\r\n\r\n")) == 400);
  CHECK(rejected.ended_in_order());
}

TEST_CASE("old TLS versions and other protocols are rejected") {
  const Certificates files;
  files.make("DNS:localhost", 1);
  RunningServer server(with(files));
  CHECK(TlsClient(server.port(), "\x08http/1.1", TLS1_2_VERSION).agreed());
  CHECK(TlsClient(server.port(), "").agreed());
  CHECK(TlsClient(server.port(), "\x02h2\x08http/1.1").agreed());
  CHECK_FALSE(TlsClient(server.port(), "\x02h2").agreed());
  CHECK_FALSE(TlsClient(server.port(), "\x08http/1.1", TLS1_1_VERSION).agreed());
  RawClient plain(server.port());
  plain.send(get("/fixed"));
  CHECK_FALSE(has(plain.read_all(), "HTTP/1.1"));
}

TEST_CASE("clients that do not finish the handshake delay no others") {
  const Certificates files;
  files.make("DNS:localhost", 1);
  RunningServer server([&](ServerOptions& options) {
    with(files)(options);
    options.workers = 1;
    options.limits.header_ms = 400;
  });
  std::deque<RawClient> slow;
  for (int i = 0; i < 20; ++i) slow.emplace_back(server.port()).send("\x16\x03\x01\x02");
  CHECK(body_of(TlsClient(server.port()).ask(get("/fixed"))) == "ok");
  for (RawClient& client : slow) CHECK(client.at_end(3'000));
}

TEST_CASE("certificates are replaced while connections stay open") {
  const Certificates files;
  files.make("DNS:localhost", 1);
  RunningServer server(with(files));
  TlsClient old(server.port());
  CHECK(old.serial() == 1);

  files.make("DNS:localhost", 2);
  REQUIRE(server->reload_tls());
  CHECK(TlsClient(server.port()).serial() == 2);
  CHECK(body_of(old.ask(get("/fixed"))) == "ok");

  std::ofstream(files.key()) << "not a key";
  const Result<void> failed = server->reload_tls();
  REQUIRE_FALSE(failed);
  CHECK(has(failed.error().detail, files.key()));
  CHECK(TlsClient(server.port()).serial() == 2);
}

TEST_CASE("a server without a usable certificate does not start") {
  const Certificates files;
  SeededRandom random(1);
  ServerOptions options;
  with(files)(options);
  const Result<void> missing = Server(options, random, echo).start();
  REQUIRE_FALSE(missing);
  CHECK(has(missing.error().detail, files.cert()));
  CHECK(has(missing.error().detail, "No such file"));

  const Certificates others;
  files.make("DNS:localhost", 1);
  others.make("DNS:localhost", 1);
  options.tls_key_file = others.key();
  CHECK_FALSE(Server(options, random, echo).start());
}

TEST_CASE("a stop closes TLS connections too") {
  const Certificates files;
  files.make("DNS:localhost", 1);
  RunningServer server(with(files));
  TlsClient idle(server.port());
  CHECK(body_of(idle.ask(get("/fixed"))) == "ok");
  server->stop(2'000);
  CHECK(idle.ended_in_order());
}
