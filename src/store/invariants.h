// What must always hold, as named queries that return no rows. Run after commands in tests, at
// start, hourly, and by `coffer verify`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/telemetry/progress.h"
#include "store/connection.h"

namespace coffer::store {

struct Invariant {
  std::string_view name;
  std::string_view promise;  // one sentence, for people
  const char* sql;           // first column of a row says which thing breaks it
};

std::span<const Invariant> invariants();

struct Violation {
  std::string invariant;
  std::string detail;  // the first row
};

/// Every invariant, then the hash chain and the audit log's, then (deep) SQLite's own integrity
/// check. Empty: all hold. A check that cannot read the file is a violation.
std::vector<Violation> verify(Connection& db, bool deep, const ProgressFunction& progress);

}  // namespace coffer::store
