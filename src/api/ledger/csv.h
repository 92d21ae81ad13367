// A text as a cell of a CSV file (RFC 4180).
#pragma once

#include <string>

namespace coffer::api {

/// Quotes the text if necessary. A text that a spreadsheet could interpret as a formula, also
/// behind blanks and invisible characters or with full-width signs, gets a leading apostrophe. Use
/// it for texts from outside; amounts come from coffer and keep their sign.
std::string csv_cell(const std::string& text);

}  // namespace coffer::api
