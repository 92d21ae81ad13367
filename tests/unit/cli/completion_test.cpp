#include "cli/shell/completion.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <sstream>

#include "cli/command_line.h"
#include "cli/exit_code.h"
#include "cli/shell/words.h"

using namespace coffer;
using namespace coffer::cli;

namespace {

std::string help_of(std::vector<std::string> path) {
  std::ostringstream out;
  std::ostringstream err;
  path.push_back("--help");
  read_command_line(path, {out, err});
  return out.str();
}

}  // namespace

TEST_CASE("every command and every option of its help is completed", "[cli]") {
  const auto all = completed_commands();
  REQUIRE(all.size() == commands().size());
  for (const CompletedCommand& command : all) {
    const std::string help = help_of(command.path);
    for (const Completed& option : command.options) {
      INFO(command.path.back() << " " << option.name);
      CHECK(help.find(option.name) != std::string::npos);
    }
    // And the other way round: whatever the help calls an option.
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      const auto at = line.find("--");
      if (at == std::string::npos || line.find_first_not_of(" -h,") < at || at > 6) continue;
      const std::string name = line.substr(at, line.find_first_of(" ,=\n", at) - at);
      INFO(line);
      CHECK(std::any_of(command.options.begin(), command.options.end(),
                        [&](const Completed& option) { return option.name == name; }));
    }
  }
}

TEST_CASE("every first word says what it is about", "[cli]") {
  for (const CompletedWord& word : first_words()) {
    INFO(word.word);
    CHECK_FALSE(word.summary.empty());
  }
}

TEST_CASE("the scripts know every command", "[cli]") {
  for (const std::string& script : {bash_completion(), zsh_completion(), fish_completion()}) {
    for (const Command& command : commands()) {
      INFO(command.path);
      CHECK(script.find(command.path.substr(command.path.rfind(' ') + 1)) != std::string::npos);
    }
  }
}

TEST_CASE("a shell that is none of the three", "[cli]") {
  std::ostringstream out;
  std::ostringstream err;
  const CommandLine line = read_command_line({"completion", "csh"}, {out, err});
  CHECK(line.command == nullptr);
  CHECK(line.exit_code == exit_code::kUsage);
  CHECK(err.str().find("bash|zsh|fish") != std::string::npos);
}
