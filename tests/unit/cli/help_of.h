// The response of a command to --help.
#pragma once

#include <map>
#include <sstream>
#include <string>

#include "cli/command_line.h"

namespace coffer::cli::test {

struct Help {
  CommandLine line;
  std::string out;
  std::string err;
};

/// Kept for later calls, because each reading of a command line builds the options of all commands.
inline const Help& help_of(const Command& command) {
  static std::map<std::string_view, Help> kept;
  const auto [found, added] = kept.try_emplace(command.path);
  Help& help = found->second;
  if (!added) return help;
  std::vector<std::string> words;
  std::istringstream path{std::string(command.path)};
  for (std::string word; path >> word;) words.push_back(word);
  words.emplace_back("--help");
  std::ostringstream out;
  std::ostringstream err;
  help.line = read_command_line(words, {out, err});
  help.out = out.str();
  help.err = err.str();
  return help;
}

}  // namespace coffer::cli::test
