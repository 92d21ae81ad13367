#include "code.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace tidy {
namespace {

/// Blanks everything that is not code in one pass.
class Reader {
 public:
  explicit Reader(std::string_view source) : source_(source) { code_.names = source; }

  Code read() {
    while (at_ < source_.size()) step();
    blank_directives();
    return std::move(code_);
  }

 private:
  bool starts(std::string_view what) const { return source_.substr(at_).starts_with(what); }

  // Keeps line breaks, so that every text has the same lines.
  void blank(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      if (code_.names[i] != '\n') code_.names[i] = ' ';
    }
  }

  void step() {
    const char c = source_[at_];
    if (c == '\n') ++line_;
    if (starts("//")) return skip_to(std::min(source_.find('\n', at_), source_.size()));
    if (starts("/*")) return skip_to(after(source_.find("*/", at_ + 2), 2));
    if (c == '#' && only_space_before()) return directive();
    if (c == '"') return string();
    if (c == '\'' && !is_digit_separator()) return character();
    if (!std::isspace(static_cast<unsigned char>(c))) literal_open_ = false;
    ++at_;
  }

  std::size_t after(std::size_t found, std::size_t length) const {
    return found == std::string_view::npos ? source_.size() : found + length;
  }

  void count_lines(std::size_t to) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
  }

  void skip_to(std::size_t to) {
    blank(at_, to);
    count_lines(to);
    at_ = to;
  }

  bool only_space_before() const {
    const auto start = source_.rfind('\n', at_);
    const auto from = start == std::string_view::npos || at_ == 0 ? 0 : start + 1;
    const auto before = source_.substr(from, at_ - from);
    return std::all_of(before.begin(), before.end(), [](char c) { return c == ' ' || c == '\t'; });
  }

  // Records the position of the directive and, for an #include, its target. The rest of the line is
  // read like code, because a macro may contain what a rule looks for.
  void directive() {
    std::size_t end = at_;
    do {
      end = std::min(source_.find('\n', end + 1), source_.size());
    } while (end < source_.size() && source_[end - 1] == '\\');
    directives_.emplace_back(at_, end);
    literal_open_ = false;
    const std::string_view text = source_.substr(at_, end - at_);
    const auto hash = text.find_first_not_of("# \t");
    if (hash == std::string_view::npos || !text.substr(hash).starts_with("include")) {
      ++at_;
      return;
    }
    const auto open = text.find_first_of("<\"");
    const auto close = text.find_first_of(">\"", open == std::string_view::npos ? open : open + 1);
    if (close != std::string_view::npos) {
      code_.includes.push_back(
          {std::string(text.substr(open + 1, close - open - 1)), text[open] == '<', line_});
    }
    skip_to(end);
  }

  // As in 1'000: between two digits of a number. A prefix (u8'a') is a word of letters.
  bool is_digit_separator() const {
    std::size_t start = at_;
    while (start > 0 && (is_word_char(source_[start - 1]) || source_[start - 1] == '\'')) --start;
    return start < at_ && std::isdigit(static_cast<unsigned char>(source_[start])) != 0;
  }

  void character() { skip_quoted('\''); }

  std::size_t skip_quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote && source_[end] != '\n') {
      end += source_[end] == '\\' ? 2 : 1;
    }
    end = std::min(end, source_.size());
    blank(at_ + 1, end);
    count_lines(end);
    literal_open_ = false;
    at_ = std::min(end + 1, source_.size());
    return end;
  }

  void string() {
    const bool raw = at_ > 0 && source_[at_ - 1] == 'R' && !is_ordinary_word_before();
    const bool continues = literal_open_;
    const int first_line = line_;
    const std::size_t begin = at_ + 1;
    std::string_view text;
    if (raw) {
      const std::size_t open = after(source_.find('(', begin), 1);
      const std::string close = ")" + std::string(source_.substr(begin, open - 1 - begin)) + "\"";
      const std::size_t end = after(source_.find(close, open), close.size());
      text = source_.substr(open, end - close.size() - open);
      blank(begin, end - 1);
      count_lines(end);
      at_ = end;
    } else {
      const std::size_t end = skip_quoted('"');
      text = source_.substr(begin, end - begin);
    }
    if (continues) {
      code_.literals.back().text += text;
    } else {
      code_.literals.push_back({std::string(text), first_line});
    }
    literal_open_ = true;
  }

  // `R"`, `u8R"`, `LR"` start a raw string; an identifier that ends in R does not.
  bool is_ordinary_word_before() const {
    std::size_t start = at_;
    while (start > 0 && is_word_char(source_[start - 1])) --start;
    const std::string_view prefix = source_.substr(start, at_ - start);
    return prefix != "R" && prefix != "LR" && prefix != "uR" && prefix != "UR" && prefix != "u8R";
  }

  void blank_directives() {
    code_.braces = code_.names;
    for (const auto& [from, to] : directives_) {
      for (std::size_t i = from; i < to; ++i) {
        if (code_.braces[i] != '\n') code_.braces[i] = ' ';
      }
    }
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool literal_open_ = false;  // only space and comments since the last literal
  std::vector<std::pair<std::size_t, std::size_t>> directives_;
  Code code_;
};

}  // namespace

Code read_code(std::string_view source) { return Reader(source).read(); }

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<Word> words(std::string_view text) {
  std::vector<Word> out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word_char(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word_char(text[end])) ++end;
    out.push_back({text.substr(at, end - at), at});
    at = end;
  }
  return out;
}

}  // namespace tidy
