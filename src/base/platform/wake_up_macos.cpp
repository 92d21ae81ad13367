#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "base/check.h"
#include "base/platform/descriptors.h"
#include "base/platform/wake_up.h"

namespace coffer {

WakeUp::WakeUp() {
  int ends[2] = {-1, -1};
  COFFER_CHECK(open_pipe(ends));
  for (const int fd : ends) ::fcntl(fd, F_SETFL, O_NONBLOCK);
  fd_ = ends[0];
  signal_fd_ = ends[1];
}

WakeUp::~WakeUp() {
  ::close(signal_fd_);
  ::close(fd_);
}

void WakeUp::signal() {
  const char one = 1;
  // Fails only if the pipe is full, in which case it is already readable.
  [[maybe_unused]] const ssize_t done = ::write(signal_fd_, &one, sizeof one);
}

void WakeUp::clear() {
  std::array<char, 1024> sink;
  while (::read(fd_, sink.data(), sink.size()) > 0) {
  }
}

}  // namespace coffer
