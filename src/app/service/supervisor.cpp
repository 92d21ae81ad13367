#include "app/service/supervisor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/environment.h"
#include "base/platform/descriptors.h"
#include "base/telemetry/log.h"
#include "base/text/whole_number.h"

namespace coffer {
namespace {

constexpr int kFirst = 3;  // the protocol's first descriptor, after the standard streams
constexpr int kPassedMax = 64;
constexpr const char* kName = "api";  // of the socket, in the supervisor

/// The address in network byte order, to compare different spellings; nullopt for a name.
std::optional<std::string> binary(const std::string& host) {
  std::array<char, sizeof(in6_addr)> bytes{};
  const std::string text = host == "localhost" ? "127.0.0.1" : host;
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
    return std::string(bytes.data(), sizeof(in_addr));
  }
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) {
    return std::string(bytes.data(), sizeof(in6_addr));
  }
  return std::nullopt;
}

std::optional<HostPort> address_of(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  const bool six = storage.ss_family == AF_INET6;
  if (!six && storage.ss_family != AF_INET) return std::nullopt;
  const void* bytes = six ? static_cast<const void*>(&v6->sin6_addr) : &v4->sin_addr;
  if (::inet_ntop(storage.ss_family, bytes, text.data(), text.size()) == nullptr)
    return std::nullopt;
  return HostPort{text.data(), ntohs(six ? v6->sin6_port : v4->sin_port)};
}

bool listens(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM) return false;
  int listening = 0;
  size = sizeof listening;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening != 0;
}

bool is_same(const HostPort& wanted, const HostPort& listening) {
  const auto host = binary(wanted.host);
  return host && host == binary(listening.host) && wanted.port == listening.port;
}

/// The number of descriptors that are passed to this process, from kFirst.
int passed_count() {
  const auto process = environment_variable("LISTEN_PID");
  const auto count = environment_variable("LISTEN_FDS");
  if (!process || !count || *process != std::to_string(::getpid())) return 0;
  return std::clamp(std::atoi(count->c_str()), 0, kPassedMax);
}

}  // namespace

void notify_supervisor(std::string_view state, int passed) {
  const auto path = environment_variable("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (!path || path->size() < 2 || path->size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path->data(), path->size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const int fd = open_socket(AF_UNIX, SOCK_DGRAM, Waiting::allowed);
  if (fd < 0) return;
  iovec text{const_cast<char*>(state.data()), state.size()};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path->size());
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof passed)> control{};
  if (passed >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  }
  ::sendmsg(fd, &message, kNoSignal);
  ::close(fd);
}

// The supervisor closes the pipe's other end when it reaches this message.
void wait_for_supervisor() {
  constexpr int kWaitMs = 5'000;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return;
  notify_supervisor("BARRIER=1", ends[1]);
  ::close(ends[1]);
  pollfd end{ends[0], POLLIN, 0};
  ::poll(&end, 1, kWaitMs);
  ::close(ends[0]);
}

int kept_socket(const HostPort& wanted) {
  for (int fd = kFirst; fd < kFirst + passed_count(); ++fd) {
    const auto address = address_of(fd);
    if (address && listens(fd) && is_same(wanted, *address)) return fd;
  }
  return -1;
}

void release_other_sockets(const HostPort& wanted) {
  const int count = passed_count();
  if (count == 0 || kept_socket(wanted) >= 0) return;
  for (int fd = kFirst; fd < kFirst + count; ++fd) ::close(fd);
  notify_supervisor(std::string("FDSTOREREMOVE=1\nFDNAME=") + kName);
  wait_for_supervisor();
}

void keep_socket(int fd) {
  // The supervisor need not watch it: a listening socket never hangs up.
  notify_supervisor(std::string("FDSTORE=1\nFDPOLL=0\nFDNAME=") + kName, fd);
}

std::optional<std::int64_t> watchdog_ms() {
  const auto process = environment_variable("WATCHDOG_PID");
  if (process && *process != std::to_string(::getpid())) return std::nullopt;
  const auto text = environment_variable("WATCHDOG_USEC");
  if (!text) return std::nullopt;
  const auto us = whole_number<std::int64_t>(*text, 1);
  if (!us) return std::nullopt;
  constexpr std::int64_t kUsPerMs = 1'000;
  return std::max<std::int64_t>(*us / kUsPerMs, 1);
}

Watchdog::Watchdog(std::function<bool()> alive)
    : within_ms_(watchdog_ms()),
      alive_(std::move(alive)),
      thread_("watchdog", [this] { return step(); }) {}

std::int64_t Watchdog::step() {
  if (!within_ms_) return WorkerThread::kWhenWoken;
  if (alive_()) {
    notify_supervisor("WATCHDOG=1");
  } else {
    log_error("serve", "the writer makes no progress; the watchdog is not notified");
  }
  // At half the interval, as systemd recommends, so that one delayed message is harmless.
  return std::max<std::int64_t>(*within_ms_ / 2, 1);
}

}  // namespace coffer
