// The listening socket.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace coffer::http {

class Listener {
 public:
  struct Accepted {
    enum class Kind { connection, none, exhausted } kind = Kind::none;
    int fd = -1;  // non-blocking; the caller closes it
    std::string peer;
  };

  Listener() = default;
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// `host` is a numeric address or "localhost". A Problem contains the address and the reason.
  Result<void> bind(const std::string& host, int port);
  /// Takes over a socket that already listens.
  Result<void> adopt(int fd);
  /// Accepts the next waiting connection, if any. `exhausted`: the process or the machine is out of
  /// descriptors or memory; waiting connections were closed, so try again later.
  Accepted accept();
  void close();

  int fd() const { return fd_; }
  int port() const { return port_; }

 private:
  Result<void> ready(const std::string& name);

  int fd_ = -1;
  // Closed temporarily to accept and close a connection when no descriptor is free.
  int spare_fd_ = -1;
  int port_ = 0;
};

}  // namespace coffer::http
