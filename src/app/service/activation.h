// A listening socket that the supervisor made and keeps (systemd's socket activation): while the
// server is replaced, connections wait in it instead of being refused.
#pragma once

#include <optional>

#include "base/result.h"
#include "config/config.h"

namespace coffer {

struct PassedSocket {
  int fd = -1;
  HostPort address;  // where it listens
};

/// The socket in $LISTEN_FDS, where it is meant for this process; nullopt without one. A Problem,
/// one sentence, when it is not one TCP socket that listens.
Result<std::optional<PassedSocket>> passed_socket();

/// Whether `wanted` is where the socket listens; a port of 0 is any, and so is a name as its host.
bool same_address(const HostPort& wanted, const HostPort& listening);

}  // namespace coffer
