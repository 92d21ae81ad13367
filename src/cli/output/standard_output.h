// Streams of a command: blocks for a receiver that may be gone, and standard output, which records
// why it failed.
#pragma once

#include <array>
#include <streambuf>
#include <string_view>

namespace coffer::cli {

/// Collects what is written to a stream and passes it on in blocks: when a block is full, and at
/// each flush. After a block that failed, the stream fails. For one thread at a time.
class BlockBuffer : public std::streambuf {
 public:
  BlockBuffer() { begin_block(); }

  /// Passes on the remaining data.
  void finish() {
    if (pptr() != pbase()) sync();
  }

 protected:
  /// Returns false after a failure. Called for a flush without data, too, so that a waiting command
  /// notices that its reader is gone.
  virtual bool pass_on(std::string_view block) = 0;

 private:
  int sync() final {
    const bool passed = pass_on({pbase(), static_cast<std::size_t>(pptr() - pbase())});
    begin_block();
    return passed ? 0 : -1;
  }
  int_type overflow(int_type c) final {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  void begin_block() { setp(block_.data(), block_.data() + block_.size()); }

  std::array<char, 32 * 1024> block_{};
};

/// Writes to a descriptor, which it does not own.
class DescriptorBuffer final : public BlockBuffer {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd) {}

  /// `errno` of the first failure; 0 without a failure.
  int error() const { return error_; }
  /// Whether it failed because the reader is gone: a closed pipe or a disconnected terminal.
  bool lost_reader() const;

 private:
  bool pass_on(std::string_view block) override;

  const int fd_;
  int error_ = 0;
};

/// Ends the process with SIGPIPE, without a message, like other tools whose reader exits early (`|
/// head`). A shell reports 141.
[[noreturn]] void end_by_broken_pipe();

}  // namespace coffer::cli
