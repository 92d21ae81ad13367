#include "app/service/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "base/environment.h"
#include "base/platform/descriptors.h"

namespace coffer {

void notify_supervisor(std::string_view state) {
  const auto path = environment_variable("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (!path || path->size() < 2 || path->size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path->data(), path->size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const int fd = open_socket(AF_UNIX, SOCK_DGRAM, Waiting::allowed);
  if (fd < 0) return;
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path->size());
  ::sendto(fd, state.data(), state.size(), kNoSignal, reinterpret_cast<const sockaddr*>(&address),
           size);
  ::close(fd);
}

}  // namespace coffer
