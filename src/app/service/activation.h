// A listening socket that the supervisor creates and holds (systemd socket activation). While the
// server is replaced, connections wait in it instead of being refused.
#pragma once

#include <optional>

#include "base/result.h"
#include "config/config.h"

namespace coffer {

struct PassedSocket {
  int fd = -1;
  HostPort address;  // the address on which it listens
};

/// The socket in $LISTEN_FDS, if it is for this process; otherwise nullopt. A Problem (one
/// sentence) if it is not exactly one listening TCP socket.
Result<std::optional<PassedSocket>> passed_socket();

/// Whether `wanted` corresponds to the socket's address. Port 0 and a host name match any.
bool same_address(const HostPort& wanted, const HostPort& listening);

}  // namespace coffer
