// The invariants of the file, as named queries that must return no rows. They run after commands in
// tests, at start, hourly, and in `coffer verify`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/telemetry/progress.h"
#include "store/file/connection.h"

namespace coffer::store {

/// The table whose keys from ?1 to ?2 a query reads, either whole in one snapshot or in slices in
/// several. Everything else that the query reads belongs to the rows in the range, so a slice stays
/// correct regardless of writes between two slices.
enum class Walk {
  snapshot,  // no range, one snapshot of everything; slices check the same with other queries
  copies,    // no range, one snapshot of everything; slices do not check it
  whole,     // no range, and few rows
  accounts,
  journal,  // also for entries: those of the entry sets in the range
  payments,
  webhooks
};
/// Whether a query of this walk has the range ?1 to ?2.
bool has_range(Walk walk);

struct KeyRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
/// Entry numbers are 1,024 times the keys of their sets and also fit.
inline constexpr KeyRange kAllKeys{-(std::int64_t{1} << 52), std::int64_t{1} << 52};

struct Invariant {
  std::string_view name;
  std::string_view promise;  // one sentence for people
  Walk walk;
  const char* sql;  // the first column of a row identifies the violation
};

std::span<const Invariant> invariants();

/// How slices check an invariant that otherwise needs one snapshot of everything.
struct SliceCheck {
  std::string_view invariant;
  Walk walk;
  const char* sql;  // as in Invariant
};
std::span<const SliceCheck> slice_checks();

/// The first row that such a query returns for a range, or the reason why it cannot be read; empty
/// if the invariant holds.
std::string first_break(Connection& db, Walk walk, const char* sql, const KeyRange& keys);

/// Why a row of `accounts` contradicts the ledger; empty if it does not. With `holds`, also
/// compares its held amount, which reads all payments in progress.
std::string account_fault(Connection& db, std::int64_t account, bool holds);

/// Whether the error means that the file is damaged.
bool is_damage(const SqlError& error);

struct Violation {
  std::string invariant;
  std::string detail;  // the first row
};

/// Checks every invariant, the hash chain of the journal and of the audit log, and (if deep)
/// SQLite's own integrity check. Returns an empty list if all hold. A check that cannot read the
/// file is a violation. `others` are further connections to a file that does not change, with its
/// keys: each has a thread that shares the work. Rethrows what `progress` throws, which is called
/// on the calling thread.
using Connections = std::vector<std::unique_ptr<Connection>>;
std::vector<Violation> verify(Connection& db, bool deep, const ProgressFunction& progress,
                              const Connections& others = {});

}  // namespace coffer::store
