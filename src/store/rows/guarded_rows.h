// Rows that grant access or direct money, such as operators, API keys, wallets and the addresses of
// providers. Each has a keyed digest in `row_macs`, which reveals rows that another program
// inserted, changed or deleted. store/rows/sealed_totals.h reveals rows that were deleted or
// replaced by an older version together with their digests. The server checks a row before it acts
// on it (require_intact), and all rows at start and hourly.
//
// Digest: HMAC-SHA256 over `table|key|` and the canonical text of the covered columns. For each
// later column that is not NULL, `|`, its number and its canonical text follow.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/digest.h"
#include "base/uuid.h"
#include "store/file/connection.h"
#include "store/rows/sealed_totals.h"

namespace coffer::store {

/// A table with such rows. Its key is its rowid, so it cannot be WITHOUT ROWID.
struct GuardedTable {
  std::string_view name;
  std::string_view columns;
  /// The covered columns never change after the insert, so updates of other columns need no new
  /// digest.
  bool final = false;
  /// Which rows are guarded, as a condition; empty: all.
  std::string_view rows = {};
  /// How many of the columns, at the end, were added by upgrades. NULL in them adds nothing to the
  /// digest, so rows from before the upgrade keep theirs.
  int later = 0;
};
std::span<const GuardedTable> guarded_tables();

/// From now on, records which guarded rows this connection changes in the file at `path`.
void note_changed_rows(Connection& writer, const std::string& path);
/// Whether note_changed_rows() was called for this connection.
bool is_writer(Connection& db);
/// Writes the digests of the changed rows. Call it before each commit. A row that did not match its
/// digest before the change is logged and keeps the old digest. Throws InternalError without keys.
void write_row_digests(Connection& writer);
/// A connection of the writer's thread that reads the rows as the last commit left them.
Connection& committed_rows(Connection& writer);
/// Gives digests to the rows that a new file has before it has keys.
void adopt_founding_rows(Connection& writer);
/// Call this after a rollback.
void forget_changed_rows(Connection& writer);

/// Another program changed a row on which coffer was about to act.
class ForeignChange : public InternalError {
 public:
  explicit ForeignChange(const std::string& what);
};
/// The number of ForeignChanges in this process. Thread-safe.
std::uint64_t foreign_changes();
/// Logs it, unless this process has already logged the same one. Thread-safe.
void log_once(const ForeignChange& change);

/// A column through whose index a row was found, and the value that was looked for; neither number
/// nor bytes: NULL. An index is not covered by digests, so the row itself must have the value.
struct FoundBy {
  FoundBy(std::string_view name, std::nullopt_t) : column(name) {}
  FoundBy(std::string_view name, std::string_view value) : column(name), bytes(value) {}
  FoundBy(std::string_view name, Blob value) : column(name), bytes(value.bytes) {}
  FoundBy(std::string_view name, const Uuid& value) : column(name), bytes(as_text(value.bytes)) {}
  template <class Tag>
  FoundBy(std::string_view name, const Id<Tag>& value) : FoundBy(name, value.uuid) {}
  FoundBy(std::string_view name, std::optional<std::int64_t> value) : column(name), number(value) {}
  template <class Number>
  requires std::integral<Number> || std::is_enum_v<Number> FoundBy(std::string_view name,
                                                                   Number value)
      : column(name), number(static_cast<std::int64_t>(value)) {}

  std::string_view column;
  std::optional<std::int64_t> number = {};
  std::optional<std::string_view> bytes = {};
};

/// Call this before acting on a row of a guarded table. Throws ForeignChange if the row does not
/// match its digest, or does not have the values by which it was found. Does nothing on a
/// connection without keys, and for a row that was not found through an index, does not exist and
/// has no digest.
void require_intact(Connection& db, std::string_view table, std::int64_t row,
                    std::initializer_list<FoundBy> found_by = {});
inline void require_intact(Connection& db, std::string_view table,
                           const std::optional<std::int64_t>& row,
                           std::initializer_list<FoundBy> found_by = {}) {
  if (row) require_intact(db, table, *row, found_by);
}

/// The same for a tenant with its association, and for a row of `meta`.
void require_intact_tenant(Connection& db, std::int64_t tenant,
                           std::initializer_list<FoundBy> association_found_by = {});
void require_intact_meta(Connection& db, std::string_view name);

/// The position of a walk through all guarded rows.
struct GuardedPosition {
  std::size_t table = 0;
  std::int64_t row = INT64_MIN;
  SealedTotal found = {};   // of the digests up to this row
  SealedTotal stored = {};  // when the walk of this table began
  int tries = 0;            // walks of this table during which its total changed
};
/// Checks at most `limit` rows after this position, and advances it. `fault` describes the first
/// row that does not match its digest; `end` is set after the last table.
struct GuardedPiece {
  std::int64_t rows = 0;
  bool end = false;
  std::string fault;
};
GuardedPiece follow_guarded_rows(Connection& db, GuardedPosition& from, std::int64_t limit);
/// Checks all guarded rows. Returns a sentence about the first invalid row, or an empty text.
/// Without the keys of the file, only checks that each row has a digest and each digest a row.
std::string verify_guarded_rows(Connection& db);

}  // namespace coffer::store
