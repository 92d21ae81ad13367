// The file that log lines go to instead of standard error: rotated by size, opened again on SIGHUP.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"

namespace coffer {

struct LogFileSettings {
  std::string path;             // PATH.1 is the latest that was rotated, PATH.2 the one before
  std::uint64_t bytes_max = 0;  // a file is not grown beyond; one longer line is a file of its own
  int keep = 0;                 // rotated files; 0: only PATH
};

/// Append only, readable by its owner alone (0600). For one thread at a time.
class LogFile {
 public:
  /// A Problem names the path and the reason.
  static Result<std::unique_ptr<LogFile>> open(LogFileSettings settings);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// The whole line and its newline, or nothing: false when the system refuses, as with a full
  /// disk. The next line is tried again. Where a file cannot be rotated it goes on growing.
  bool write(std::string_view line);
  /// The path again, after somebody moved the file away. On a Problem the present one stays in use.
  Result<void> reopen();

 private:
  explicit LogFile(LogFileSettings settings) : settings_(std::move(settings)) {}
  bool rotate();

  const LogFileSettings settings_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t rotate_at_ = 0;  // beyond the limit after a rotation that failed
};

/// From now on every log line of the process goes to this file; what it does not take, to standard
/// error. Called before there are other threads, or by tests.
Result<void> start_log_file(LogFileSettings settings);
/// Standard error again.
void stop_log_file();
/// Nothing to do without a file.
Result<void> reopen_log_file();

namespace log_detail {
// For log.cpp.
bool has_file() noexcept;
/// Whether the file has the line now.
bool write_to_file(std::string_view line) noexcept;
void count_line(LogLevel level) noexcept;
}  // namespace log_detail

/// Lines of this level that were written since the process began.
std::uint64_t log_lines(LogLevel level);

}  // namespace coffer
