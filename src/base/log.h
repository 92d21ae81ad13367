// The log: one event, one line on standard error, as JSON or as text for people.
//
//   log_info("http", "request", {{"request_id", id}, {"status", 200}});
//
// `component` and `message` are constant words; whatever came from outside goes into a field, where
// it is escaped: no input can start a second line, forge a field or drive a terminal. `Secret` does
// not compile as a field. Every function here is safe from any thread and throws nothing.
#pragma once

#include <atomic>
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

/// What a field may hold. Text is referred to, not copied: it has to live until the call returns.
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
  LogValue(const void*) = delete;                                   // would become a bool
  LogValue(const Secret&) = delete;                                 // a secret is never logged

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

/// Before the first call: `info` and `default_log_format()`. May be called again at any time.
void configure_logging(LogLevel level, LogFormat format);
void set_log_level(LogLevel level);
/// Text when standard error is a terminal, else JSON.
LogFormat default_log_format();

namespace log_detail {
extern std::atomic<LogLevel> threshold;
void write(LogLevel level, std::string_view component, std::string_view message,
           LogFields fields) noexcept;
}  // namespace log_detail

/// True when an event of this level is written. Ask first where a field is costly to make; the
/// functions below ask by themselves, which costs one load when the level is off.
inline bool log_enabled(LogLevel level) {
  return level >= log_detail::threshold.load(std::memory_order_relaxed);
}

inline void log_debug(std::string_view component, std::string_view message, LogFields fields = {}) {
  if (log_enabled(LogLevel::debug)) {
    log_detail::write(LogLevel::debug, component, message, fields);
  }
}
/// Worth a line in normal operation.
inline void log_info(std::string_view component, std::string_view message, LogFields fields = {}) {
  if (log_enabled(LogLevel::info)) log_detail::write(LogLevel::info, component, message, fields);
}
/// Something an operator should look at when there is time.
inline void log_warning(std::string_view component, std::string_view message,
                        LogFields fields = {}) {
  if (log_enabled(LogLevel::warning)) {
    log_detail::write(LogLevel::warning, component, message, fields);
  }
}
/// Something is broken: a fault of coffer or of the machine, never bad input.
inline void log_error(std::string_view component, std::string_view message, LogFields fields = {}) {
  if (log_enabled(LogLevel::error)) log_detail::write(LogLevel::error, component, message, fields);
}

/// One event as it is written, without the newline. Pure; `colour` matters for text only.
std::string render_log_line(LogFormat format, bool colour, Timestamp time, LogLevel level,
                            std::string_view component, std::string_view message, LogFields fields);

/// For tests: lines go to `writer` (called by one thread at a time) instead of standard error until
/// called with nullptr.
void redirect_log(std::function<void(std::string_view line)> writer);

}  // namespace coffer
