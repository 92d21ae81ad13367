// The command line as a shell completes it: made from the table of commands and the table of
// options.
#pragma once

#include <string>
#include <vector>

namespace coffer::cli {

/// What may stand after an option, or as a positional.
struct Completed {
  enum class Kind { nothing, words, file, text };  // nothing: a switch

  std::string name;  // of an option with its `--`
  std::string help;
  Kind kind = Kind::text;
  std::vector<std::string> words = {};
};

struct CompletedCommand {
  std::vector<std::string> path;  // one word or two
  std::string summary;
  std::vector<Completed> positionals;
  std::vector<Completed> options;  // with --json, --help and the settings
};

struct CompletedWord {
  std::string word;
  std::string summary;
};

/// In the order of the table.
std::vector<CompletedCommand> completed_commands();
/// What may stand first: commands, and words that have commands below them.
std::vector<CompletedWord> first_words();
/// What may stand after such a word; empty for a command.
std::vector<CompletedWord> words_below(const std::string& first);

}  // namespace coffer::cli
