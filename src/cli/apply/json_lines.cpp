#include "cli/apply/json_lines.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace coffer::cli {
namespace {

/// Walks along valid JSON. It has no recursion: nested values are skipped by counting brackets.
class Walker {
 public:
  explicit Walker(std::string_view text) : text_(text) { skip_space(); }

  std::size_t line() const {
    return 1 + static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + at(), '\n'));
  }

  /// Moves to the value of a member: the first, or the last with this name. Otherwise, returns
  /// false and does not move.
  bool enter(std::string_view name, bool last) {
    return search('{', last, [&](std::size_t) {
      const std::string_view key = skip_string();
      skip_space();
      next();  // the colon
      skip_space();
      return key == name;
    });
  }
  bool enter(std::size_t index) {
    return search('[', false, [&](std::size_t i) { return i == index; });
  }

 private:
  template <class IsWanted>
  bool search(char open, bool last, const IsWanted& is_wanted) {
    const std::size_t start = at_;
    std::optional<std::size_t> found;
    if (peek() == open) {
      next();
      skip_space();
      for (std::size_t i = 0; at_ < text_.size() && peek() != '}' && peek() != ']'; ++i) {
        if (is_wanted(i)) found = at_;
        if (found && !last) break;
        skip_value();
        skip_space();
        if (peek() == ',') next();
        skip_space();
      }
    }
    at_ = found.value_or(start);
    return found.has_value();
  }

  void skip_value() {
    int depth = 0;
    do {
      if (peek() == '"') {
        skip_string();
      } else {
        depth += peek() == '{' || peek() == '[' ? 1 : 0;
        depth -= peek() == '}' || peek() == ']' ? 1 : 0;
        next();
      }
    } while (at_ < text_.size() && (depth > 0 || !ends_value(peek())));
  }
  static bool ends_value(char c) { return c == ',' || c == '}' || c == ']'; }

  /// Returns the raw text between the quotes; names with escapes are not found.
  std::string_view skip_string() {
    const std::size_t start = ++at_;
    while (at_ < text_.size() && peek() != '"') at_ += peek() == '\\' ? 2 : 1;
    const std::string_view out = text_.substr(start, at_ - start);
    next();
    return out;
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(peek()) != std::string_view::npos)
      ++at_;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void next() { ++at_; }
  std::ptrdiff_t at() const { return static_cast<std::ptrdiff_t>(std::min(at_, text_.size())); }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Takes the next name or index off `path`.
bool enter_next(Walker& walker, std::string_view& path) {
  if (path.starts_with('.')) path.remove_prefix(1);
  if (path.starts_with('[')) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(path.data() + 1, path.data() + path.size(), index);
    path.remove_prefix(std::min(path.size(), static_cast<std::size_t>(end - path.data()) + 1));
    return error == std::errc() && walker.enter(index);
  }
  const std::string_view name = path.substr(0, path.find_first_of(".["));
  path.remove_prefix(name.size());
  return walker.enter(name, path.empty());
}

}  // namespace

std::size_t line_of(std::string_view text, std::string_view path) {
  Walker walker(text);
  while (!path.empty() && enter_next(walker, path)) {
  }
  return walker.line();
}

}  // namespace coffer::cli
