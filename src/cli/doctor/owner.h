// Who has a database open, without disturbing them.
#pragma once

#include <optional>
#include <string>

namespace coffer::cli {

struct Owner {
  bool told = true;        // false: this user may not look
  bool locked = false;     // by a server or, for a moment, by a command
  int process = 0;         // 0: not known
  bool commanded = false;  // takes commands on its control socket: a server
};

/// Looks at the lock and the control socket beside `database`; makes neither.
Owner find_owner(const std::string& database);
/// The open files that `process` may have, 0 being this one; nullopt where that is not told.
std::optional<long> descriptor_limit(int process);

}  // namespace coffer::cli
