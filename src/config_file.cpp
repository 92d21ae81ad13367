#include "config_file.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace coffer {
namespace {

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

/// Digits, with single underscores between them.
bool is_whole_number(std::string_view text) {
  bool after_digit = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit && (c != '_' || !after_digit)) return false;
    after_digit = digit;
  }
  return after_digit;
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (c >> shift & 0x3f)); };
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0 | c >> 6);
    tail(0);
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0 | c >> 12);
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0 | c >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Reads one line; the first fault ends it.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  /// True when the line held a complete `key = value`; otherwise `fault()` tells, or it was empty.
  bool read(ConfigFileEntry& entry) {
    skip_space();
    if (at_end()) return false;
    if (rest_.front() == '[') {
      return fail("tables have no use here; write the whole key, as in log_level = \"info\"");
    }
    if (!read_key(entry.key) || !read_value(entry)) return false;
    skip_space();
    return at_end() || fail("there is something after the value; remove it");
  }

  const std::string& fault() const { return fault_; }

 private:
  bool fail(std::string message) {
    fault_ = std::move(message);
    return false;
  }

  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }

  bool at_end() const { return rest_.empty() || rest_.front() == '#'; }

  std::string_view take_while(bool (*wanted)(char)) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), wanted);
    const std::string_view taken =
        rest_.substr(0, static_cast<std::size_t>(std::distance(rest_.begin(), end)));
    rest_.remove_prefix(taken.size());
    return taken;
  }

  bool read_key(std::string& key) {
    key = take_while(is_key_char);
    skip_space();
    if (key.empty() || !rest_.starts_with('=')) return fail("write key = value");
    rest_.remove_prefix(1);
    skip_space();
    return true;
  }

  bool read_value(ConfigFileEntry& entry) {
    if (at_end()) return fail("the value of " + entry.key + " is missing");
    entry.quoted = rest_.front() == '"' || rest_.front() == '\'';
    if (rest_.starts_with("\"\"\"") || rest_.starts_with("'''")) {
      return fail("strings over several lines have no use here");
    }
    if (rest_.front() == '"') return read_basic_string(entry.value);
    if (rest_.front() == '\'') return read_literal_string(entry.value);
    if (rest_.front() == '[' || rest_.front() == '{') {
      return fail(entry.key + " takes one value, not a list or a table");
    }
    return read_bare(entry);
  }

  bool read_literal_string(std::string& value) {
    rest_.remove_prefix(1);
    const auto end = rest_.find('\'');
    if (end == std::string_view::npos) return fail("the closing ' is missing");
    value = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool read_basic_string(std::string& value) {
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c != '\\') {
        value += c;
      } else if (!read_escape(value)) {
        return false;
      }
    }
    return fail("the closing \" is missing");
  }

  bool read_escape(std::string& value) {
    constexpr std::string_view kNames = "btnfr\"\\";
    constexpr std::string_view kValues = "\b\t\n\f\r\"\\";
    const char name = rest_.empty() ? '\0' : rest_.front();
    if (const auto at = kNames.find(name); at != std::string_view::npos) {
      value += kValues[at];
      rest_.remove_prefix(1);
      return true;
    }
    if (name == 'u' || name == 'U') return read_code_point(value, name == 'u' ? 4 : 8);
    return fail("a backslash starts an escape; write \\\\ for a backslash, or 'single quotes'");
  }

  bool read_code_point(std::string& value, std::size_t digits) {
    rest_.remove_prefix(1);
    std::uint32_t c = 0;
    bool good = rest_.size() >= digits;
    for (std::size_t i = 0; good && i < digits; ++i) {
      constexpr std::string_view kHex = "0123456789abcdef";
      const auto digit = kHex.find(static_cast<char>(rest_[i] | 0x20));
      good = digit != std::string_view::npos;
      if (good) c = c << 4 | static_cast<std::uint32_t>(digit);
    }
    if (!good || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
      return fail("\\u takes 4 and \\U 8 hexadecimal digits of a character");
    }
    append_utf8(value, c);
    rest_.remove_prefix(digits);
    return true;
  }

  bool read_bare(ConfigFileEntry& entry) {
    const std::string_view bare =
        take_while([](char c) { return c != ' ' && c != '\t' && c != '#'; });
    entry.value = bare;
    if (bare == "true" || bare == "false") return true;
    const bool sign = bare.starts_with('+') || bare.starts_with('-');
    if (!is_whole_number(bare.substr(sign ? 1 : 0))) {
      return fail("put the value in quotes: " + entry.key + " = \"" + std::string(bare) + "\"");
    }
    std::erase(entry.value, '_');
    if (entry.value.front() == '+') entry.value.erase(0, 1);
    return true;
  }

  std::string_view rest_;
  std::string fault_;
};

std::optional<int> line_of(const ConfigFileText& text, const std::string& key) {
  for (const ConfigFileEntry& entry : text.entries) {
    if (entry.key == key) return entry.line;
  }
  return std::nullopt;
}

void read_line(std::string_view line, int number, ConfigFileText& out) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  ConfigFileEntry entry;
  LineReader reader(line);
  if (!reader.read(entry)) {
    if (!reader.fault().empty()) out.faults.push_back({number, reader.fault()});
    return;
  }
  if (const auto first = line_of(out, entry.key)) {
    out.faults.push_back(
        {number, entry.key + " is already in line " + std::to_string(*first) + "; keep one"});
    return;
  }
  entry.line = number;
  out.entries.push_back(std::move(entry));
}

}  // namespace

ConfigFileText parse_config_file(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  ConfigFileText out;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    read_line(line, number, out);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return out;
}

}  // namespace coffer
