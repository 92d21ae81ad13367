// Reads CSV (RFC 4180): cells separated by commas or another character, quoted where they contain
// it, quotes or line breaks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace coffer {

struct CsvRow {
  std::size_t line = 1;  // on which the row starts, from 1
  std::vector<std::string> cells;
};

/// All rows, with LF or CRLF line ends, without blank lines. `malformed-request` with the line for
/// a quote that is not closed or is followed by text.
Result<std::vector<CsvRow>> csv_rows(std::string_view text, char separator = ',');

}  // namespace coffer
