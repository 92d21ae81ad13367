// Prints tables with aligned columns that fit the terminal, and statuses in colours.
// colours_allowed() (base/platform/terminal.h) decides whether colours are used;
// Console::shades_*() apply it to a stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_result.h"

namespace coffer::cli {

enum class Shade { plain, bold, green, yellow, red };

/// `text` in the colour, or unchanged without `colour`. Empty text stays empty.
std::string shaded(Shade shade, std::string_view text, bool colour);

/// The colour of a status, state, health or result word: green for success, yellow for waiting or
/// attention, red for failure or stopped. Unknown words have no colour.
Shade shade_of_status(std::string_view word);

struct Cell {
  std::string text;  // suitable for a terminal: see printable()
  Shade shade = Shade::plain;
};

struct Table {
  /// How a column shrinks if the table is wider than the terminal. `text` is cut first. `exact`
  /// (numbers, times, statuses) keeps its values and cuts only its heading. `id` is cut last and
  /// keeps its end, because the start of an ID is its time, which adjacent IDs share.
  /// `key` is the name of the row: an ID beside it is cut first, and the name only beyond 40
  /// columns.
  enum class Kind { text, exact, key, id };
  struct Column {
    std::string heading;
    Kind kind = Kind::text;
  };

  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
};

enum class Fit { whole, cut, too_wide };

/// Prints the table to `console.out`. On a terminal, columns are cut to the terminal's width
/// (`cut`); if that does not suffice, nothing is printed (`too_wide`). Otherwise the table is
/// always complete.
Fit print_table(const Console& console, const Table& table);

}  // namespace coffer::cli
