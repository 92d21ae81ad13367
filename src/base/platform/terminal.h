// Properties of a standard stream: whether it is a terminal, its width, whether it shows colours,
// and whether its reader still exists.
#pragma once

namespace coffer {

bool is_terminal(int fd);

/// Columns of the terminal `fd`; 0 if `fd` is not a terminal. If the terminal does not report its
/// size, the value of COLUMNS, otherwise 80.
int terminal_columns(int fd);

/// Whether terminal output may have colours: not with NO_COLOR (no-color.org: set and not empty),
/// with TERM=dumb, or after forbid_colours(). Output that does not go to a terminal never has
/// colours. Thread-safe.
bool colours_allowed();
/// Disables colours for the rest of the process, for --no-color. Call it before the first
/// colours_allowed().
void forbid_colours();

/// Whether the reader of the pipe, socket or terminal `fd` has closed it. False for files.
bool reader_is_gone(int fd);

}  // namespace coffer
