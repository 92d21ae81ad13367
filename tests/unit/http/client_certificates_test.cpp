// Certificates of TLS clients (docs/tls.md#client-certificates): the certificate of a request, in
// both versions of TLS, and after the resumption of a session.
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>

#include "certificates.h"
#include "raw_client.h"
#include "running_server.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

namespace {

using Ticket = std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)>;

struct Files {
  Files() {
    own.make("DNS:localhost", 1);
    authority.make_authority("coffer authority");
    client.make_issued(authority, 2);
    other.make_issued(authority, 3);
  }

  Certificates own, authority, client, other;
};

/// A server that returns the fingerprint of the client's certificate.
struct World : Files {
  RunningServer server{[this](ServerOptions& options) {
                         options.tls_cert_file = own.cert();
                         options.tls_key_file = own.key();
                         options.tls_client_ca_file = authority.cert();
                       },
                       [](Request& request) {
                         Response response;
                         response.body = "client:" + request.client_certificate + ".";
                         return response;
                       }};
};

struct Visit {
  std::string client;  // the fingerprint that the server returned; "rejected" without a response
  bool resumed = false;
  Ticket ticket{nullptr, SSL_SESSION_free};
};

/// Two requests over one connection of this TLS version, with a certificate or a session to resume.
Visit visit(World& world, int version, const Certificates* certificate,
            SSL_SESSION* session = nullptr) {
  const RawClient raw(world.server.port());
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), version);
  SSL_CTX_set_max_proto_version(context.get(), version);
  if (certificate != nullptr) {
    SSL_CTX_use_certificate_file(context.get(), certificate->cert().c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context.get(), certificate->key().c_str(), SSL_FILETYPE_PEM);
  }
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), SSL_free);
  SSL_set_fd(tls.get(), raw.fd());
  if (session != nullptr) SSL_set_session(tls.get(), session);
  Visit out;
  out.client = "rejected";
  if (SSL_connect(tls.get()) == 1) {
    for (int i = 0; i < 2; ++i) {
      const std::string request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
      SSL_write(tls.get(), request.data(), static_cast<int>(request.size()));
      std::string text;
      char byte = 0;
      std::size_t at = std::string::npos;
      while ((at == std::string::npos || !text.ends_with('.')) &&
             SSL_read(tls.get(), &byte, 1) == 1) {
        text += byte;
        at = text.find("client:");
      }
      if (at == std::string::npos) break;
      out.client = text.substr(at + 7, text.size() - at - 8);
    }
    out.resumed = SSL_session_reused(tls.get()) == 1;
    out.ticket.reset(SSL_get1_session(tls.get()));
    // A client that does not close its session properly cannot resume it.
    SSL_shutdown(tls.get());
  }
  ERR_clear_error();
  return out;
}

}  // namespace

TEST_CASE("a client with and without a certificate of a known authority") {
  World world;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    INFO(version);
    CHECK(visit(world, version, nullptr).client.empty());
    CHECK(visit(world, version, &world.client).client == world.client.fingerprint());
    CHECK(visit(world, version, &world.other).client == world.other.fingerprint());
  }
}

TEST_CASE("a certificate of another authority or for another purpose ends the handshake") {
  World world;
  Certificates foreign_authority, foreign, server, alone;
  foreign_authority.make_authority("coffer authority");  // the same name, another key
  foreign.make_issued(foreign_authority, 2);
  server.make_issued(world.authority, 4, "serverAuth");
  alone.make("DNS:localhost", 5);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    INFO(version);
    for (const Certificates* each : {&foreign, &server, &alone}) {
      CHECK(visit(world, version, each).client == "rejected");
    }
    CHECK(visit(world, version, &world.client).client == world.client.fingerprint());
  }
}

TEST_CASE("a resumed session has the certificate with which it began, and no other") {
  World world;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    INFO(version);
    const std::string client = world.client.fingerprint();
    const Visit with = visit(world, version, &world.client);
    const Visit without = visit(world, version, nullptr);
    REQUIRE(with.client == client);
    REQUIRE(without.client.empty());
    for (const Certificates* offered : {static_cast<const Certificates*>(nullptr),
                                        static_cast<const Certificates*>(&world.other)}) {
      const Visit lost = visit(world, version, offered, with.ticket.get());
      CHECK(lost.resumed);
      CHECK(lost.client == client);
      const Visit borrowed = visit(world, version, offered, without.ticket.get());
      CHECK(borrowed.resumed);
      CHECK(borrowed.client.empty());
    }
    // The second resumption uses the session of the first one.
    const Visit again = visit(world, version, nullptr, with.ticket.get());
    const Visit twice = visit(world, version, nullptr, again.ticket.get());
    CHECK(twice.resumed);
    CHECK(twice.client == client);
    CHECK(visit(world, version, nullptr).client.empty());
  }
}

TEST_CASE(
    "after a change of the authorities, no resumed session has a certificate of the old ones") {
  World world;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    INFO(version);
    world.authority.make_authority("coffer authority");
    world.client.make_issued(world.authority, 2);
    REQUIRE(world.server->reload_tls());
    const Visit before = visit(world, version, &world.client);
    REQUIRE(before.client == world.client.fingerprint());
    world.authority.make_authority("coffer authority");
    REQUIRE(world.server->reload_tls());
    const Visit after = visit(world, version, nullptr, before.ticket.get());
    CHECK_FALSE(after.resumed);
    CHECK(after.client.empty());
    CHECK(visit(world, version, &world.client).client == "rejected");
  }
}

TEST_CASE("unusable authorities are reported, and the old ones stay in use") {
  World world;
  std::ofstream(world.authority.cert()) << "no certificate";
  const Result<void> failed = world.server->reload_tls();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().detail.find(world.authority.cert()) != std::string::npos);
  CHECK(visit(world, TLS1_3_VERSION, &world.client).client == world.client.fingerprint());
}
