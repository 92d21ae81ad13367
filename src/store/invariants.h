// What must always hold, as named queries that return no rows. Run after commands in tests, at
// start, hourly, and by `coffer verify`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/telemetry/progress.h"
#include "store/connection.h"

namespace coffer::store {

/// The keys of a table of which a query looks at a range, ?1 to ?2: the whole table in one
/// snapshot, or slices of it in many. What else the query reads belongs to the rows in the range,
/// so that a slice is right whatever is written between two slices.
enum class Walk {
  snapshot,  // no range, one snapshot of everything; slices check the same with queries of their
             // own
  copies,    // no range, one snapshot of everything; slices do not check it
  whole,     // no range, and few rows
  accounts,
  journal,  // entries too: those of the entry sets in the range
  payments,
  webhooks
};
/// Whether a query of this walk has the range ?1 to ?2.
bool has_range(Walk walk);

struct KeyRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
/// Entry numbers are 1,024 times as large as the keys of their sets, and fit too.
inline constexpr KeyRange kAllKeys{-(std::int64_t{1} << 52), std::int64_t{1} << 52};

struct Invariant {
  std::string_view name;
  std::string_view promise;  // one sentence, for people
  Walk walk;
  const char* sql;  // first column of a row says which thing breaks it
};

std::span<const Invariant> invariants();

/// The first row of such a query over a range, or why it cannot be read; empty: it holds.
std::string first_break(Connection& db, Walk walk, const char* sql, const KeyRange& keys);

/// The file says that it is damaged, in place of what was asked.
bool is_damage(const SqlError& error);

struct Violation {
  std::string invariant;
  std::string detail;  // the first row
};

/// Every invariant, then the hash chain and the audit log's, then (deep) SQLite's own integrity
/// check. Empty: all hold. A check that cannot read the file is a violation.
std::vector<Violation> verify(Connection& db, bool deep, const ProgressFunction& progress);

}  // namespace coffer::store
