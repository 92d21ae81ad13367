// A machine that follows the leader of its ledger with a file of its own.
#pragma once

#include <memory>
#include <string>

#include "store/replication/file_position.h"
#include "store/replication/follower_file.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

/// Not thread-safe. Problems are for the operator. These mean that this file cannot follow any
/// more: `conflict` if the log and the file have gone apart, or the file is not part of this log;
/// `not-found` if the log no longer has what the file needs next; `validation-failed` if an entry
/// or the file is damaged. Others mean that the log cannot be read now.
class Follower {
 public:
  /// With a file that no other connection has open, or that does not exist. Cuts the last commit of
  /// the file off if the log does not contain all of it: the process ended before it was
  /// acknowledged. If it returns a Problem, the file has lost no commit that may be acknowledged.
  /// The references must outlive the follower. Throws SqlError, like step().
  static Result<std::unique_ptr<Follower>> join(const std::string& path, ReplicaLog& log,
                                                const EntryKeys& keys);

  /// Applies the next entries, if there are some. Returns whether there were.
  Result<bool> step();
  /// `conflict` if the file has more than the log, which an engine may have lost. The log refuses a
  /// takeover after that.
  Result<void> check_end();
  /// Up to where the file has the log.
  const LogTail& tail() const { return chain_.tail(); }
  /// Whether the leader at the end of the file was a process with this file, which has ended.
  bool was_leader() const { return mark_.has_claimed(tail().at.epoch); }
  /// The address of the leader, as its last takeover or heartbeat said; empty if unknown.
  const std::string& leader() const { return leader_; }

 private:
  Follower(const std::string& path, ReplicaLog& log, EntryChain chain)
      : path_(path), log_(log), chain_(chain), mark_(path), file_(path) {
    mark_.note(chain_.tail());
  }

  const std::string path_;
  ReplicaLog& log_;
  EntryChain chain_;
  const LoggedMark mark_;
  FollowerFile file_;
  std::string leader_;
};

/// Whether a machine can begin with this file, a backup of the leader's. Problems say why not.
Result<void> check_seed(const std::string& path, ReplicaLog& log, const EntryKeys& keys);

/// The content of a takeover. `is_complete`: the log contains everything that the file contains,
/// so another machine can begin without a copy; it matters for the first entry only.
std::string takeover_content(bool is_complete, const std::string& address);

}  // namespace coffer::store
