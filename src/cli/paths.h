// Arguments that contain the path of a file on the machine that runs the command. Their type says
// so (Argument::Value).
//
// Only the command line accepts them: the admin page does not send them and does not offer commands
// that require one.
#pragma once

#include "cli/command.h"

namespace coffer::cli {

/// Whether the value leads the command to a file that it reads or writes.
constexpr bool names_place(const Argument& argument) {
  return argument.value == Argument::Value::path;
}

constexpr Argument path_positional(std::string_view help, bool required) {
  return naming(Argument::Value::path, {"FILE", help, Argument::Kind::positional, required});
}
constexpr Argument path_option(std::string_view name, std::string_view help,
                               std::string_view fallback = {}) {
  return naming(Argument::Value::path, option(name, "FILE", help, fallback));
}

/// A required file whose content is the value. The page accepts it, because it uploads the content.
constexpr Argument content_positional(std::string_view help) {
  return naming(Argument::Value::content, positional("FILE", help));
}

/// Whether a given argument names a place.
bool gives_place(const Command& command, const Arguments& arguments);
/// Whether the command requires a place.
bool requires_place(const Command& command);
/// Whether the admin page offers the command: it works on the open file, ends, and
/// requires no place.
bool is_for_the_page(const Command& command);
/// Resolves paths against the working directory of this process, because the server's may differ.
void make_paths_absolute(const Command& command, Arguments& arguments);
/// `malformed-request` for a name that SQLite or coffer uses beside the database or for incomplete
/// files: a file of the operator with that name would take its place.
Result<void> check_not_beside(const std::string& database, const std::string& path);
/// The bytes of a file of at most this size, or of standard input for `-`. As for read_contents().
Result<std::string> bytes_at(const std::string& path, std::size_t bytes_max = kContentBytesMax);
/// Replaces the names of files in content arguments with their content. This process reads the
/// files with its own user's permissions, not the server's. `malformed-request` for a file that
/// cannot be read or is too long.
Result<void> read_contents(const Command& command, Arguments& arguments);

}  // namespace coffer::cli
