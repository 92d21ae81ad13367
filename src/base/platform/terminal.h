// What is at the other end of a standard stream: a terminal, its width, whether it shows colours,
// and whether anybody still reads.
#pragma once

namespace coffer {

bool is_terminal(int fd);

/// Columns of the terminal `fd`; 0 when `fd` is no terminal. A terminal that does not tell its size
/// has what COLUMNS says, else 80.
int terminal_columns(int fd);

/// Whether text on a terminal may have colours: not with NO_COLOR (no-color.org: set and not
/// empty), not with TERM=dumb, not after forbid_colours(). The only decision about colours; what is
/// no terminal never gets any. Any thread.
bool colours_allowed();
/// For the rest of the process, as --no-color asks. Before the first colours_allowed().
void forbid_colours();

/// Whether the reader of the pipe, socket or terminal `fd` has closed it. False for files.
bool reader_is_gone(int fd);

}  // namespace coffer
