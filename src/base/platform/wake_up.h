// A descriptor that another thread can make readable.
#pragma once

namespace coffer {

/// For threads that wait on descriptors: readable from signal() until clear(). Thread-safe.
class WakeUp {
 public:
  WakeUp();  // throws InternalError if the process has no free descriptors
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  int fd() const { return fd_; }
  void signal();
  void clear();

 private:
  int fd_ = -1;
  int signal_fd_ = -1;  // the same descriptor, except on systems that use a pipe
};

}  // namespace coffer
