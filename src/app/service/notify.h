// systemd's notification protocol (sd_notify): one datagram per message.
#pragma once

#include <string_view>

namespace coffer {

/// Sends `state`, such as `READY=1`, to $NOTIFY_SOCKET, if it is set, with a copy of the descriptor
/// `fd`, if it is not -1. Send errors are ignored.
void notify_supervisor(std::string_view state, int fd = -1);

/// Returns when the supervisor has processed all earlier messages, or after 5 s.
void wait_for_supervisor();

}  // namespace coffer
