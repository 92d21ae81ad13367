// C++ in three forms, so that comments and strings do not confuse a rule about code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidy {

struct Literal {
  std::string text;  // adjacent literals are one; escapes stay as written
  int line = 0;
};

struct Include {
  std::string path;
  bool angle = false;
  int line = 0;
};

/// All texts have the length and the line breaks of the source.
struct Code {
  std::string names;   // comments and the insides of literals are blank
  std::string braces;  // preprocessor lines are blank as well
  std::vector<Literal> literals;
  std::vector<Include> includes;
};

Code read_code(std::string_view source);

struct Word {
  std::string_view text;
  std::size_t offset = 0;
};
bool is_word_char(char c);
/// Identifiers, keywords and numbers, in order.
std::vector<Word> words(std::string_view text);

}  // namespace tidy
