// Reads a database that this process does not own: a backup, a copy, or a file that a server may
// open at any moment.
//
// Nothing is removed. An open file is read by SQLite under its locks. A closed file is read without
// locks, and no file is created next to it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "store/file/connection.h"

namespace coffer::store {

/// Metadata of a database and its companion files, without opening them. Two equal values mean that
/// the database was not written in between.
class FileLook {
 public:
  explicit FileLook(const std::string& path);
  bool operator==(const FileLook&) const = default;
  /// The mode in which to read this file; `locked`: under SQLite's locks, if that changes nothing.
  OpenMode reading(bool locked) const;

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
  bool index_;    // whether the -shm file exists
};

/// Calls `read` with a connection to `path`. If another process opens or writes a closed file
/// meanwhile, `read` runs again from the start, so it must begin with an empty result each time.
/// Includes a log that a killed process left. Throws SqlError, and what `read` throws.
void read_foreign_file(const std::string& path, const std::function<void(Connection&)>& read);

/// Whether the file, including its log, has any content. Does not create a database. Returns true
/// for a file that cannot be read; opening it reports the error.
bool holds_tables(const std::string& path);

}  // namespace coffer::store
