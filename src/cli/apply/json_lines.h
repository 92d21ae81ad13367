// The line of a member in a JSON text, for messages about a file that a person wrote.
#pragma once

#include <cstddef>
#include <string_view>

namespace coffer::cli {

/// The line, from 1, of the value at `path`, such as `wallets[3].metadata.lastName`; of the last
/// one if the member is repeated. If the path does not exist, the line of its deepest part that
/// does. `text` must be valid JSON up to there.
std::size_t line_of(std::string_view text, std::string_view path);

}  // namespace coffer::cli
