// The database file, independent of its name: locked against all other processes, and watched.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/descriptor.h"

namespace coffer::store {

/// The detail of a problem, where HeldFile::in_place() is false.
inline constexpr const char* kMovedFile = "The database file was moved, deleted or replaced.";

/// Identifies the file that a path leads to.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Open the file before SQLite does, and close it after the last connection, because the system
/// releases all of SQLite's locks of this process when any descriptor of the file is closed.
/// Thread-safe after `note_log`.
class HeldFile {
 public:
  /// Opens or creates the file (mode 0600) and locks it. The lock is on the file, so it holds even
  /// if the lock file beside it was removed, and against a hard link. Returns nullptr with `errno`
  /// set; EWOULDBLOCK: another process has it open. On systems without such a lock, the file is
  /// opened without one. `link` is a symbolic link that leads to `path`, or empty.
  static std::unique_ptr<HeldFile> open(const std::string& path, const std::string& link = {});
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  /// Whether there was no file, or an empty one: a new database.
  bool is_new() const { return found_ != Found::content; }
  /// Restores what was there before a new database. Call it after the last connection was closed.
  void restore_found() const;
  /// Remembers the write-ahead log, which SQLite has now opened.
  void note_log();
  /// Whether path and link still lead to the open file, and whether its log is beside it. False
  /// after one of them was moved, deleted or replaced, also by a symbolic link: a restart would not
  /// find later writes.
  bool in_place() const;

 private:
  enum class Found { nothing, empty, content };
  HeldFile(const std::string& path, const std::string& link, int fd, bool is_created);

  const std::string real_path_;           // without symbolic links, the form that SQLite uses
  const std::vector<std::string> links_;  // other names of the file that were given
  const std::string log_path_;
  const Descriptor fd_;
  const Found found_;
  std::optional<FileIdentity> file_;
  std::optional<FileIdentity> log_;
};

/// Whether a process holds the file at `path`. False if it cannot be opened.
bool is_held(const std::string& path);

}  // namespace coffer::store
