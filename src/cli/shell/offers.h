// What may stand at the cursor of a command line that is still being typed.
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

/// `typed` is the line without the program's name, its last word the one being typed (empty after a
/// space). From the tables of commands and settings. Words are not filtered by what is typed of
/// them: each shell does that by its own rules.
Offers offers_for(std::vector<std::string> typed);

}  // namespace coffer::cli
