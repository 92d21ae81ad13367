// A text as a cell of a CSV file (RFC 4180).
#pragma once

#include <string>

namespace coffer::api {

/// Quotes the text if necessary. A text that a spreadsheet could interpret as a formula gets a
/// leading apostrophe, even if blanks or invisible characters precede the sign, or the sign is
/// full-width. Use it for text from outside; amounts come from coffer and keep their sign.
std::string csv_cell(const std::string& text);

}  // namespace coffer::api
