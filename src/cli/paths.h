// Arguments that contain the path of a file on the machine that runs the command. By convention,
// such an argument is named FILE or has FILE as its placeholder; a test enforces this.
//
// Only the command line accepts file names: the admin page does not send them and does not offer
// commands that require one. `-` is standard input or output.
#pragma once

#include "cli/command.h"

namespace coffer::cli {

constexpr bool is_path(const Argument& argument) {
  return !argument.content && (argument.name == "FILE" || argument.placeholder == "FILE");
}

constexpr Argument path_positional(std::string_view help, bool required) {
  return {"FILE", help, Argument::Kind::positional, required};
}

/// A required file whose content is the value. The page accepts it, because it uploads the content.
constexpr Argument content_positional(std::string_view help) {
  Argument argument{"FILE", help, Argument::Kind::positional, true};
  argument.content = true;
  return argument;
}

/// Whether a given argument is a path.
bool gives_path(const Command& command, const Arguments& arguments);
/// Whether the command requires a path.
bool requires_path(const Command& command);
/// Resolves paths against the working directory of this process, because the server's may differ.
void make_paths_absolute(const Command& command, Arguments& arguments);
/// `malformed-request` for a name that SQLite or coffer uses beside the database or for incomplete
/// files: a file of the operator with that name would take its place.
Result<void> check_not_beside(const std::string& database, const std::string& path);
/// Replaces the names of files in content arguments with their content. This process reads the
/// files with its own user's permissions, not the server's. `malformed-request` for a file that
/// cannot be read or is too long.
Result<void> read_contents(const Command& command, Arguments& arguments);

}  // namespace coffer::cli
