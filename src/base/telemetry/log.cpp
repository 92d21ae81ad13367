#include "base/telemetry/log.h"

#include <spdlog/details/null_mutex.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/numbers.h"
#include "base/platform/terminal.h"
#include "base/telemetry/log_file.h"
#include "base/telemetry/log_scope.h"
#include "base/text/characters.h"

namespace coffer {
namespace {

using Fields = std::span<const LogField>;

// Control bytes, line separators, and marks that change the direction in which a terminal displays
// text.
bool must_escape(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x200e && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void append_escape(std::string& out, char32_t c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kHex[c >> shift & 0xf];
  }
}

// Escapes the content of a JSON string. The text format uses the same escapes. If `quoted` is false
// (a bare message), quotation marks are not escaped.
void append_escaped(std::string& out, std::string_view text, bool quoted) {
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.length == 0) {
      out += "\xef\xbf\xbd";  // U+FFFD for each invalid byte
      text.remove_prefix(1);
      continue;
    }
    if (must_escape(c.value)) {
      append_escape(out, c.value);
    } else {
      if (c.value == '\\' || (c.value == '"' && quoted)) out += '\\';
      out += text.substr(0, c.length);
    }
    text.remove_prefix(c.length);
  }
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  append_escaped(out, text, true);
  out += '"';
}

// Quotes only values that would otherwise be ambiguous.
void append_logfmt(std::string& out, std::string_view text) {
  bool plain = !text.empty();
  for (const char c : text)
    plain = plain && c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  if (plain) {
    out += text;
  } else {
    append_quoted(out, text);
  }
}

void append_value(std::string& out, LogFormat format, const LogValue& value) {
  if (const auto* text = std::get_if<std::string_view>(&value.variant())) {
    format == LogFormat::json ? append_quoted(out, *text) : append_logfmt(out, *text);
  } else if (const auto* flag = std::get_if<bool>(&value.variant())) {
    out += *flag ? "true" : "false";
  } else if (const auto* real = std::get_if<double>(&value.variant())) {
    // JSON cannot represent infinity or not-a-number.
    const bool finite = *real - *real == 0.0;
    finite || format == LogFormat::text ? append_number(out, *real) : void(out += "null");
  } else if (const auto* whole = std::get_if<std::int64_t>(&value.variant())) {
    append_number(out, *whole);
  } else {
    append_number(out, std::get<std::uint64_t>(value.variant()));
  }
}

/// Message and fields.
std::string render(LogFormat format, std::string_view message, Fields fields) {
  const bool json = format == LogFormat::json;
  std::string out;
  if (json) out += "\"message\":";
  json ? append_quoted(out, message) : append_escaped(out, message, false);
  for (const LogField& field : fields) {
    out += json ? ',' : ' ';
    json ? append_quoted(out, field.key) : append_logfmt(out, field.key);
    out += json ? ':' : '=';
    append_value(out, format, field.value);
  }
  return out;
}

std::unique_ptr<spdlog::formatter> formatter_of(LogFormat format) {
  const char* pattern = format == LogFormat::json
                            ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","component":"%n",%v})"
                            : "%Y-%m-%dT%H:%M:%S.%eZ %^%-7l%$ %n: %v";
  return std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc);
}

spdlog::level::level_enum of_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

/// Without its newline.
std::string line_of(spdlog::formatter& formatter, const spdlog::details::log_msg& event) {
  spdlog::memory_buf_t line;
  formatter.format(event, line);
  return {line.data(), line.size() - 1};
}

/// The fields of the line, then those of its scopes, starting with the innermost.
std::vector<LogField> with_scopes(LogFields fields) {
  std::vector<LogField> out(fields);
  for (const LogScope* scope = LogScope::current(); scope != nullptr; scope = scope->outer()) {
    bool known = scope->value().empty();
    for (const LogField& field : out) known = known || field.key == scope->key();
    if (!known) out.push_back({scope->key(), scope->value()});
  }
  return out;
}

// Output has a lock for all sinks.
using Unlocked = spdlog::details::null_mutex;
using StandardError = spdlog::sinks::ansicolor_stderr_sink_st;

/// Lines that the file does not accept go to `instead`.
class FileSink final : public spdlog::sinks::base_sink<Unlocked> {
 public:
  FileSink(std::unique_ptr<LogFile> file, StandardError& instead)
      : file_(std::move(file)), instead_(instead) {}

  Result<void> reopen() { return file_->reopen(); }

 private:
  void sink_it_(const spdlog::details::log_msg& event) override {
    if (!file_->write(line_of(*formatter_, event))) instead_.log(event);
  }
  void flush_() override {}  // nothing is buffered

  const std::unique_ptr<LogFile> file_;
  StandardError& instead_;
};

class FunctionSink final : public spdlog::sinks::base_sink<Unlocked> {
 public:
  explicit FunctionSink(std::function<void(std::string_view)> writer)
      : writer_(std::move(writer)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& event) override {
    writer_(line_of(*formatter_, event));
  }
  void flush_() override {}

  const std::function<void(std::string_view)> writer_;
};

class Output {
 public:
  Output() {
    if (!colours_allowed()) stderr_.set_color_mode(spdlog::color_mode::never);
    stderr_.set_level(spdlog::level::info);
    set_format(default_log_format());
  }

  // The level of standard error is that of the log.
  bool should_write(LogLevel level) const { return stderr_.should_log(of_spdlog(level)); }
  void set_level(LogLevel level) { stderr_.set_level(of_spdlog(level)); }

  void write(LogLevel level, std::string_view component, std::string_view message,
             LogFields fields) {
    lines_.at(static_cast<std::size_t>(level)).fetch_add(1, std::memory_order_relaxed);
    const Lock lock(mutex_);
    const std::string text = render(format_, message, with_scopes(fields));
    sink().log({{}, {component.data(), component.size()}, of_spdlog(level), text});
  }

  void set_format(LogFormat format) {
    const Lock lock(mutex_);
    format_ = format;
    stderr_.set_formatter(formatter_of(format));
    sink().set_formatter(formatter_of(format));
  }
  /// nullptr: the file or standard error.
  void set_writer(std::function<void(std::string_view)> writer) {
    const Lock lock(mutex_);
    writer_ = writer ? std::make_unique<FunctionSink>(std::move(writer)) : nullptr;
    sink().set_formatter(formatter_of(format_));
  }
  /// nullptr: standard error.
  void set_file(std::unique_ptr<LogFile> file) {
    const Lock lock(mutex_);
    file_ = file ? std::make_unique<FileSink>(std::move(file), stderr_) : nullptr;
    sink().set_formatter(formatter_of(format_));
  }
  Result<void> reopen_file() {
    const Lock lock(mutex_);
    return file_ ? file_->reopen() : Result<void>();
  }

  std::uint64_t lines(LogLevel level) const {
    return lines_.at(static_cast<std::size_t>(level)).load(std::memory_order_relaxed);
  }

 private:
  spdlog::sinks::sink& sink() COFFER_REQUIRES(mutex_) {
    if (writer_) return *writer_;
    if (file_) return *file_;
    return stderr_;
  }

  StandardError stderr_;  // its level is atomic; all else is guarded by `mutex_`
  LogFormat format_ COFFER_GUARDED_BY(mutex_) = LogFormat::json;
  std::array<std::atomic<std::uint64_t>, 5> lines_{};
  Mutex mutex_;
  std::unique_ptr<FileSink> file_ COFFER_GUARDED_BY(mutex_);
  std::unique_ptr<FunctionSink> writer_ COFFER_GUARDED_BY(mutex_);
};

// Never destroyed, because a thread that outlives main may still log.
Output& output() {
  static Output& instance = *new Output();
  return instance;
}

}  // namespace

namespace log_detail {

void write(LogLevel level, std::string_view component, std::string_view message,
           LogFields fields) noexcept {
  try {
    output().write(level, component, message, fields);
  } catch (...) {
    // Out of memory, or the sink failed. A lost log line must not cause a lost payment.
  }
}

}  // namespace log_detail

bool log_enabled(LogLevel level) { return output().should_write(level); }

void configure_logging(LogLevel level, LogFormat format) {
  output().set_format(format);
  set_log_level(level);
}

void set_log_level(LogLevel level) { output().set_level(level); }

LogFormat default_log_format() {
  return is_terminal(STDERR_FILENO) ? LogFormat::text : LogFormat::json;
}

std::string render_log_line(LogFormat format, Timestamp time, LogLevel level,
                            std::string_view component, std::string_view message,
                            LogFields fields) {
  const std::string text = render(format, message, Fields(fields));
  const spdlog::log_clock::time_point at{std::chrono::milliseconds(time.ms)};
  return line_of(*formatter_of(format),
                 {at, {}, {component.data(), component.size()}, of_spdlog(level), text});
}

void redirect_log(std::function<void(std::string_view line)> writer) {
  output().set_writer(std::move(writer));
}

Result<void> start_log_file(LogFileSettings settings) {
  COFFER_TRY(auto file, LogFile::open(std::move(settings)));
  output().set_file(std::move(file));
  return {};
}

void stop_log_file() { output().set_file(nullptr); }

Result<void> reopen_log_file() { return output().reopen_file(); }

std::uint64_t log_lines(LogLevel level) { return output().lines(level); }

}  // namespace coffer
