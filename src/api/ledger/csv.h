// Text as a cell of a CSV file (RFC 4180).
#pragma once

#include <string>

namespace coffer::api {

/// Quoted where it has to be. Spreadsheets run a cell that starts like a formula: such text gets an
/// apostrophe in front. For text of others; amounts are ours and keep their sign.
std::string csv_cell(const std::string& text);

}  // namespace coffer::api
