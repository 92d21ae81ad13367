// Errors of a command line in coffer's own words instead of the parser's.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace coffer {

/// The last command or group on the parsed line, or `root`.
const CLI::App& named_command(const CLI::App& root);
/// The full path of a command for messages, such as `coffer rate set`.
std::string command_path(const CLI::App& command);
/// Adds the help to read: `...; see coffer rate set --help`. `what` is a clause, or ends with a
/// question.
std::string with_help(const std::string& what, const CLI::App& command);
/// A clause about a word that is neither a command below `at` nor an argument.
std::string unexpected_word(const CLI::App& at, const std::string& word);

/// Rejects `--json=no`, which would be a second way to write a flag.
void take_no_value(CLI::Option& flag);

/// The message about an error of the parser: the argument, what is permitted, the help to read. An
/// unknown argument comes first, because a missing argument is often a misspelled one.
std::string usage_error(const CLI::App& root, const CLI::ParseError& error);
/// The same for a line that asks for the help of a command that does not exist; otherwise empty.
std::string unknown_command(const CLI::App& root);

}  // namespace coffer
