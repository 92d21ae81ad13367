// Parses argv into a command and its arguments. The only file that uses the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace coffer::cli {

/// The command to run. If help, the version or a usage error was printed, `command` is nullptr and
/// `exit_code` is final.
struct CommandLine {
  const Command* command = nullptr;
  Arguments arguments;
  ConfigFlags flags;
  int exit_code = 0;
};

/// Accepted by every command. The caller applies it (forbid_colours()) before anything is printed.
inline constexpr std::string_view kNoColor = "--no-color";

/// `arguments` excludes the program's name. Has no side effect except printing.
CommandLine read_command_line(const std::vector<std::string>& arguments, const Console& console);

/// The help text of a first word with subcommands; empty for any other word.
std::string_view group_summary(std::string_view name);

}  // namespace coffer::cli
