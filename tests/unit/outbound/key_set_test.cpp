// When a key set is read again: files on change, addresses by age, by need, and not too often.
#include "outbound/key_set.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/thread.h"
#include "support/silent_listener.h"

using namespace coffer;
using namespace coffer::outbound;
using Need = KeySet::Need;

namespace {

/// Answers every request with `status` and the text `keys-<number of the request>`.
class Issuer {
 public:
  Issuer() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ::listen(fd_, 8);
    thread_ = Thread("issuer", [this] { serve(); });
  }
  ~Issuer() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/keys"; }

  std::atomic<int> asked{0};
  std::atomic<int> status{200};

 private:
  void serve() {
    for (int peer; (peer = ::accept(fd_, nullptr, nullptr)) >= 0; ::close(peer)) {
      char chunk[4096];
      if (::recv(peer, chunk, sizeof chunk, 0) <= 0) continue;
      const std::string body = "keys-" + std::to_string(++asked);
      const std::string reply =
          "HTTP/1.1 " + std::to_string(status) +
          " Some\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
          "\r\n\r\n" + body;
      ::send(peer, reply.data(), reply.size(), MSG_NOSIGNAL);
    }
  }

  int fd_;
  int port_ = 0;
  Thread thread_;
};

struct World {
  ManualClock clock;
  http::Client client{""};
  CaresResolver resolver;

  KeySet keys(const std::string& source, int timeout_ms = 2'000) {
    return KeySet(source, timeout_ms, clock, client, resolver);
  }
};

std::string text_of(const Result<KeyDocument>& document) {
  return document ? document->text : std::string(info(document.error().slug).name);
}

}  // namespace

TEST_CASE("keys at an address are asked for again after ten minutes", "[key_set]") {
  World world;
  Issuer issuer;
  KeySet keys = world.keys(issuer.url());
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  world.clock.advance_ms(599'999);
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  world.clock.advance_ms(1);
  const auto second = keys.read(Need::usual);
  CHECK(text_of(second) == "keys-2");
  CHECK(second->version == 2);
}

TEST_CASE("an unknown key asks anew, every 30 seconds at most", "[key_set]") {
  World world;
  Issuer issuer;
  KeySet keys = world.keys(issuer.url());
  keys.read(Need::usual).value();
  CHECK(text_of(keys.read(Need::other_key)) == "keys-1");
  world.clock.advance_ms(29'999);
  CHECK(text_of(keys.read(Need::other_key)) == "keys-1");
  world.clock.advance_ms(1);
  CHECK(text_of(keys.read(Need::other_key)) == "keys-2");
  CHECK(text_of(keys.read(Need::other_key)) == "keys-2");
  CHECK(issuer.asked == 2);
}

TEST_CASE("an issuer that fails for a while is forgiven for a day", "[key_set]") {
  World world;
  Issuer issuer;
  KeySet keys = world.keys(issuer.url());
  keys.read(Need::usual).value();
  issuer.status = 500;
  world.clock.advance_ms(600'000);
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  CHECK(issuer.asked == 2);
  world.clock.advance_ms(86'400'000 - 600'000);
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  issuer.status = 200;
  world.clock.advance_ms(30'000);
  CHECK(text_of(keys.read(Need::usual)) == "keys-4");
}

TEST_CASE("without a copy a failure is an answer for a second", "[key_set]") {
  World world;
  Issuer issuer;
  issuer.status = 404;
  KeySet keys = world.keys(issuer.url());
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  CHECK(issuer.asked == 1);
  issuer.status = 200;
  world.clock.advance_ms(1'000);
  CHECK(text_of(keys.read(Need::usual)) == "keys-2");
}

TEST_CASE("nobody waits longer than the time that was set", "[key_set]") {
  World world;
  const coffer::test::SilentListener silence;
  KeySet keys = world.keys(silence.url(), 50);
  const SystemClock clock;
  const std::int64_t begin = clock.monotonic_ms();
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  CHECK(clock.monotonic_ms() - begin < 1'000);
}

TEST_CASE("what may be named as the source", "[key_set]") {
  CHECK(check_key_source("https://issuer.example/keys").empty());
  CHECK(check_key_source("http://127.0.0.1:8000/keys").empty());
  CHECK_FALSE(check_key_source("http://issuer.example/keys").empty());
  CHECK_FALSE(check_key_source("https://").empty());
  CHECK_FALSE(check_key_source("/there/is/no/such/file").empty());
  CHECK_FALSE(check_key_source("/").empty());
}
