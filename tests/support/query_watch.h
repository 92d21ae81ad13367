// Every statement that SQLite runs in this process while it lives: its plan, and what it costs in
// steps of SQLite's virtual machine, which do not depend on the machine or on what else runs there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/connection.h"

namespace coffer::test {

class QueryWatch {
 public:
  /// Watches connections that are opened from now on. One at a time.
  QueryWatch();
  ~QueryWatch();
  QueryWatch(const QueryWatch&) = delete;
  QueryWatch& operator=(const QueryWatch&) = delete;

  /// Steps of each statement that was run since the last call, by its text.
  std::map<std::string, std::int64_t> take();
};

std::int64_t steps_of(const std::map<std::string, std::int64_t>& statements);

/// What is wrong with the plan of a statement: it reads a table or an index from its beginning to
/// its end, or sorts. `small`: tables, by name or alias, that only an operator adds rows to.
std::vector<std::string> plan_faults(store::Connection& db, const std::string& sql,
                                     const std::vector<std::string>& small);

}  // namespace coffer::test
