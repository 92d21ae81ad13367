// How a machine joins the log with the file that it has: as a follower, and as the leader when no
// other machine leads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "store/replication/leader.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

class HeldFile;  // store/file/held_file.h

/// What a follower reports in each round.
struct Following {
  LogPosition at;               // up to where its file has the log
  std::string leader;           // its address; empty if unknown
  std::int64_t idle_ms = 0;     // since the log has grown
  std::int64_t current_ms = 0;  // boot_ms() when the file had everything that the log had; 0: never
  // Set by a Database, for reading beside it, which has to end when this is null.
  const HeldFile* file = nullptr;
};
/// A follower whose file was current less than this time ago is up to date.
constexpr std::int64_t kLagMaxMs = 3'000;

enum class FollowNext {
  follow,  // until no other machine leads
  lead,    // also if another machine leads; this one waits until that one may not act any more
  stop
};

/// What a replicated database needs. All references must outlive it.
struct Replication {
  ReplicaLog& log;
  const EntryKeys& keys;
  Random& random;
  LeaderOptions leader;
  /// If the log has not grown for this time, its leader may not act any more, and this machine
  /// leads. Longer than a lease, in which the leader makes the log grow.
  std::int64_t patience_ms = kLeaseMs + 1'000;
  std::int64_t poll_ms = 50;
  /// Called in each round.
  std::function<FollowNext(const Following&)> follow = [](const Following&) {
    return FollowNext::follow;
  };
};

/// Follows the log with a file that no process has open, until this machine becomes the leader.
/// Fails with the problems of a Follower, with that of `may_lead`, which is asked before the
/// takeover, and with `overloaded` when told to stop. Throws SqlError.
Result<std::unique_ptr<Leader>> lead(
    const std::string& path, const Replication& with,
    const std::function<Result<void>()>& may_lead = [] { return Result<void>(); });

/// Begins a log that no other machine has, with a file that no process has open. It continues the
/// last log of the file, unless commits may be missing in that. Throws SqlError.
std::unique_ptr<Leader> lead_alone(const std::string& path, const Replication& with);

/// Whether the file is part of a shared log. Without it, its commits would be missing on other
/// machines.
bool needs_log(Connection& db);
/// Then why it cannot be opened, after its path.
inline constexpr const char* kNeedsLog =
    " belongs to a replicated ledger, and its log is not configured. Set --replicate.";

}  // namespace coffer::store
