// coffer completion: the few lines that let bash, zsh and fish ask coffer what may stand at the
// cursor.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace coffer::cli {

/// The first argument with which those lines call coffer. Not a command: it is in no help.
inline constexpr std::string_view kCompleteArgument = "__complete";

/// Prints what may stand at the cursor: `:file`, or a line for each word with a tab and its
/// summary. `typed` as in offers_for().
void print_offers(std::ostream& out, std::vector<std::string> typed);

}  // namespace coffer::cli
