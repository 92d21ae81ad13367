// How a machine joins the log with the file that it has: up to its end, and then as its leader.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/random.h"
#include "store/replication/leader.h"
#include "store/replication/replica_log.h"

namespace coffer::store {

/// What a replicated database needs. All references must outlive it.
struct Replication {
  ReplicaLog& log;
  const EntryKeys& keys;
  Random& random;
  std::string address;  // where other machines send clients
  LeaderOptions leader;
};

/// Brings a file that no process has open, or that does not exist, to the end of the log. Returns
/// the end. The last commit of the file is cut off if the log does not contain all of it: the
/// process ended before it was acknowledged.
///
/// A Problem is for the operator; the file then has not lost a commit that may be acknowledged:
/// `conflict` if the log and the file have gone apart, or the file is not part of this log;
/// `not-found` if the log no longer has what the file needs next; others from the log and the file.
/// Throws SqlError.
Result<LogTail> catch_up(const std::string& path, ReplicaLog& log, const EntryKeys& keys);

/// Makes this machine the leader by appending a takeover after `tail`, which catch_up() returned.
/// Returns the new end of the log. `address`: where other machines send clients. `is_complete`: the
/// log contains everything that the file contains; it matters for the first entry only. `conflict`
/// if another machine was faster; other Problems if it is not known who leads.
Result<LogTail> take_over(ReplicaLog& log, const EntryKeys& keys, Random& random,
                          const LogTail& tail, std::string_view address, bool is_complete);

/// Both, for a machine that leads from now on.
Result<std::unique_ptr<Leader>> lead(const std::string& path, const Replication& with);

/// Whether the file is part of a log. Without it, its commits would be missing on other machines.
bool needs_log(Connection& db);
/// Then why it cannot be opened, after its path.
inline constexpr const char* kNeedsLog =
    " belongs to a replicated ledger, and its log is not configured.";

}  // namespace coffer::store
