// The one SQLite file: opening it safely, and leasing connections that read it.
//
// Rules that keep it whole: a fixed SQLite version, a lock file
// against a second process, no network file system, one connection that writes and checkpoints (the
// commit queue's), readers that are `query_only` and never stay long.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "store/connection.h"
#include "store/file/reader_pools.h"

namespace coffer::store {

struct DatabaseOptions {
  std::string path;
  int readers = 4;  // of the pool `read`
  bool allow_network_filesystem = false;
  int reader_wait_ms = 2'000;     // for a free reader; then `overloaded`
  int reader_age_max_ms = 2'000;  // then its statement is interrupted
};

/// How opening failed, for the exit code of the command line (docs/contract.md#command-line).
enum class OpenFault {
  none,
  cannot_create,
  permission,
  locked,
  newer_schema,
  corrupt,
  unsupported
};

struct OpenError {
  OpenFault fault = OpenFault::none;
  std::string message;  // what, where, what to do; for the operator, holds paths
};

class Database {
 public:
  /// Takes the lock file, opens or creates the file (0600 in a 0700 directory), brings its schema
  /// up to date and opens the readers. On a fault returns nullptr and fills `error`.
  static std::unique_ptr<Database> open(const DatabaseOptions& options, const Clock& clock,
                                        OpenError& error);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// A reader of the pool that the calling thread works for (ReadersScope). `overloaded` when none
  /// comes free in time.
  Result<Reader> reader() { return readers_->take(); }
  /// Interrupts readers older than the limit; housekeeping calls it several times a second.
  void interrupt_stale_readers() { readers_->interrupt_stale(); }

  /// Rises whenever tenancy data (associations, applications) changed and is committed; whoever
  /// caches an identity compares it at every use.
  std::uint64_t tenancy_generation() const { return tenancy_generation_.load(); }

  const std::string& path() const { return options_.path; }
  /// Bytes the file system still offers to this process.
  std::uint64_t free_bytes() const;
  /// Present size of the file, and of the write-ahead log beside it.
  std::uint64_t file_bytes() const;
  std::uint64_t wal_bytes() const;
  /// In the order of the pools.
  std::vector<ReaderStats> reader_stats() const { return readers_->stats(); }

 private:
  friend class CommitQueue;
  explicit Database(DatabaseOptions options, const Clock& clock);
  OpenError take_lock();
  /// That an empty ledger does not take the place of one that was lost: clients would repeat their
  /// payments, and all would be new.
  OpenError miss_nothing();
  std::string read_lock_file() const;
  /// Our process, and whether there is a ledger; false with errno when it cannot be written.
  bool write_lock_file(bool ledger) const;
  OpenError open_writer();
  OpenError open_readers();

  const DatabaseOptions options_;
  const Clock& clock_;
  int lock_fd_ = -1;
  bool had_ledger_ = false;             // as the lock file says; owned by `open`
  std::unique_ptr<Connection> writer_;  // used by the commit queue's thread only
  std::atomic<std::uint64_t> tenancy_generation_{1};
  std::unique_ptr<ReaderPools> readers_;
};

/// Runs `read` on a leased reader; a statement that was interrupted for taking too long becomes
/// `overloaded`. `read` returns a Result.
template <class F>
auto with_reader(Database& database, F&& read) -> decltype(read(std::declval<Connection&>())) {
  COFFER_TRY(const Reader lease, database.reader());
  try {
    return read(lease.db());
  } catch (const SqlError& error) {
    constexpr int kInterrupt = 9;  // SQLITE_INTERRUPT
    if (error.primary_code != kInterrupt) throw;
    return unexpected(
        Problem(Slug::overloaded, "The query took too long; narrow its range.").retry_after(1));
  }
}

}  // namespace coffer::store
