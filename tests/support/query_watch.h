// Records every statement that SQLite runs in this process during the object's lifetime: its plan,
// and its cost in steps of SQLite's virtual machine, which do not depend on the machine or its
// load.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/file/connection.h"

namespace coffer::test {

class QueryWatch {
 public:
  /// Watches connections opened from now on. One at a time.
  QueryWatch();
  ~QueryWatch();
  QueryWatch(const QueryWatch&) = delete;
  QueryWatch& operator=(const QueryWatch&) = delete;

  /// Steps of each statement since the last call, by its text.
  std::map<std::string, std::int64_t> take();
};

std::int64_t steps_of(const std::map<std::string, std::int64_t>& statements);

/// The faults in the plan of a statement: it reads a whole table or index, or sorts. `small` lists
/// tables, by name or alias, to which only an operator adds rows.
std::vector<std::string> plan_faults(store::Connection& db, const std::string& sql,
                                     const std::vector<std::string>& small);

}  // namespace coffer::test
