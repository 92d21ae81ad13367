// A cell of a CSV export: an RFC 4180 parser gets the text back, and a spreadsheet never sees a
// formula.
#include "api/ledger/csv.h"

#include <optional>
#include <vector>

#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

/// The cells of one line, parsed strictly; nullopt if the text is not exactly one line.
std::optional<std::vector<std::string>> read_line(std::string_view line) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 0; i < line.size();) {
    if (line[i] == '"') {
      for (++i;; ++i) {
        if (i == line.size()) return std::nullopt;
        if (line[i] == '"' && (++i == line.size() || line[i] != '"')) break;
        cells.back() += line[i];
      }
      if (i != line.size() && line[i] != ',') return std::nullopt;
    } else if (line[i] == ',') {
      cells.emplace_back();
      ++i;
    } else if (line[i] == '\r' || line[i] == '\n') {
      return std::nullopt;
    } else {
      cells.back() += line[i++];
    }
  }
  return cells;
}

void check(const std::string& text) {
  const auto cells = read_line("1," + api::csv_cell(text) + ",3");
  HOLDS(cells && cells->size() == 3 && cells->front() == "1" && cells->back() == "3");
  const std::string& cell = (*cells)[1];
  HOLDS(cell == text || cell == "'" + text);
  HOLDS(cell.empty() || std::string_view("=+-@\t\r").find(cell[0]) == std::string_view::npos);
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(std::string(coffer::fuzz::text_of(data, size)));
  return 0;
}
