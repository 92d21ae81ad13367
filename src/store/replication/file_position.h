// Where a file stands in the log of its ledger: a row in every commit.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/files/descriptor.h"
#include "store/replication/entry.h"

namespace coffer::store {

class Connection;

/// The entry that the last commit of a file is, or the first of several, and the digest of the
/// entry before it.
struct FilePosition {
  LogPosition at;
  Sha256 before{};
  bool alone = false;  // no other machine has the log, which only goes to an archive
  bool operator==(const FilePosition&) const = default;
};

/// nullopt if the last commit of the file is not part of a log.
std::optional<FilePosition> read_position(Connection& db);
void write_position(Connection& db, const FilePosition& position);
/// The file gets commits that no log has. Not for one whose log other machines have.
void leave_alone_log(Connection& db);
/// The file at `path` is not part of a log any more. Also removes its LoggedMark, which would speak
/// of the entries of another log.
void forget_position(Connection& db, const std::string& path);
/// Remembers `seq`, the present end of the log, in the file, unless an end was remembered in the
/// last `keep_ms`. Returns the one before, and zero without one: entries before it are older than
/// `keep_ms`, so that no machine needs them. Every machine of the ledger has what it remembers.
std::int64_t remember_end(Connection& db, std::int64_t seq, Timestamp now, std::int64_t keep_ms);
/// The position of a file that no process has open; also nullopt without a file. With the log that
/// a killed process left. Throws SqlError.
std::optional<FilePosition> read_closed_position(const std::string& path);
/// The same if other machines share the log.
std::optional<FilePosition> read_shared_position(const std::string& path);

/// Remembers beside a file (NAME.logged) up to where the log has had its commits, so that none of
/// them is ever cut off, even if the engine has lost it. Only its creation is synchronised: what it
/// says survives the process, but not a power cut. After that, it would matter only if the engine
/// had also lost an entry that it acknowledged, and otherwise the log itself says which commits it
/// has; synchronising it would add a write to the disk to every commit. Not thread-safe.
class LoggedMark {
 public:
  explicit LoggedMark(const std::string& path);
  ~LoggedMark() = default;
  /// `commit`: the position of the last commit in the file.
  void note(const LogTail& tail, const LogPosition& commit = {}) const;
  bool covers(const LogPosition& at) const;
  /// The end of the log, if the file was in this position then.
  std::optional<LogTail> tail_at(const LogPosition& commit) const;
  /// Remembers that this process leads in the epoch.
  void claim(std::int64_t epoch) const;
  /// Whether a process with this mark, and not with a copy of it, has led in the epoch since the
  /// machine was started. It has ended if this one has locked the file of the mark. False where the
  /// system does not tell one start from the next.
  bool has_claimed(std::int64_t epoch) const;

 private:
  std::string read() const;

  const Descriptor file_;
  const std::string identity_;  // of the file and this start of the machine
};

/// Cuts the last commit off the log (WAL) of a file that no process has open. Returns false if the
/// log does not contain a commit; it is then unchanged. A Problem is for the operator.
Result<bool> cut_last_commit(const std::string& path);

}  // namespace coffer::store
