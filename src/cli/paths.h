// Arguments that name a file of the machine the command runs on. By convention such an argument is
// called FILE or has FILE as its placeholder; a test holds every command to it.
//
// Only the command line accepts file names: the admin page does not send them and does not offer
// commands that require one. `-` is standard input or output.
#pragma once

#include "cli/command.h"

namespace coffer::cli {

constexpr bool is_path(const Argument& argument) {
  return argument.name == "FILE" || argument.placeholder == "FILE";
}

constexpr Argument path_positional(std::string_view help, bool required) {
  return {"FILE", help, Argument::Kind::positional, required};
}

/// Whether a path is among the arguments that were given.
bool gives_path(const Command& command, const Arguments& arguments);
/// Whether it cannot be run without one.
bool requires_path(const Command& command);
/// As seen from the working directory of this process: the server has another.
void make_paths_absolute(const Command& command, Arguments& arguments);

}  // namespace coffer::cli
