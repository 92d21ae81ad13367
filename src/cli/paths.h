// Arguments that contain the name of a file on the machine of the command. By convention, such an
// argument is named FILE or has FILE as its placeholder; a test enforces this.
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

/// Whether a given argument is a path.
bool gives_path(const Command& command, const Arguments& arguments);
/// Whether the command requires a path.
bool requires_path(const Command& command);
/// Resolves paths against the working directory of this process, because the server has another
/// one.
void make_paths_absolute(const Command& command, Arguments& arguments);

}  // namespace coffer::cli
