// The file of a live copy: SQLite writes it to memory, and another thread to the disk.
//
// The writer copies the database between payments (store/operations/copies). It must not wait for
// the disk of the copy, which may be a network file system that does not respond.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files/descriptor.h"
#include "base/mutex.h"

struct sqlite3_vfs;

namespace coffer::store {

class CopyFile {
 public:
  /// Opens the empty file. Throws SqlError, like write_out() and cut().
  explicit CopyFile(const std::string& path);
  ~CopyFile();
  CopyFile(const CopyFile&) = delete;
  CopyFile& operator=(const CopyFile&) = delete;

  /// The VFS for the connection that LiveBackup fills; close it before this object is destroyed.
  /// SQLite can read page 1 and the pages in its own cache. Every other page reads as zeros,
  /// because a copy only replaces whole pages.
  const char* vfs() const { return name_.c_str(); }
  /// Writes to the disk what SQLite has written since the last call.
  void write_out();
  /// Cuts the file to the size that SQLite knows. Call it when the connection is closed.
  void cut();
  /// Whether a write has failed because the disk is far behind SQLite.
  bool overflowed() const { return overflowed_; }

 private:
  struct Methods;  // what SQLite calls
  struct Piece {
    std::int64_t at;
    std::size_t size;
  };
  struct Pieces {
    std::vector<Piece> places;
    std::string bytes;  // of all pieces
  };

  const Descriptor file_;
  const std::string name_;
  const std::unique_ptr<sqlite3_vfs> vfs_;
  // For the thread of the connection.
  std::string first_;  // page 1
  std::int64_t size_ = 0;
  std::atomic<bool> overflowed_{false};
  Mutex mutex_;
  Pieces pending_ COFFER_GUARDED_BY(mutex_);
};

/// Removes the log that a killed process left next to a file that is now empty, so that SQLite does
/// not apply it to new content. Throws SqlError.
void drop_left_logs(const std::string& empty_file);
/// Turns a copy that no process serves into a single file without a log. Throws SqlError.
void leave_wal(const std::string& path);

}  // namespace coffer::store
