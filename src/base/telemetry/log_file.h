// The log file that replaces standard error: rotated by size, reopened on SIGHUP.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/telemetry/log.h"

namespace coffer {

struct LogFileSettings {
  std::string path;             // the newest rotated file is PATH.1, the next PATH.2
  std::uint64_t bytes_max = 0;  // maximum size of a file; a longer line gets its own file
  int keep = 0;                 // number of rotated files; 0: only PATH
};

/// Append-only, mode 0600. For one thread at a time. spdlog's rotating sink does not replace it:
/// when a rename fails, that sink truncates the present file, and on a full disk it leaves partial
/// lines. It also cannot reopen the path after a move.
class LogFile {
 public:
  /// A Problem contains the path and the reason.
  static Result<std::unique_ptr<LogFile>> open(LogFileSettings settings);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Writes the whole line with its newline, or nothing. Returns false if writing fails, for
  /// example on a full disk; the next call tries again. A file that cannot be rotated continues to
  /// grow.
  bool write(std::string_view line);
  /// Opens the path again after the file was moved. On a Problem, the present file stays in use.
  Result<void> reopen();

 private:
  explicit LogFile(LogFileSettings settings) : settings_(std::move(settings)) {}
  bool rotate();

  const LogFileSettings settings_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t rotate_at_ = 0;  // beyond the limit after a failed rotation
};

/// Sends every log line of the process to this file. Lines that the file does not accept go to
/// standard error. Call it before other threads start, or in tests.
Result<void> start_log_file(LogFileSettings settings);
/// Restores standard error.
void stop_log_file();
/// Does nothing without a log file.
Result<void> reopen_log_file();

/// Number of lines of this level that the process has written.
std::uint64_t log_lines(LogLevel level);

}  // namespace coffer
