#include "http/wire/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/platform/descriptors.h"
#include "http/wire/connection.h"

namespace coffer::http {
namespace {

constexpr int kBacklog = 4'096;  // the kernel reduces it to its own limit
// The kernel doubles this size for its own bookkeeping. Without a limit, it would keep up to 4 MiB
// for each client that reads slowly.
constexpr int kSendBufferBytes = 128 * 1024;
// The socket becomes writable only after the earlier data has left, so it keeps little data for a
// client whose own buffers are full.
constexpr int kUnsentBytes = 1;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

// inet_pton instead of getaddrinfo: a listen address needs no name service, and a static binary has
// none.
std::optional<Address> parse_address(std::string host, int port) {
  if (host == "localhost") host = "127.0.0.1";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  Address address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(port));
    address.size = sizeof *v4;
    return address;
  }
  if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(port));
    address.size = sizeof *v6;
    return address;
  }
  return std::nullopt;
}

int port_of(const Address& address) {
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  return ntohs(address.storage.ss_family == AF_INET6 ? v6->sin6_port : v4->sin_port);
}

std::string text_of(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address.storage);
  if (address.storage.ss_family == AF_INET) {
    inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
  } else if (address.storage.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
    // A dual-stack socket shows IPv4 peers in this form; limits and logs should use one spelling.
    inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, text, sizeof text);
  } else if (address.storage.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
  } else {
    return "local";  // a Unix socket passed by systemd
  }
  return text;
}

void set_option(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof value);
}

Unexpected cannot_listen(const std::string& name, int error) {
  // An address in use may be free later.
  return unexpected(error == EADDRINUSE ? Slug::conflict : Slug::unexpected_error,
                    "cannot listen on " + name + ": " + std::strerror(error));
}

}  // namespace

Listener::~Listener() { close(); }

void Listener::close() {
  if (fd_ >= 0) ::close(fd_);
  if (spare_fd_ >= 0) ::close(spare_fd_);
  fd_ = spare_fd_ = -1;
}

Result<void> Listener::bind(const std::string& host, int port) {
  const std::string name = host + " port " + std::to_string(port);
  auto address = parse_address(host, port);
  if (!address) {
    return unexpected(Slug::unexpected_error,
                      "cannot listen on " + name + ": not a numeric address (or localhost)");
  }
  const int family = address->storage.ss_family;
  fd_ = open_socket(family, SOCK_STREAM);
  if (fd_ < 0) return cannot_listen(name, errno);
  set_option(fd_, SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == AF_INET6) set_option(fd_, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  if (::bind(fd_, address->get(), address->size) != 0 || ::listen(fd_, kBacklog) != 0) {
    const int error = errno;
    close();
    return cannot_listen(name, error);
  }
  return ready(name);
}

Result<void> Listener::adopt(int fd) {
  const std::string name = "descriptor " + std::to_string(fd);
  int listening = 0;
  socklen_t size = sizeof listening;
  if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) != 0) {
    return cannot_listen(name, errno);
  }
  if (listening == 0) return cannot_listen(name, EINVAL);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  fd_ = fd;
  return ready(name);
}

Result<void> Listener::ready(const std::string& name) {
  Address bound;
  bound.size = sizeof bound.storage;
  if (::getsockname(fd_, bound.get(), &bound.size) != 0) return cannot_listen(name, errno);
  port_ = port_of(bound);
  // Accepted connections inherit these options.
  set_option(fd_, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd_, SOL_SOCKET, SO_SNDBUF, kSendBufferBytes);
  set_option(fd_, SOL_SOCKET, SO_RCVBUF, kReceiveBufferBytes);
  set_option(fd_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kUnsentBytes);
  spare_fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  return {};
}

Listener::Accepted Listener::accept() {
  for (;;) {
    Address peer;
    peer.size = sizeof peer.storage;
    const int fd = accept_socket(fd_, peer.get(), &peer.size);
    if (fd >= 0) return {Accepted::Kind::connection, fd, text_of(peer)};
    if (errno == EAGAIN) return {};
    if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;  // already closed
    // Out of descriptors: an unaccepted connection would keep the socket readable and this thread
    // spinning. It is accepted with the spare descriptor and closed.
    if (spare_fd_ >= 0) {
      ::close(spare_fd_);
      const int rejected = accept_socket(fd_, nullptr, nullptr);
      if (rejected >= 0) ::close(rejected);
    }
    spare_fd_ = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    return {Accepted::Kind::exhausted, -1, {}};
  }
}

}  // namespace coffer::http
