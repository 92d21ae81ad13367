#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/check.h"
#include "base/platform/wake_up.h"

namespace coffer {

WakeUp::WakeUp() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), signal_fd_(fd_) {
  COFFER_CHECK(fd_ >= 0);
}

WakeUp::~WakeUp() { ::close(fd_); }

void WakeUp::signal() {
  const std::uint64_t one = 1;
  // Fails only if the counter is full, in which case the descriptor is already readable.
  [[maybe_unused]] const ssize_t done = ::write(signal_fd_, &one, sizeof one);
}

void WakeUp::clear() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t done = ::read(fd_, &count, sizeof count);
}

}  // namespace coffer
