// An open file descriptor that its owner closes.
#pragma once

#include <unistd.h>

#include <utility>

namespace coffer {

class Descriptor {
 public:
  /// Takes the result of open(2) and similar calls. A negative value means no descriptor; `errno`
  /// is unchanged.
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// Transfers ownership to the caller, who must close the descriptor.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace coffer
