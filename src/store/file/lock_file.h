// The lock file beside a database. It contains the process that has the database open, the command
// that this process runs, and the state in which the next process must find the database.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/files/descriptor.h"

namespace coffer::store {

/// The state that the last process left. Kept until another process opens the database.
struct LastClose {
  /// Whether the `-wal` file must exist or must not. `present`: the process was killed, and its
  /// last commits are in that file. `absent`: the process closed the database, and SQLite would
  /// apply a log from elsewhere.
  enum class Log { unknown, present, absent };
  bool ledger = false;  // the database has held a ledger
  Log log = Log::unknown;
};

/// The lock as another process sees it.
struct LockState {
  bool readable = true;  // false: this user lacks the permission to read the lock file
  bool locked = false;
  int process = 0;           // that has locked it; 0: unknown, so it may be any program
  std::string command = {};  // that this process runs; empty: it is a server, or unknown
  std::string file = {};     // the lock file
};

/// For messages: `another coffer (process 7, coffer verify)`, or `another program (find it with
/// fuser FILE)`.
std::string described(const LockState& holder);

class LockFile {
 public:
  /// Opens or creates the lock file of the database at `path`, locks it until the object is
  /// destroyed, and writes this process and its `command` (empty: a server). nullptr with `errno`
  /// set; EWOULDBLOCK: the process in `holder` has it.
  static std::unique_ptr<LockFile> take(const std::string& path, std::string_view command,
                                        LockState& holder);
  /// Removes a lock file that take() has created, unless the database holds a ledger now.
  ~LockFile();

  /// The state as this object last read or wrote it.
  const LastClose& state() const { return state_; }
  /// Durably writes this process and the state, which also succeeds on a full disk. Returns false
  /// with `errno` set. The caller synchronises the folder if the state speaks of its names.
  bool write(const LastClose& state);

 private:
  friend LastClose last_close(const std::string& path);
  friend LockState lock_state(const std::string& path);
  explicit LockFile(int fd, std::string_view command = {}) : fd_(fd), command_(command) {}
  static std::unique_ptr<LockFile> open_at(const std::string& file, std::string_view command);
  bool is_at(const std::string& file) const;
  std::string read() const;

  const Descriptor fd_;
  const std::string command_;
  std::string created_;  // the lock file, if this object has created it
  LastClose state_;
};

/// Reads the state of a lock file without locking it.
LastClose last_close(const std::string& path);
LockState lock_state(const std::string& path);

/// Why the database cannot be opened: it contained a ledger and is missing or empty. Includes what
/// to do. Empty if it can be opened.
std::string ledger_fault(const std::string& database, const LastClose& last);
/// Why the database cannot be opened: its log is not in the state that its last process left.
/// Includes what to do. Empty if it can be opened.
std::string log_fault(const std::string& database, const LastClose& last);
/// What may have happened to the log of a database for which log_fault() is empty; empty if
/// nothing.
std::string log_doubt(const std::string& database, const LastClose& last);

}  // namespace coffer::store
