#include "cli/output/standard_output.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "base/platform/terminal.h"

namespace coffer::cli {
namespace {

/// Returns 0 or `errno`. Waits if another process made the descriptor non-blocking.
int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(fd, content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wanted{fd, POLLOUT, 0};
      ::poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

bool DescriptorBuffer::lost_reader() const {
  return error_ == EPIPE || error_ == ECONNRESET || (error_ == EIO && reader_is_gone(fd_));
}

bool DescriptorBuffer::pass_on(std::string_view block) {
  if (error_ == 0) error_ = write_all(fd_, block);
  if (error_ == 0 && block.empty() && reader_is_gone(fd_)) error_ = EPIPE;
  return error_ == 0;
}

void end_by_broken_pipe() {
  constexpr int kShellsCode = 128 + SIGPIPE;
  ::signal(SIGPIPE, SIG_DFL);
  ::raise(SIGPIPE);
  ::_exit(kShellsCode);  // if the parent process blocks the signal
}

}  // namespace coffer::cli
