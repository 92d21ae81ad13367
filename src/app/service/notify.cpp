#include "app/service/notify.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "base/environment.h"
#include "base/platform/descriptors.h"

namespace coffer {

void notify_supervisor(std::string_view state, int passed) {
  const auto path = environment_variable("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (!path || path->size() < 2 || path->size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path->data(), path->size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // the abstract namespace
  const int fd = open_socket(AF_UNIX, SOCK_DGRAM, Waiting::allowed);
  if (fd < 0) return;
  iovec text{const_cast<char*>(state.data()), state.size()};
  msghdr message{};
  message.msg_name = &address;
  message.msg_namelen = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path->size());
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof passed)> control{};
  if (passed >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  }
  ::sendmsg(fd, &message, kNoSignal);
  ::close(fd);
}

// The supervisor closes the pipe's other end when it reaches this message.
void wait_for_supervisor() {
  constexpr int kWaitMs = 5'000;
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return;
  notify_supervisor("BARRIER=1", ends[1]);
  ::close(ends[1]);
  pollfd end{ends[0], POLLIN, 0};
  ::poll(&end, 1, kWaitMs);
  ::close(ends[0]);
}

}  // namespace coffer
