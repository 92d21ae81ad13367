// Rows that grant access or direct money, such as operators, API keys, wallets and the addresses of
// providers. Each has a keyed digest in `row_macs`, so that a row which another program inserted,
// changed or deleted is found, also when it was deleted with its digest (store/sealed_totals.h).
//
// Digest: HMAC-SHA256 over `table|key|` and the canonical text of the covered columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "store/connection.h"

namespace coffer::store {

/// A table with such rows. Its key is its rowid, so it cannot be WITHOUT ROWID.
struct GuardedTable {
  const char* name;
  const char* columns;
  /// The covered columns never change after the insert. Updates of other columns then cost nothing.
  bool final = false;
};
std::span<const GuardedTable> guarded_tables();

/// From now on, notes which guarded rows this connection to the file at `path` changes.
void note_changed_rows(Connection& writer, const std::string& path);
/// Writes the digests of the changed rows; before each commit. A row that did not match its digest
/// before the change is logged and keeps that digest. Throws InternalError without keys.
void write_row_digests(Connection& writer);
/// After a rollback.
void forget_changed_rows(Connection& writer);

/// The position of a walk through all guarded rows.
struct GuardedPosition {
  std::size_t table = 0;
  std::int64_t row = INT64_MIN;
};
/// Checks at most `limit` rows after this position, and advances it. `fault` names the first row
/// that does not match its digest; `end` is set after the last table.
struct GuardedPiece {
  std::int64_t rows = 0;
  bool end = false;
  std::string fault;
};
GuardedPiece follow_guarded_rows(Connection& db, GuardedPosition& from, std::int64_t limit);
/// Checks all of them; a sentence about the first invalid row, or an empty text. Without the keys
/// of the file, only the rows and their digests are matched.
std::string verify_guarded_rows(Connection& db);

}  // namespace coffer::store
