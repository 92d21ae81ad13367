// Where a file stands in the log of its ledger: a row in every commit.
#pragma once

#include <optional>

#include "store/replication/entry.h"

namespace coffer::store {

class Connection;

/// The entry that the last commit of a file is, or the first of several, and the digest of the
/// entry before it.
struct FilePosition {
  LogPosition at;
  Sha256 before{};
  bool operator==(const FilePosition&) const = default;
};

/// nullopt if no commit of the file is part of a log.
std::optional<FilePosition> read_position(Connection& db);
void write_position(Connection& db, const FilePosition& position);
/// The same for a file that no process has open; also nullopt without a file. With the log that a
/// killed process left. Throws SqlError.
std::optional<FilePosition> read_closed_position(const std::string& path);

/// Cuts the last commit off the log (WAL) of a file that no process has open. Returns false if the
/// log does not contain a commit; it is then unchanged. A Problem is for the operator.
Result<bool> cut_last_commit(const std::string& path);

}  // namespace coffer::store
