// The log: one event per line on standard error, as JSON or as readable text. spdlog has levels,
// times, colours and sinks; the fields are rendered here, because its patterns cannot escape them.
//
//   log_info("http", "request", {{"request_id", id}, {"status", 200}});
//
// `component` and `message` are constants. Values from outside go into fields, which are escaped,
// so no input can start a second line, forge a field or control a terminal. A `Secret` field does
// not compile. All functions are thread-safe and throw nothing.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/strong.h"

namespace coffer {

enum class LogLevel { debug, info, warning, error, off };
enum class LogFormat { text, json };

/// The value of a field. Text is referenced, not copied, and must live until the call returns.
class LogValue {
 public:
  LogValue(const char* text) : value_(std::string_view(text)) {}         // NOLINT: by design
  LogValue(std::string_view text) : value_(text) {}                      // NOLINT
  LogValue(const std::string& text) : value_(std::string_view(text)) {}  // NOLINT
  LogValue(bool value) : value_(value) {}                                // NOLINT
  LogValue(double value) : value_(value) {}                              // NOLINT
  template <std::signed_integral T>
  LogValue(T value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT
  template <std::unsigned_integral T>
  LogValue(T value) : value_(static_cast<std::uint64_t>(value)) {}  // NOLINT
  LogValue(const void*) = delete;                                   // would convert to bool
  LogValue(const Secret&) = delete;                                 // secrets are never logged

  using Variant = std::variant<std::string_view, bool, double, std::int64_t, std::uint64_t>;
  const Variant& variant() const { return value_; }

 private:
  Variant value_;
};

struct LogField {
  std::string_view key;  // snake_case; not `time`, `level`, `component` or `message`
  LogValue value;
};
using LogFields = std::initializer_list<LogField>;

/// Until the first call, the level is `info` and the format default_log_format(). May be called
/// again at any time.
void configure_logging(LogLevel level, LogFormat format);
void set_log_level(LogLevel level);
/// Text if standard error is a terminal, otherwise JSON.
LogFormat default_log_format();

namespace log_detail {
void write(LogLevel level, std::string_view component, std::string_view message,
           LogFields fields) noexcept;
}  // namespace log_detail

/// Whether events of this level are written. Call it before computing an expensive field. The
/// functions below call it themselves; a disabled level costs one load.
bool log_enabled(LogLevel level);

inline void log_debug(std::string_view component, std::string_view message, LogFields fields = {}) {
  if (log_enabled(LogLevel::debug)) {
    log_detail::write(LogLevel::debug, component, message, fields);
  }
}
/// Events of normal operation that are worth a line.
inline void log_info(std::string_view component, std::string_view message, LogFields fields = {}) {
  if (log_enabled(LogLevel::info)) log_detail::write(LogLevel::info, component, message, fields);
}
/// Conditions that an operator should check, without urgency.
inline void log_warning(std::string_view component, std::string_view message,
                        LogFields fields = {}) {
  if (log_enabled(LogLevel::warning)) {
    log_detail::write(LogLevel::warning, component, message, fields);
  }
}
/// Failures of coffer or of the machine, never bad input.
inline void log_error(std::string_view component, std::string_view message, LogFields fields = {}) {
  if (log_enabled(LogLevel::error)) log_detail::write(LogLevel::error, component, message, fields);
}

/// The line for one event, without the newline and colours. Pure.
std::string render_log_line(LogFormat format, Timestamp time, LogLevel level,
                            std::string_view component, std::string_view message, LogFields fields);

/// For tests: sends lines to `writer` instead of standard error, from one thread at a time. nullptr
/// restores standard error or the log file.
void redirect_log(std::function<void(std::string_view line)> writer);

}  // namespace coffer
