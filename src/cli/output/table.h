// The one printer of tables: columns that line up, and that fit the terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/command_result.h"
#include "cli/output/style.h"

namespace coffer::cli {

struct Cell {
  std::string text;  // fit for a terminal: see printable()
  Shade shade = Shade::plain;
};

struct Table {
  /// How a column shrinks when the table is wider than the terminal. `text` is cut first. `exact`
  /// (numbers, times, statuses) keeps its values whole and gives up the end of its heading. `id` is
  /// cut last, and keeps its end: the start of an id is its time, which neighbours share.
  enum class Kind { text, exact, id };
  struct Column {
    std::string heading;
    Kind kind = Kind::text;
  };

  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // each as long as `columns`
};

enum class Fit { whole, cut, too_wide };

/// Prints the table to `console.out`. On a terminal it is cut to the terminal's width where that is
/// enough (`cut`); where even that is too wide it prints nothing (`too_wide`). Elsewhere it is
/// always whole.
Fit print_table(const Console& console, const Table& table);

}  // namespace coffer::cli
