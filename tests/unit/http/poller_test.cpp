// The behaviour that the server needs, with epoll and with kqueue.
#include "http/wire/poller.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/platform/wake_up.h"
#include "base/thread.h"

using namespace coffer;
using namespace coffer::http;

namespace {

constexpr std::uint64_t kToken = 0xFFFFFFFF00000007;  // all 64 bits are the caller's
constexpr int kLongMs = 10'000;

/// Two connected non-blocking sockets.
struct Pair {
  Pair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0); }
  ~Pair() {
    close_ours();
    ::close(ends[1]);
  }
  int ours() const { return ends[0]; }
  void close_ours() {
    if (ends[0] >= 0) ::close(ends[0]);
    ends[0] = -1;
  }
  void arrives(const std::string& text) const {
    REQUIRE(::send(ends[1], text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  }
  void ends_there() const { ::shutdown(ends[1], SHUT_WR); }
  std::string read() const {
    std::array<char, 65'536> out;
    const auto size = ::recv(ends[0], out.data(), out.size(), MSG_DONTWAIT);
    return {out.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  int ends[2] = {-1, -1};
};

std::vector<Poller::Event> look(Poller& poller, int timeout_ms = 0) {
  std::array<Poller::Event, 8> events;
  const std::size_t count = poller.wait(events, timeout_ms);
  return {events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count)};
}

bool is_silent(Poller& poller) { return look(poller).empty(); }

/// The only event.
std::optional<Poller::Event> only(Poller& poller, int timeout_ms = kLongMs) {
  const auto events = look(poller, timeout_ms);
  if (events.size() != 1) return std::nullopt;
  return events.front();
}

}  // namespace

TEST_CASE("poller: an edge is reported once per arrival", "[http]") {
  Poller poller;
  const Pair pair;
  pair.arrives("before");
  REQUIRE(poller.add_edge(pair.ours(), kToken));
  const auto first = only(poller);
  REQUIRE(first);
  CHECK(first->token == kToken);
  CHECK_FALSE(first->hang_up);
  CHECK(is_silent(poller));  // though nothing was read
  pair.arrives(" and after");
  CHECK(only(poller));
  CHECK(is_silent(poller));
  CHECK(pair.read() == "before and after");
  CHECK(is_silent(poller));
  pair.arrives("again");
  CHECK(only(poller));
}

TEST_CASE("poller: the end of a peer's data is reported", "[http]") {
  Poller poller;
  const Pair pair;
  REQUIRE(poller.add_edge(pair.ours(), kToken));
  CHECK(is_silent(poller));
  pair.arrives("last words");
  pair.ends_there();
  const auto event = only(poller);
  REQUIRE(event);
  CHECK(event->hang_up);
  CHECK(pair.read() == "last words");
}

TEST_CASE("poller: a reset is distinguished from an end", "[http]") {
  // A reset needs TCP.
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(listening, at, size) == 0);
  REQUIRE(::listen(listening, 1) == 0);
  REQUIRE(::getsockname(listening, at, &size) == 0);
  for (const bool resets : {false, true}) {
    Poller poller;
    const int theirs = ::socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(::connect(theirs, at, size) == 0);
    const int ours = ::accept(listening, nullptr, nullptr);
    REQUIRE(poller.add_edge(ours, kToken));
    const linger at_once{resets ? 1 : 0, 0};
    ::setsockopt(theirs, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    ::close(theirs);
    const auto event = only(poller);
    REQUIRE(event);
    CHECK(event->hang_up);
    CHECK(event->is_dead == resets);
    ::close(ours);
  }
  ::close(listening);
}

TEST_CASE("poller: writability is reported immediately, and again when it returns", "[http]") {
  Poller poller;
  const Pair pair;
  REQUIRE(poller.add_edge(pair.ours(), kToken));
  REQUIRE(poller.watch_writing(pair.ours(), kToken));
  const auto room = only(poller);
  REQUIRE(room);
  CHECK(room->token == kToken);
  CHECK_FALSE(room->hang_up);
  const std::string block(65'536, 'x');
  while (::send(pair.ours(), block.data(), block.size(), MSG_DONTWAIT) > 0) {
  }
  look(poller);
  CHECK(is_silent(poller));
  std::array<char, 65'536> sink;
  while (::recv(pair.ends[1], sink.data(), sink.size(), MSG_DONTWAIT) > 0) {
  }
  REQUIRE(only(poller));
  // Both directions with space for one event: no event is lost.
  while (::send(pair.ours(), block.data(), block.size(), MSG_DONTWAIT) > 0) {
  }
  look(poller);
  pair.arrives("x");
  while (::recv(pair.ends[1], sink.data(), sink.size(), MSG_DONTWAIT) > 0) {
  }
  std::array<Poller::Event, 1> one;
  REQUIRE(poller.wait(one, kLongMs) == 1);
  CHECK(pair.read() == "x");
}

TEST_CASE("poller: a level is reported while it lasts", "[http]") {
  Poller poller;
  const Pair pair;
  REQUIRE(poller.add_level(pair.ours(), kToken));
  CHECK(is_silent(poller));
  pair.arrives("x");
  CHECK(only(poller));
  CHECK(only(poller));
  pair.read();
  CHECK(is_silent(poller));
  pair.arrives("x");
  poller.remove(pair.ours());
  CHECK(is_silent(poller));
  REQUIRE(poller.add_level(pair.ours(), kToken));
  CHECK(only(poller));
}

TEST_CASE("poller: a closed descriptor is removed, and its number may be reused", "[http]") {
  Poller poller;
  {
    Pair pair;
    REQUIRE(poller.add_edge(pair.ours(), 1));
    REQUIRE(poller.watch_writing(pair.ours(), 1));
    look(poller);
    pair.close_ours();
    CHECK(is_silent(poller));
  }
  const Pair pair;
  REQUIRE(poller.add_edge(pair.ours(), 2));
  CHECK(is_silent(poller));  // writing is not watched
  pair.arrives("x");
  const auto event = only(poller);
  REQUIRE(event);
  CHECK(event->token == 2);
}
