// The lock file beside a database: which process has the database open, and what the next one must
// find.
#pragma once

#include <memory>
#include <string>

#include "base/files/descriptor.h"

namespace coffer::store {

/// What the last process left. Kept until another process opens the database.
struct LastClose {
  /// Whether the `-wal` file must be there (the process was killed, and its last commits are in
  /// that file) or must not (the process closed the database, and SQLite would apply another one's
  /// log).
  enum class Log { unknown, present, absent };
  bool ledger = false;  // the database has held a ledger
  Log log = Log::unknown;
};

/// The lock as another process sees it.
struct LockState {
  bool readable = true;  // false: this user lacks the permission to read the lock file
  bool locked = false;
  int process = 0;  // that has locked it; 0: unknown
};

class LockFile {
 public:
  /// Opens or creates the lock file of the database at `path` and locks it, until the object is
  /// destroyed. nullptr with `errno` set; EWOULDBLOCK: another process has it, and `owner` is its
  /// process ID or `unknown`.
  static std::unique_ptr<LockFile> take(const std::string& path, std::string& owner);

  /// As this object last read or wrote it.
  const LastClose& state() const { return state_; }
  /// Writes this process ID and the state, also on a full disk. Returns false with `errno` set.
  bool write(const LastClose& state);

 private:
  friend LastClose last_close(const std::string& path);
  friend LockState lock_state(const std::string& path);
  explicit LockFile(int fd) : fd_(fd) {}
  std::string read() const;

  const Descriptor fd_;
  LastClose state_;
};

/// The same without the lock, from outside.
LastClose last_close(const std::string& path);
LockState lock_state(const std::string& path);

/// Why the database cannot be opened as its last process left it; empty if it can. Contains what to
/// do.
std::string log_fault(const std::string& database, const LastClose& last);
/// What may have happened to the log of a database without such a fault; empty if nothing.
std::string log_doubt(const std::string& database, const LastClose& last);

}  // namespace coffer::store
