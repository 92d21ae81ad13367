// Colours on a terminal: their codes, and the colour of each status. Whether there are colours at
// all is decided by colours_allowed() (base/platform/terminal.h); Console::shades_*() apply it to a
// stream.
#pragma once

#include <string>
#include <string_view>

namespace coffer::cli {

enum class Shade { plain, bold, green, yellow, red };

/// `text` in the colour, or as it is without `colour`. Nothing is added to empty text.
std::string shaded(Shade shade, std::string_view text, bool colour);

/// Of a word that a status, state, health or result has: green for what is well, yellow for what
/// waits or needs attention, red for what failed or is stopped. Plain for a word it does not know.
Shade shade_of_status(std::string_view word);

}  // namespace coffer::cli
