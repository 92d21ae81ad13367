// coffer completion: the scripts with which bash, zsh and fish ask coffer for completions.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace coffer::cli {

/// The first argument with which these scripts call coffer. Not a command, so the help omits it.
inline constexpr std::string_view kCompleteArgument = "__complete";

/// Prints the completions: `:file`, or per word a line with a tab and its summary. `typed` as in
/// offers_for().
void print_offers(std::ostream& out, std::vector<std::string> typed);

}  // namespace coffer::cli
