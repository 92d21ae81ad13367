// argv -> the command that is meant and what it was told. The only file that sees the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace coffer::cli {

/// Either a command to run, or (`command` is nullptr) everything is said: help, version or a usage
/// error has been printed, and `exit_code` is the end.
struct CommandLine {
  const Command* command = nullptr;
  Arguments arguments;
  ConfigFlags flags;
  int exit_code = 0;
};

/// Accepted by every command. Its effect (forbid_colours()) is the caller's to take, before
/// anything is printed.
inline constexpr std::string_view kNoColor = "--no-color";

/// `arguments` without the program's name. Has no side effect but printing.
CommandLine read_command_line(const std::vector<std::string>& arguments, const Console& console);

/// What the help says about a first word that has commands below it; empty for any other.
std::string_view group_summary(std::string_view name);

}  // namespace coffer::cli
