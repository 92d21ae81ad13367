// Completions of an incomplete command line.
#pragma once

#include <string>
#include <vector>

namespace coffer::cli {

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

}  // namespace coffer::cli
