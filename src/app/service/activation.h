// The listening socket that systemd keeps for this service while a server is replaced (its file
// descriptor store): connections wait in it instead of being refused. Stopping the service closes
// it.
#pragma once

#include "config/config.h"

namespace coffer {

/// The descriptor of the kept socket if it listens on exactly this address; otherwise -1.
int kept_socket(const HostPort& wanted);

/// If the kept sockets do not listen on this address, because the settings were changed: closes
/// them, here and in the supervisor, so that connections to it are refused. Call it
/// once, before the process opens other descriptors.
void release_other_sockets(const HostPort& wanted);

/// Gives the supervisor a copy of the listening socket for the next server.
void keep_socket(int fd);

}  // namespace coffer
