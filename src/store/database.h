// The SQLite database: opens the file safely and leases connections that read it.
//
// Protections against corruption: a fixed SQLite version, a lock file and a lock of the database
// against a second process, no network file systems, a single connection that writes and
// checkpoints (in the commit queue), and readers that are `query_only` and limited in time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/file/connection.h"
#include "store/file/held_file.h"
#include "store/file/lock_file.h"
#include "store/file/reader_pools.h"

namespace coffer::store {

class Leader;        // store/replication/leader.h
struct Replication;  // store/replication/joining.h

/// Called when `holder` has locked the file: waits and returns true to try again, or returns false.
/// An empty function does not wait.
using LockWait = std::function<bool(const LockState& holder)>;

struct DatabaseOptions {
  std::string path;
  std::string link = {};     // the symbolic link by which the path was given; empty if none
  std::string command = {};  // that opens the file, for the lock file; empty: a server
  LockWait waits = {};
  int readers = 4;  // of the pool `read`
  bool allow_network_filesystem = false;
  bool creates = true;            // a database that does not exist or is empty
  int reader_wait_ms = 2'000;     // waiting time for a free reader; beyond: `overloaded`
  int reader_age_max_ms = 2'000;  // after this time, the reader's statement is interrupted
  const Replication* replication = nullptr;  // of this ledger; nullptr: the file stands alone
  bool leaves_log = false;  // the file of a replicated ledger stands alone from now on
  // Of the Database in this process that follows a log with this file: opens readers beside it, and
  // no writer. Such a Database cannot be changed (CommitQueueOptions::rejects).
  const HeldFile* beside = nullptr;
};

/// The kind of failure, for the exit code of the command line (docs/contract.md#command-line).
enum class OpenFault {
  none,
  cannot_create,
  permission,
  full_disk,
  locked,
  newer_schema,
  corrupt,
  unsupported,
  missing  // the database, which may not be created
};

struct OpenError {
  OpenFault fault = OpenFault::none;
  std::string message;  // what failed, where, and what to do; for the operator, contains paths
};

class Database {
 public:
  /// Takes the lock file, opens or creates the file (mode 0600 in a 0700 directory), upgrades its
  /// schema and opens the readers. Returns nullptr and fills `error` on failure.
  static std::unique_ptr<Database> open(const DatabaseOptions& options, const Clock& clock,
                                        OpenError& error);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// A reader from the pool of the calling thread (ReadersScope). `overloaded` if none becomes free
  /// in time.
  Result<Reader> reader() { return readers_->take(); }
  /// Gives the readers the keys of the file, with which they check rows before coffer acts on them.
  void use_keys(MakeKeys keys) { readers_->use_keys(std::move(keys)); }
  /// Interrupts readers older than the limit. Housekeeping calls it several times per second.
  void interrupt_stale_readers() { readers_->interrupt_stale(); }
  /// Closes readers that were not used for 10 s (ReaderPools::close_idle); returns their number.
  int close_idle_readers() { return readers_->close_idle(); }

  /// Increases with each commit that changes associations or applications. Caches of identities
  /// compare it at every use.
  std::uint64_t tenancy_generation() const { return tenancy_generation_.load(); }
  /// Entries of a log have changed the file beside this object. Thread-safe.
  void note_followed() { ++tenancy_generation_; }

  /// Removes a new database when this object is destroyed; a file that was empty is empty again.
  /// For one that cannot be set up, which would otherwise block its creation.
  void discard() { is_discarded_ = true; }

  /// Whether the path still leads to the open file. The writer and new readers stop while it does
  /// not. Thread-safe.
  bool in_place() const { return held_->in_place(); }
  /// Logs when the file is moved away, deleted or replaced, and when it is back. Call it regularly
  /// from one thread.
  void watch_place();

  /// nullptr if no other machine has the log of this file.
  Leader* leader() const;

  const std::string& path() const { return options_.path; }
  /// Free bytes in the file system that this process may use.
  std::uint64_t free_bytes() const;
  /// Current sizes of the file and of its write-ahead log.
  std::uint64_t file_bytes() const;
  std::uint64_t wal_bytes() const;
  /// In the order of the pools.
  std::vector<ReaderStats> reader_stats() const { return readers_->stats(); }

 private:
  friend class CommitQueue;
  explicit Database(DatabaseOptions options, const Clock& clock);
  OpenError take_lock();
  OpenError miss_nothing();
  OpenError hold_file();
  OpenError join_log();
  OpenError open_writer();
  OpenError open_beside();
  OpenError open_readers();

  const DatabaseOptions options_;
  const Clock& clock_;
  std::unique_ptr<LockFile> lock_;
  std::unique_ptr<HeldFile> file_;
  const HeldFile* held_ = nullptr;  // `file_`, or that of the Database beside this one
  bool is_discarded_ = false;
  bool was_in_place_ = true;            // the state that watch_place() last logged
  std::unique_ptr<Leader> leader_;      // null without a log
  std::unique_ptr<Connection> writer_;  // only for the commit queue's thread
  std::atomic<std::uint64_t> tenancy_generation_{1};
  std::unique_ptr<ReaderPools> readers_;
};

/// Why Database::open would reject the file, found by its own checks without changing or locking
/// anything. Only for a file that no process has open.
OpenError why_not_opened(const DatabaseOptions& options);

/// Runs `read` on a leased reader. `read` returns a value or a Result. If its statement took too
/// long and was interrupted, the result is `overloaded`.
template <class F>
auto with_reader(Database& database, F&& read) -> AsResult<std::invoke_result_t<F, Connection&>> {
  COFFER_TRY(const Reader lease, database.reader());
  try {
    return read(lease.db());
  } catch (const SqlError& error) {
    constexpr int kInterrupt = 9;  // SQLITE_INTERRUPT
    if (error.primary_code != kInterrupt) throw;
    return unexpected(overloaded("The query took too long; narrow its range."));
  }
}

}  // namespace coffer::store
