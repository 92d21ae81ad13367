// systemd's notification protocol (sd_notify): one datagram per message.
#pragma once

#include <string_view>

namespace coffer {

/// Sends `state`, such as `READY=1`, to $NOTIFY_SOCKET, if it is set. Send errors are ignored.
void notify_supervisor(std::string_view state);

}  // namespace coffer
