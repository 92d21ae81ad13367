#include "outbound/wire/resolver.h"

#include <ares.h>
#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/text/ascii.h"
#include "outbound/wire/url.h"

namespace coffer::outbound {
namespace {

using Addresses = std::vector<std::string>;

constexpr std::size_t kNameMax = 253;    // RFC 1035, without the final dot
constexpr int kServerTimeoutMs = 1'500;  // for the first attempt; c-ares doubles it
constexpr int kTries = 3;

bool is_numeric(const std::string& name) {
  in6_addr out{};
  return inet_pton(AF_INET, name.c_str(), &out) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &out) == 1;
}

/// The rule of the WHATWG URL standard: a last label of digits, or of 0x and hex digits, means a
/// number. Old parsers interpret such names as addresses.
bool ends_in_a_number(std::string_view name) {
  const std::string_view label = name.substr(name.rfind('.') + 1);
  const auto all = [](std::string_view text, std::string_view of) {
    return text.find_first_not_of(of) == std::string_view::npos;
  };
  if (label.empty()) return true;
  return all(label, "0123456789") ||
         (label.starts_with("0x") && all(label.substr(2), "0123456789abcdef"));
}

bool is_host_name(std::string_view name) {
  if (name.empty() || name.size() > kNameMax || name.front() == '.') return false;
  if (name.find("..") != std::string_view::npos || ends_in_a_number(name)) return false;
  return std::ranges::all_of(name, [](char c) {
    return ascii::is_lower(c) || ascii::is_digit(c) || c == '-' || c == '_' || c == '.';
  });
}

struct Answer {
  bool is_there = false;
  int status = ARES_SUCCESS;
  Addresses addresses;
};

void on_answer(void* out, int status, int /*timeouts*/, ares_addrinfo* found) {
  auto& answer = *static_cast<Answer*>(out);
  answer.is_there = true;
  answer.status = status;
  const std::unique_ptr<ares_addrinfo, decltype(&ares_freeaddrinfo)> owned(found,
                                                                           ares_freeaddrinfo);
  for (const auto* node = found != nullptr ? found->nodes : nullptr; node != nullptr;
       node = node->ai_next) {
    char text[INET6_ADDRSTRLEN] = "";
    const void* address = node->ai_family == AF_INET
                              ? static_cast<const void*>(
                                    &reinterpret_cast<const sockaddr_in*>(node->ai_addr)->sin_addr)
                              : &reinterpret_cast<const sockaddr_in6*>(node->ai_addr)->sin6_addr;
    if (inet_ntop(node->ai_family, address, text, sizeof text) == nullptr) continue;
    auto& list = answer.addresses;
    if (std::ranges::find(list, text) == list.end()) list.emplace_back(text);
  }
}

/// The open sockets of a query with the events that c-ares waits for.
using Sockets = std::vector<pollfd>;

void on_socket(void* out, ares_socket_t socket, int reads, int writes) {
  auto& sockets = *static_cast<Sockets*>(out);
  std::erase_if(sockets, [&](const pollfd& one) { return one.fd == socket; });
  const int events = (reads != 0 ? POLLIN : 0) | (writes != 0 ? POLLOUT : 0);
  if (events != 0) sockets.push_back({socket, static_cast<short>(events), 0});
}

struct ChannelCloser {
  void operator()(ares_channeldata* channel) const { ares_destroy(channel); }
};
using Channel = std::unique_ptr<ares_channeldata, ChannelCloser>;

/// `sockets` must outlive the channel, whose destructor closes them.
Channel open_channel(Sockets& sockets) {
  ares_options options{};
  char lookups[] = "fb";  // files before DNS, regardless of nsswitch.conf
  // Every name is complete: it gets no suffix of resolv.conf's `search` and no alias of
  // HOSTALIASES. c-ares 1.18 searches in spite of the flag, so it gets no domains.
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES;
  options.ndomains = 0;
  options.timeout = kServerTimeoutMs;
  options.tries = kTries;
  options.lookups = lookups;
  // Not ares_getsock, which newer versions deprecate.
  options.sock_state_cb = on_socket;
  options.sock_state_cb_data = &sockets;
  ares_channel channel = nullptr;
  const int mask = ARES_OPT_FLAGS | ARES_OPT_DOMAINS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
                   ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
  COFFER_CHECK(ares_init_options(&channel, &options, mask) == ARES_SUCCESS);
  return Channel(channel);
}

/// Runs c-ares until it has responded or until `deadline_ms`.
void run_query(ares_channel channel, const Sockets& sockets, const Answer& answer,
               const Clock& clock, std::int64_t deadline_ms,
               const std::atomic<std::int64_t>& cut_at_ms) {
  while (!answer.is_there) {
    const std::int64_t left = std::min(deadline_ms, cut_at_ms.load()) - clock.monotonic_ms();
    if (left <= 0) return;
    Sockets polled = sockets;  // processing changes them
    // Short, so that c-ares can process its retries.
    ::poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(left, 50)));
    for (const pollfd& one : polled) {
      const bool readable = (one.revents & ~POLLOUT) != 0;
      const bool writable = (one.revents & POLLOUT) != 0;
      ares_process_fd(channel, readable ? one.fd : ARES_SOCKET_BAD,
                      writable ? one.fd : ARES_SOCKET_BAD);
    }
    ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  }
}

}  // namespace

std::string cares_version() { return ares_version(nullptr); }

CaresResolver::CaresResolver() {
  // Reference-counted, but never released, because other resolvers may still be in use.
  COFFER_CHECK(ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS);
}

Result<Addresses> CaresResolver::resolve(const std::string& name, int timeout_ms) {
  if (is_numeric(name)) return Addresses{name};
  const std::string wanted = normal_host(name);
  if (!is_host_name(wanted)) {
    return unexpected(Slug::malformed_request, "`" + name + "` is not a host name.");
  }
  if (is_local_name(wanted)) return Addresses{"127.0.0.1", "::1"};

  const SystemClock clock;
  const std::int64_t deadline_ms = clock.monotonic_ms() + timeout_ms;
  // Declared before the channel, whose destructor calls back.
  Answer answer;
  Sockets sockets;
  const Channel channel = open_channel(sockets);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  // Without a service name, because looking one up would use NSS.
  ares_getaddrinfo(channel.get(), wanted.c_str(), nullptr, &hints, on_answer, &answer);
  run_query(channel.get(), sockets, answer, clock, deadline_ms, cut_at_ms_);
  if (!answer.is_there || answer.status == ARES_ETIMEOUT) {
    return unexpected(Slug::provider_timeout, "The name " + wanted + " was not resolved in time.");
  }
  if (answer.addresses.empty()) {
    const std::string reason =
        answer.status == ARES_SUCCESS ? "no address" : ares_strerror(answer.status);
    return unexpected(Slug::provider_unavailable,
                      "The name " + wanted + " cannot be resolved: " + reason + ".");
  }
  return std::move(answer.addresses);
}

void CaresResolver::cut_after(int ms) { cut_at_ms_ = SystemClock().monotonic_ms() + ms; }

}  // namespace coffer::outbound
