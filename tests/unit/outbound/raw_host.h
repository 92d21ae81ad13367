// A host at every loopback address that reads and counts requests and then misbehaves.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "outbound/wire/resolver.h"

namespace coffer::outbound::test {

/// Resolves every name to the same addresses.
class FixedResolver final : public Resolver {
 public:
  explicit FixedResolver(std::vector<std::string> addresses) : addresses_(std::move(addresses)) {}
  Result<std::vector<std::string>> resolve(const std::string&, int) override { return addresses_; }

 private:
  const std::vector<std::string> addresses_;
};

class RawHost {
 public:
  enum class After { close, reset, garbage, silence };

  explicit RawHost(After after)
      : after_(after), fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    socklen_t size = sizeof address;
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    ::listen(fd_, 64);
    thread_ = Thread("raw-host", [this] { serve(); });
  }
  ~RawHost() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    for (const int peer : held_) ::close(peer);
    ::close(fd_);
  }
  RawHost(const RawHost&) = delete;
  RawHost& operator=(const RawHost&) = delete;

  int port() const { return port_; }
  /// Number of complete requests.
  int requests() const { return requests_.load(); }

 private:
  void serve() {
    for (int peer; (peer = ::accept(fd_, nullptr, nullptr)) >= 0;) {
      if (read_request(peer)) ++requests_;
      if (after_ == After::silence) {
        held_.push_back(peer);
        continue;
      }
      constexpr std::string_view kGarbage = "\x16\x03\x01 not HTTP\r\n\r\n";
      if (after_ == After::garbage) ::send(peer, kGarbage.data(), kGarbage.size(), MSG_NOSIGNAL);
      const linger at_once{1, 0};
      if (after_ == After::reset) {
        ::setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
      }
      ::close(peer);
    }
  }

  static bool read_request(int peer) {
    constexpr std::string_view kLength = "Content-Length: ";
    std::string bytes;
    char chunk[4096];
    for (;;) {
      const std::size_t end = bytes.find("\r\n\r\n");
      if (end != std::string::npos) {
        const std::size_t length = std::stoul(bytes.substr(bytes.find(kLength) + kLength.size()));
        if (bytes.size() >= end + 4 + length) return true;
      }
      const ssize_t count = ::recv(peer, chunk, sizeof chunk, 0);
      if (count <= 0) return false;
      bytes.append(chunk, static_cast<std::size_t>(count));
    }
  }

  const After after_;
  int fd_;
  int port_ = 0;
  std::atomic<int> requests_{0};
  std::vector<int> held_;  // of the thread
  Thread thread_;
};

}  // namespace coffer::outbound::test
