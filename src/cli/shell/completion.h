// coffer completion: scripts that let bash, zsh and fish get completions from coffer.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace coffer::cli {

/// The first argument that these scripts pass to coffer. It is not a command, so the help omits it.
inline constexpr std::string_view kCompleteArgument = "__complete";

struct Offer {
  std::string word;
  std::string summary;
};

struct Offers {
  bool files = false;  // any file; `words` is empty then
  std::vector<Offer> words;
};

/// `typed` is the line without the program's name; its last word is the incomplete one (empty after
/// a space). The completions come from the tables of commands and settings. They are not filtered
/// by the incomplete word, because each shell does that by its own rules.
Offers offers_for(std::vector<std::string> typed);

/// Prints the completions: `:file`, or one line per word, with a tab and the word's summary.
/// `typed` is as in offers_for().
void print_offers(std::ostream& out, std::vector<std::string> typed);

}  // namespace coffer::cli
