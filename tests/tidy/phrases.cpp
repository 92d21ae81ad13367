// Phrasings that read like a translation, and what to write instead. A phrase is in the list only
// if it is wrong in every context.
//
// The rule covers the whole repository except this folder.
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "rules.h"

namespace tidy {
namespace {

struct Phrase {
  std::string_view words;  // lower case, separated by one blank
  std::string_view reason;
};

constexpr auto kPhrases = std::to_array<Phrase>({
    {"nobody", "name the actor: the system, the caller, the operator"},
    {"somebody", "name the actor: the system, the caller, the operator"},
    {"anybody", "name the actor: the system, the caller, the operator"},
    {"whoever", "name the actor: the system, the caller, the operator"},
    {"whomever", "name the actor: the system, the caller, the operator"},
    {"is none", "write not found, missing or invalid"},
    {"the house", "write the system or the operator; for an account, the fee or liquidity account"},
    {"the box", "write the server or the machine"},
    {"the appliance", "write the server"},
    {"under way", "write in progress"},
    {"what came of", "write the result of"},
    {"became of", "write the result of"},
    {"looked at", "write read, checked or examined"},
    {"by itself", "write automatically, or alone"},
    {"not shown", "say what holds"},
    {"cannot be had", "write not found or not available"},
    {"send again", "write resend, retry or redeliver"},
    {"ends with 3", "write exits with 3"},
    {"mend", "write resolve, fix or repair"},
    {"there is no such", "write: the wallet was not found; in comments: does not exist"},
    {"does not fit", "write is not valid or does not match, and what is expected"},
    {"at fault", "write invalid, damaged or faulty"},
    {"how it stands", "write its state"},
    {"for good", "write permanently"},
    {"in vain", "write without a result"},
    {"cash out", "write off-ramp, or payout"},
    {"held against", "write counted for"},
    {"as it likes", "write without a limit"},
});

bool is_covered(const File& file) { return !file.in("tests/tidy"); }

/// Whether two words stand beside each other, also across the line break of a comment.
bool is_adjacent(std::string_view text, const Word& left, const Word& right) {
  const std::size_t end = left.offset + left.text.size();
  const std::string_view between = text.substr(end, right.offset - end);
  return between.find_first_not_of(" \n/*#") == std::string_view::npos;
}

bool is_same(std::string_view word, std::string_view lower) {
  if (word.size() != lower.size() || word == "None") return false;  // Python's constant
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(word[i])) != lower[i]) return false;
  }
  return true;
}

bool stands_at(std::string_view text, const std::vector<Word>& all, std::size_t at,
               const std::vector<Word>& phrase) {
  if (at + phrase.size() > all.size()) return false;
  for (std::size_t i = 0; i < phrase.size(); ++i) {
    if (!is_same(all[at + i].text, phrase[i].text)) return false;
    if (i > 0 && !is_adjacent(text, all[at + i - 1], all[at + i])) return false;
  }
  return true;
}

}  // namespace

Findings check_phrases(const Tree& tree) {
  Findings out;
  for (const auto& [path, file] : tree.files()) {
    if (!is_covered(file)) continue;
    const std::vector<Word> all = words(file.text);
    for (const Phrase& phrase : kPhrases) {
      const std::vector<Word> wanted = words(phrase.words);
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!stands_at(file.text, all, i, wanted)) continue;
        out.push_back({path, line_at(file.text, all[i].offset),
                       "\"" + std::string(phrase.words) + "\": " + std::string(phrase.reason)});
      }
    }
  }
  return out;
}

}  // namespace tidy
