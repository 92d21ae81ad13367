// systemd's notification protocol (sd_notify): one datagram per message.
#pragma once

#include <string_view>

namespace coffer::cli {

/// Sends `state`, such as `READY=1`, to $NOTIFY_SOCKET. Does nothing without one, and a message
/// that cannot be sent is nobody's fault.
void notify_supervisor(std::string_view state);

}  // namespace coffer::cli
