// A descriptor that another thread makes readable.
#pragma once

namespace coffer {

/// For who waits on descriptors: readable from signal() until clear(). Where edges are waited for,
/// every signal() is one. All threads.
class WakeUp {
 public:
  WakeUp();  // throws InternalError when the process is out of descriptors
  ~WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;

  int fd() const { return fd_; }
  void signal();
  void clear();

 private:
  int fd_ = -1;
  int signal_fd_ = -1;  // the same, except where it takes a pipe
};

}  // namespace coffer
