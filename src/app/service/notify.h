// systemd's notification protocol (sd_notify): one datagram per message.
#pragma once

#include <string_view>

namespace coffer {

/// Sends `state`, such as `READY=1`, to $NOTIFY_SOCKET, if it is set. A message that cannot be sent
/// is ignored.
void notify_supervisor(std::string_view state);

}  // namespace coffer
