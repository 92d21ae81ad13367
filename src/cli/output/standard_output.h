// Standard output as a stream that records why it failed.
#pragma once

#include <array>
#include <streambuf>

namespace coffer::cli {

/// Writes to a descriptor, which it does not own. After a failed write, it and its stream fail
/// permanently. A flush also fails if the reader of a pipe is gone and there is nothing to write,
/// so a waiting command notices that its reader is gone. For one thread at a time.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd);

  /// Writes the remaining data.
  void finish();
  /// `errno` of the first failure; 0 without a failure.
  int error() const { return error_; }
  /// Whether it failed because the reader is gone: a closed pipe or a disconnected terminal.
  bool lost_reader() const;

 protected:
  int sync() override;
  int_type overflow(int_type c) override;

 private:
  const int fd_;
  int error_ = 0;
  std::array<char, 64 * 1024> buffer_{};
};

/// Ends the process with SIGPIPE, without a message, like other tools whose reader exits early (`|
/// head`). A shell reports 141.
[[noreturn]] void end_by_broken_pipe();

}  // namespace coffer::cli
