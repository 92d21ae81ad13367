#include "app/service/activation.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "app/service/notify.h"
#include "base/environment.h"

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

}  // namespace coffer
