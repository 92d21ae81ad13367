// The times at which a key set is read again: files on change, URLs by age and on demand, but not
// too often.
#include "outbound/key_set.h"

#include <poll.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/thread.h"
#include "support/listener.h"

using namespace coffer;
using namespace coffer::outbound;
using Need = KeySet::Need;

namespace key_set_test {
namespace {

/// Responds to every request with `status` and the text `keys-<number of the request>`.
class Issuer {
 public:
  Issuer() : thread_("issuer", [this] { serve(); }) {}
  ~Issuer() {
    hangs = false;
    ::shutdown(listener_.fd(), SHUT_RDWR);
    thread_.join();
  }
  Issuer(const Issuer&) = delete;
  Issuer& operator=(const Issuer&) = delete;

  std::string url() const { return listener_.url() + "keys"; }
  /// Waits for this number of requests; false after 5 s.
  bool wait_until_asked(int times) const {
    const SystemClock clock;
    const std::int64_t deadline_ms = clock.monotonic_ms() + 5'000;
    while (asked < times && clock.monotonic_ms() < deadline_ms) ::poll(nullptr, 0, 1);
    return asked == times;
  }

  std::atomic<int> asked{0};
  std::atomic<int> status{200};
  std::atomic<bool> hangs{false};  // until the end of this

 private:
  void serve() {
    for (int peer; (peer = ::accept(listener_.fd(), nullptr, nullptr)) >= 0; ::close(peer)) {
      char chunk[4096];
      if (::recv(peer, chunk, sizeof chunk, 0) <= 0) continue;
      while (hangs) ::poll(nullptr, 0, 1);
      const std::string body = "keys-" + std::to_string(++asked);
      const std::string reply =
          "HTTP/1.1 " + std::to_string(status) +
          " Some\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
          "\r\n\r\n" + body;
      ::send(peer, reply.data(), reply.size(), MSG_NOSIGNAL);
    }
  }

  coffer::test::Listener listener_;
  Thread thread_;  // last: starts after all members above are initialised
};

struct World {
  ManualClock clock;
  http::Client client{""};
  CaresResolver resolver;

  KeySet keys(const std::string& source, int timeout_ms = 2'000) {
    return KeySet(source, timeout_ms, clock, client, resolver);
  }
};

/// The result of a read after the fetch that it may have begun; false after 5 s.
bool becomes(KeySet& keys, const std::string& text) {
  const SystemClock clock;
  const std::int64_t deadline_ms = clock.monotonic_ms() + 5'000;
  while (clock.monotonic_ms() < deadline_ms) {
    const auto document = keys.read(Need::usual);
    if (document && document->text == text) return true;
    ::poll(nullptr, 0, 1);
  }
  return false;
}

std::string text_of(const Result<KeyDocument>& document) {
  return document ? document->text : std::string(info(document.error().slug).name);
}

}  // namespace

TEST_CASE("keys at a URL are fetched again after ten minutes", "[key_set]") {
  World world;
  Issuer issuer;
  KeySet keys = world.keys(issuer.url());
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  world.clock.advance_ms(599'999);
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  world.clock.advance_ms(1);
  // The copy is still valid, so a read does not wait for the next fetch.
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  CHECK(becomes(keys, "keys-2"));
  CHECK(keys.read(Need::usual)->version == 2);
  CHECK(issuer.asked == 2);
}

TEST_CASE("a hanging fetch does not delay callers that have a copy", "[key_set]") {
  World world;
  Issuer issuer;
  KeySet keys = world.keys(issuer.url(), 60'000);
  keys.read(Need::usual).value();
  issuer.hangs = true;
  world.clock.advance_ms(600'000);
  const SystemClock clock;
  const std::int64_t begin = clock.monotonic_ms();
  for (int i = 0; i < 100; ++i) CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  CHECK(clock.monotonic_ms() - begin < 10'000);
  issuer.hangs = false;  // the key set waits at its end for the fetch
}

TEST_CASE("an unknown key causes a new fetch, at most every 30 seconds", "[key_set]") {
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

TEST_CASE("the keys of a failing issuer stay valid for a day", "[key_set]") {
  World world;
  Issuer issuer;
  KeySet keys = world.keys(issuer.url());
  keys.read(Need::usual).value();
  issuer.status = 500;
  world.clock.advance_ms(600'000);
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  CHECK(text_of(keys.read(Need::usual)) == "keys-1");
  CHECK(issuer.wait_until_asked(2));
  world.clock.advance_ms(86'400'000 - 600'000);
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  // The number of requests depends on whether the second fetch ended in time.
  const std::string next = "keys-" + std::to_string(issuer.asked + 1);
  issuer.status = 200;
  world.clock.advance_ms(30'000);
  CHECK(text_of(keys.read(Need::usual)) == next);
}

TEST_CASE("without a copy, a failed fetch is not repeated for ten seconds", "[key_set]") {
  World world;
  Issuer issuer;
  issuer.status = 404;
  KeySet keys = world.keys(issuer.url());
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  issuer.status = 200;
  world.clock.advance_ms(9'999);
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  CHECK(text_of(keys.read(Need::other_key)) == "token-verification-timeout");
  CHECK(issuer.asked == 1);
  world.clock.advance_ms(1);
  CHECK(text_of(keys.read(Need::usual)) == "keys-2");
}

TEST_CASE("without a copy, few callers wait for the only fetch", "[key_set]") {
  constexpr int kReaders = 40;
  World world;
  Issuer issuer;
  issuer.hangs = true;
  KeySet keys = world.keys(issuer.url(), 60'000);
  std::atomic<int> rejected{0};
  std::atomic<int> served{0};
  std::vector<Thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back("reader", [&, i] {
      // Invalid tokens contain unknown keys.
      ++(keys.read(i % 2 == 0 ? Need::usual : Need::other_key) ? served : rejected);
    });
  }
  const SystemClock clock;
  const std::int64_t deadline_ms = clock.monotonic_ms() + 5'000;
  while (rejected < kReaders - KeySet::kWaitingMax && clock.monotonic_ms() < deadline_ms) {
    ::poll(nullptr, 0, 1);
  }
  CHECK(rejected == kReaders - KeySet::kWaitingMax);
  issuer.hangs = false;
  for (Thread& reader : readers) reader.join();
  CHECK(served == KeySet::kWaitingMax);
  CHECK(issuer.asked == 1);
}

TEST_CASE("no caller waits longer than the limit", "[key_set]") {
  World world;
  const coffer::test::Listener silence;
  KeySet keys = world.keys(silence.url(), 50);
  const SystemClock clock;
  const std::int64_t begin = clock.monotonic_ms();
  CHECK(text_of(keys.read(Need::usual)) == "token-verification-timeout");
  CHECK(clock.monotonic_ms() - begin < 5'000);
}

TEST_CASE("permitted sources of keys", "[key_set]") {
  CHECK(check_key_source("https://issuer.example/keys").empty());
  CHECK(check_key_source("http://127.0.0.1:8000/keys").empty());
  CHECK_FALSE(check_key_source("http://issuer.example/keys").empty());
  CHECK_FALSE(check_key_source("https://").empty());
  CHECK_FALSE(check_key_source("/no/file/here").empty());
  CHECK_FALSE(check_key_source("/").empty());
}

}  // namespace key_set_test
