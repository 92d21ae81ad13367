// coffer completion: scripts that let bash, zsh and fish get completions from coffer.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace coffer::cli {

/// The first argument that these scripts pass to coffer. It is not a command, so the help omits it.
inline constexpr std::string_view kCompleteArgument = "__complete";

/// Prints the completions: `:file`, or one line per word, with a tab and the word's summary.
/// `typed` is as in offers_for().
void print_offers(std::ostream& out, std::vector<std::string> typed);

}  // namespace coffer::cli
