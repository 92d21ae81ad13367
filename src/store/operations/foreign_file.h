// Reads a database that this process does not own: a backup, a copy, or a file that a server may
// open at any moment.
//
// Nothing is removed. An open file is read by SQLite under its locks. A closed file is read without
// locks, and no file is created next to it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/connection.h"

namespace coffer::store {

/// Metadata of a database and its companion files, without opening them. Two equal values mean that
/// the database was not written in between.
class FileLook {
 public:
  explicit FileLook(const std::string& path);
  bool operator==(const FileLook&) const = default;
  /// The mode in which to read this file.
  OpenMode reading() const;

 private:
  struct Part {
    bool exists = false;
    std::int64_t bytes = 0;
    std::int64_t written = 0;  // in the unit of the file system
    bool operator==(const Part&) const = default;
  };
  static Part part(const std::string& path);

  Part file_;
  Part log_;      // -wal
  Part journal_;  // -journal
  bool index_;    // -shm
};

/// Calls `read` with a connection to `path`. If a closed file is opened or written to meanwhile, it
/// is read again from the start, so `read` must begin with an empty result each time. A log that a
/// killed process left is included. Throws SqlError, and what `read` throws.
void read_foreign_file(const std::string& path, const std::function<void(Connection&)>& read);

}  // namespace coffer::store
