// When a key set is read again: files on change, addresses by age, by need, and not too often.
#include "outbound/key_set.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "base/thread.h"
#include "support/listener.h"

using namespace coffer;
using namespace coffer::outbound;
using Need = KeySet::Need;

namespace {

/// Answers every request with `status` and the text `keys-<number of the request>`.
class Issuer {
 public:
  Issuer() : thread_("issuer", [this] { serve(); }) {}
  ~Issuer() {
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;

  std::string url() const { return listener_.url() + "keys"; }

  std::atomic<int> asked{0};
  std::atomic<int> status{200};

 private:
  void serve() {
    for (int peer; (peer = ::accept(listener_.fd(), nullptr, nullptr)) >= 0; ::close(peer)) {
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

  coffer::test::Listener listener_;
  Thread thread_;  // last: starts when everything above is there
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
  const coffer::test::Listener silence;
  KeySet keys = world.keys(silence.url(), 50);
  const SystemClock clock;
  const std::int64_t begin = clock.monotonic_ms();
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  CHECK(clock.monotonic_ms() - begin < 5'000);
}

TEST_CASE("what may be named as the source", "[key_set]") {
  CHECK(check_key_source("https://issuer.example/keys").empty());
  CHECK(check_key_source("http://127.0.0.1:8000/keys").empty());
  CHECK_FALSE(check_key_source("http://issuer.example/keys").empty());
  CHECK_FALSE(check_key_source("https://").empty());
  CHECK_FALSE(check_key_source("/there/is/no/such/file").empty());
  CHECK_FALSE(check_key_source("/").empty());
}
