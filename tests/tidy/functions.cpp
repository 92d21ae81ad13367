// The length of functions and the member functions of classes, by matching braces in code without
// comments, strings and directives.
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "rules.h"

namespace tidy {
namespace {

constexpr int kFunctionLinesMax = 70;
constexpr int kMembersMax = 25;

enum class Scope { open, function, initialiser };  // open: namespace, class, extern "C"

/// The body of a function, or of a class.
struct Measure {
  int line = 0;
  int lines = 0;
  std::string class_name;  // empty for a function
  int members = 0;         // member functions of the class
};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// `text` without everything between brackets of one kind, including the brackets.
std::string without(std::string_view text, char open, char close) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == open) ++depth;
    if (depth == 0) out += c;
    if (c == close && depth > 0) --depth;
  }
  return out;
}

bool has_word(std::string_view text, std::string_view wanted) {
  for (const Word& word : words(text)) {
    if (word.text == wanted) return true;
  }
  return false;
}

bool is_type(std::string_view bare) {
  return has_word(bare, "class") || has_word(bare, "struct") || has_word(bare, "union") ||
         has_word(bare, "enum");
}

/// An assignment, not a comparison or an operator's name.
bool assigns(std::string_view bare) {
  const auto name = bare.find("operator");
  return bare.substr(0, name).find('=') != std::string_view::npos;
}

/// Without `template <...>`, whose `class` and `=` have another meaning.
std::string_view without_template(std::string_view head) {
  while (head.starts_with("template")) {
    std::size_t at = head.find('<');
    int depth = 0;
    for (; at < head.size(); ++at) {
      if (head[at] == '<') ++depth;
      if (head[at] == '>' && --depth == 0) break;
    }
    if (at >= head.size()) return head;
    head = trimmed(head.substr(at + 1));
  }
  return head;
}

/// The colon before a constructor's initialisers, not one half of `::`.
bool has_initialiser_list(std::string_view bare) {
  for (std::size_t i = 0; i < bare.size(); ++i) {
    if (bare[i] != ':') continue;
    if (i + 1 < bare.size() && bare[i + 1] == ':') {
      ++i;
    } else {
      return true;
    }
  }
  return false;
}

bool is_lambda(std::string_view head) {
  return head.ends_with(']') || head.find("](") != std::string_view::npos;
}

/// The name of the class whose body follows `head`; empty for other heads.
std::string class_name(std::string_view head) {
  const std::string bare = without(without_template(trimmed(head)), '(', ')');
  const std::vector<Word> all = words(bare);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const std::string_view word = all[i].text;
    if (word == "enum") return {};
    if (word != "class" && word != "struct" && word != "union") continue;
    std::size_t name = i + 1;
    const auto skipped = [&](const Word& at) {  // `A` in `class A::B`, and a specifier
      return at.text == "alignas" || bare.substr(at.offset + at.text.size(), 2) == "::";
    };
    while (name + 1 < all.size() && skipped(all[name])) ++name;
    return std::string(all[name].text);
  }
  return {};
}

/// `text` without the arguments of templates, which may contain the type of a function.
std::string without_arguments(std::string_view text) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool arrow = text[i] == '>' && i > 0 && text[i - 1] == '-';
    if (text[i] == '<') ++depth;
    if (depth == 0) out += text[i];
    if (text[i] == '>' && !arrow && depth > 0) --depth;
  }
  return out;
}

/// Whether `head`, a statement in a class or the head of a body, declares a member function other
/// than a constructor, a destructor or an operator.
bool declares_member(std::string_view head, std::string_view of_class) {
  head = without_template(trimmed(head));
  if (has_word(head, "operator") || has_word(head, "friend") || has_word(head, "using") ||
      head.starts_with("static_assert") || head.ends_with("= delete") ||
      head.ends_with("= default")) {
    return false;
  }
  const std::string plain = without_arguments(without(head, '[', ']'));
  const std::size_t open = plain.find('(');
  if (open == std::string::npos || plain.substr(0, open).find('=') != std::string::npos) {
    return false;
  }
  const std::vector<Word> before = words(std::string_view(plain).substr(0, open));
  if (before.size() < 2) return false;  // a constructor, or the pointer to a function
  const Word& name = before.back();
  const bool ends_there = name.offset + name.text.size() == open;
  return ends_there && name.text != of_class && name.text != "alignas" &&
         (name.offset == 0 || plain[name.offset - 1] != '~');
}

/// The kind of scope that the brace after `head` opens. `head` is the text since the last statement
/// of its scope.
Scope scope_of(std::string_view head) {
  head = without_template(trimmed(head));
  const std::string bare = without(head, '(', ')');
  const bool has_parameters = bare.size() != head.size();
  const bool is_block = has_word(bare, "namespace") || bare.starts_with("extern");
  if (is_block && !has_parameters) return Scope::open;
  if (assigns(bare)) return is_lambda(head) ? Scope::function : Scope::initialiser;
  if (is_type(bare) && !head.ends_with(')')) return Scope::open;
  if (!has_parameters) return Scope::initialiser;
  // `: name_{name}` initialises a member; the body comes later.
  const bool member = is_word_char(head.back()) || head.back() == '>';
  return member && has_initialiser_list(bare) ? Scope::initialiser : Scope::function;
}

class Matcher {
 public:
  /// Reports braces that do not match to `out`.
  Matcher(const File& file, Findings& out) : file_(file), text_(file.code.braces), out_(out) {}

  std::vector<Measure> run() {
    for (at_ = 0; at_ < text_.size() && !broken_; ++at_) step(text_[at_]);
    if (!broken_ && !scopes_.empty()) broken(scopes_.back().begin);
    return std::move(found_);
  }

 private:
  struct Open {
    Scope scope;
    std::size_t begin;  // of the function: its first word; otherwise the brace
    std::size_t head;   // start of the head of the surrounding scope
    int parens;         // open ones around the brace
    std::string class_name = {};
    int members = 0;
  };

  void step(char c) {
    if (c == '{') return open();
    if (c == '}') return close();
    if (c == '(') ++parens_;
    if (c == ')') --parens_;
    if (c != ';' || parens_ != 0) return;
    count_member(head_begin());
    head_ = at_ + 1;
  }

  /// Counts the declaration from `begin` to here, if it is one of a class.
  void count_member(std::size_t begin) {
    if (scopes_.empty() || scopes_.back().class_name.empty()) return;
    const std::string_view head = text_.substr(begin, at_ - begin);
    if (declares_member(head, scopes_.back().class_name)) ++scopes_.back().members;
  }

  bool in_function() const {
    for (const Open& open : scopes_) {
      if (open.scope == Scope::function) return true;
    }
    return false;
  }

  // A label such as `public:` does not belong to the function after it.
  std::size_t head_begin() const {
    std::size_t begin = head_;
    const auto skip_space = [&] {
      while (begin < at_ && is_space(text_[begin])) ++begin;
    };
    skip_space();
    for (const std::string_view label : {"public:", "protected:", "private:"}) {
      if (text_.substr(begin, label.size()) != label) continue;
      begin += label.size();
      skip_space();
    }
    return begin;
  }

  void open() {
    const std::size_t begin = head_begin();
    const Scope scope = in_function() ? Scope::initialiser : scope_here(begin);
    if (scope == Scope::function) count_member(begin);
    scopes_.push_back({scope, scope == Scope::initialiser ? at_ : begin, head_, parens_});
    if (scope == Scope::open) {
      scopes_.back().class_name = class_name(text_.substr(begin, at_ - begin));
    }
    parens_ = 0;
    head_ = at_ + 1;
  }

  // Inside an argument or a table, only a lambda is code. Inside a function, everything belongs to
  // it.
  Scope scope_here(std::size_t begin) const {
    const std::string_view head = text_.substr(begin, at_ - begin);
    const bool in_data =
        parens_ > 0 || (!scopes_.empty() && scopes_.back().scope == Scope::initialiser);
    if (!in_data) return scope_of(head);
    return is_lambda(trimmed(head)) ? Scope::function : Scope::initialiser;
  }

  void close() {
    if (scopes_.empty() || parens_ != 0) return broken(at_);
    const Open open = scopes_.back();
    scopes_.pop_back();
    parens_ = open.parens;
    // After `= {...}`, the statement continues; after a body or a type, a new one begins.
    head_ = open.scope == Scope::initialiser ? open.head : at_ + 1;
    if (open.scope != Scope::function && open.class_name.empty()) return;
    const int first = line_at(text_, open.begin);
    found_.push_back({first, line_at(text_, at_) - first + 1, open.class_name, open.members});
  }

  void broken(std::size_t where) {
    broken_ = true;
    out_.push_back({file_.path, line_at(text_, where),
                    "the braces do not match (an #if around half a block?), so functions cannot "
                    "be measured"});
  }

  const File& file_;
  std::string_view text_;
  Findings& out_;
  std::size_t at_ = 0;
  std::size_t head_ = 0;
  int parens_ = 0;
  bool broken_ = false;
  std::vector<Open> scopes_;
  std::vector<Measure> found_;
};

}  // namespace

Findings check_function_length(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if ((!file.in("src") && !file.in("tests")) || !file.is_cpp()) continue;
    for (const Measure& each : Matcher(file, out).run()) {
      if (!each.class_name.empty() || each.lines <= kFunctionLinesMax) continue;
      out.push_back({path, each.line,
                     "this function has " + std::to_string(each.lines) + " lines, " +
                         std::to_string(kFunctionLinesMax) +
                         " are the most; take a step out of it"});
    }
  }
  return out;
}

Findings check_class_size(const Tree& tree) {
  Findings out;
  Findings unmatched;  // check_function_length() reports them
  for (const auto& [path, file] : tree.files()) {
    if (!file.in("src") || !file.is_cpp()) continue;
    for (const Measure& each : Matcher(file, unmatched).run()) {
      if (each.members <= kMembersMax) continue;
      out.push_back({path, each.line,
                     each.class_name + " has " + std::to_string(each.members) +
                         " member functions, " + std::to_string(kMembersMax) +
                         " are the most; look for the second noun in it"});
    }
  }
  return out;
}

}  // namespace tidy
