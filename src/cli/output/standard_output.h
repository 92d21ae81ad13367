// Standard output as a stream that knows why it failed.
#pragma once

#include <array>
#include <streambuf>

namespace coffer::cli {

/// Writes to a descriptor, which it does not own. Once a write fails it fails for good, and so does
/// its stream. A flush also fails when the reader of a pipe is gone and there is nothing to write:
/// a command that waits for something to print learns that the reader has gone. One thread at a
/// time.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd);

  /// Writes what is left, if anything is.
  void finish();
  /// `errno` of the first failure; 0 without a failure.
  int error() const { return error_; }
  /// Whether it failed because the reader is gone: a closed pipe or a terminal that hung up.
  bool lost_reader() const;

 protected:
  int sync() override;
  int_type overflow(int_type c) override;

 private:
  const int fd_;
  int error_ = 0;
  std::array<char, 64 * 1024> buffer_{};
};

/// Ends the process by SIGPIPE, without a message, as other tools end when their reader has enough
/// (`| head`): a shell shows 141.
[[noreturn]] void end_by_broken_pipe();

}  // namespace coffer::cli
