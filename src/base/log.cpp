#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/platform/terminal.h"
#include "base/telemetry/log_file.h"
#include "base/telemetry/log_scope.h"
#include "base/text/append_number.h"
#include "base/text/characters.h"

namespace coffer {
namespace {

using Fields = std::span<const LogField>;

struct LevelName {
  std::string_view json;
  std::string_view text;    // padded to equal width
  std::string_view colour;  // ANSI colour
};

LevelName level_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return {"debug", "DEBUG", "\x1b[2m"};
    case LogLevel::info:
      return {"info", "INFO ", "\x1b[32m"};
    case LogLevel::warning:
      return {"warning", "WARN ", "\x1b[33m"};
    case LogLevel::error:
      return {"error", "ERROR", "\x1b[31m"};
    case LogLevel::off:
      break;
  }
  return {"off", "OFF  ", ""};
}

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

std::string render_json(Timestamp time, LogLevel level, std::string_view component,
                        std::string_view message, Fields fields) {
  std::string out = "{\"time\":\"" + time.to_string() + "\",\"level\":\"";
  out += level_name(level).json;
  out += "\",\"component\":";
  append_quoted(out, component);
  out += ",\"message\":";
  append_quoted(out, message);
  for (const LogField& field : fields) {
    out += ',';
    append_quoted(out, field.key);
    out += ':';
    append_value(out, LogFormat::json, field.value);
  }
  return out += '}';
}

std::string render_text(bool colour, Timestamp time, LogLevel level, std::string_view component,
                        std::string_view message, Fields fields) {
  constexpr std::string_view kDim = "\x1b[2m";
  const std::string_view reset = colour ? "\x1b[0m" : "";
  const LevelName name = level_name(level);
  std::string out = time.to_string();
  out += ' ';
  if (colour) out += name.colour;
  out += name.text;
  out += reset;
  out += ' ';
  append_logfmt(out, component);
  out += ": ";
  append_escaped(out, message, false);
  for (const LogField& field : fields) {
    out += ' ';
    if (colour) out += kDim;
    append_logfmt(out, field.key);
    out += '=';
    out += reset;
    append_value(out, LogFormat::text, field.value);
  }
  return out;
}

std::string render(LogFormat format, bool colour, Timestamp time, LogLevel level,
                   std::string_view component, std::string_view message, Fields fields) {
  return format == LogFormat::json ? render_json(time, level, component, message, fields)
                                   : render_text(colour, time, level, component, message, fields);
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

// spdlog writes the lines. They are rendered here, because spdlog's pattern language cannot escape
// a field.
class Output {
 public:
  Output() { stderr_.set_pattern("%v"); }

  void write(LogLevel level, std::string_view component, std::string_view message,
             LogFields fields) {
    log_detail::count_line(level);
    const auto all = with_scopes(fields);
    const std::string line =
        render(format_.load(std::memory_order_relaxed), colour_ && !log_detail::has_file(),
               SystemClock().now(), level, component, message, all);
    const Lock lock(mutex_);
    if (writer_) {
      writer_(line);
    } else if (!log_detail::write_to_file(line)) {
      stderr_.log({"", spdlog::level::info, spdlog::string_view_t(line.data(), line.size())});
    }
  }

  void set_format(LogFormat format) { format_.store(format, std::memory_order_relaxed); }

  void redirect(std::function<void(std::string_view)> writer) {
    Lock lock(mutex_);
    writer_ = std::move(writer);
  }

 private:
  const bool colour_ = is_terminal(STDERR_FILENO) && colours_allowed();
  std::atomic<LogFormat> format_ = default_log_format();
  Mutex mutex_;
  spdlog::sinks::stderr_sink_st stderr_ COFFER_GUARDED_BY(mutex_);
  std::function<void(std::string_view)> writer_ COFFER_GUARDED_BY(mutex_);
};

// Never destroyed, because a thread that outlives main may still log.
Output& output() {
  static Output& instance = *new Output();
  return instance;
}

}  // namespace

namespace log_detail {

std::atomic<LogLevel> threshold = LogLevel::info;

void write(LogLevel level, std::string_view component, std::string_view message,
           LogFields fields) noexcept {
  try {
    output().write(level, component, message, fields);
  } catch (...) {
    // Out of memory, or the sink failed. A lost log line must not cause a lost payment.
  }
}

}  // namespace log_detail

void configure_logging(LogLevel level, LogFormat format) {
  output().set_format(format);
  set_log_level(level);
}

void set_log_level(LogLevel level) {
  log_detail::threshold.store(level, std::memory_order_relaxed);
}

LogFormat default_log_format() {
  return is_terminal(STDERR_FILENO) ? LogFormat::text : LogFormat::json;
}

std::string render_log_line(LogFormat format, bool colour, Timestamp time, LogLevel level,
                            std::string_view component, std::string_view message,
                            LogFields fields) {
  return render(format, colour, time, level, component, message, Fields(fields));
}

void redirect_log(std::function<void(std::string_view line)> writer) {
  output().redirect(std::move(writer));
}

}  // namespace coffer
