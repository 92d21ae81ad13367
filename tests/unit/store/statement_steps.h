// The cost of statements in steps of SQLite's virtual machine, which is equal on every machine.
#pragma once

#include <sqlite3.h>

#include <cstdint>

#include "store/file/connection.h"

namespace coffer::store::test {

/// All statements of a connection so far.
inline std::int64_t steps_so_far(const Connection& db) {
  std::int64_t out = 0;
  auto* const handle = static_cast<sqlite3*>(db.handle());
  for (sqlite3_stmt* at = sqlite3_next_stmt(handle, nullptr); at != nullptr;
       at = sqlite3_next_stmt(handle, at)) {
    out += sqlite3_stmt_status(at, SQLITE_STMTSTATUS_VM_STEP, 0);
  }
  return out;
}

}  // namespace coffer::store::test
