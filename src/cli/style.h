// Colours on a terminal: their codes, and the colour of each status. colours_allowed()
// (base/platform/terminal.h) decides whether colours are used; Console::shades_*() apply it to a
// stream.
#pragma once

#include <string>
#include <string_view>

namespace coffer::cli {

enum class Shade { plain, bold, green, yellow, red };

/// `text` in the colour, or unchanged without `colour`. Empty text stays empty.
std::string shaded(Shade shade, std::string_view text, bool colour);

/// The colour of a status, state, health or result word: green for success, yellow for waiting or
/// attention, red for failure or stopped. Unknown words have no colour.
Shade shade_of_status(std::string_view word);

}  // namespace coffer::cli
