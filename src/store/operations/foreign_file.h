// Reading a database that this process does not own: a backup, a copy, a file that a server has or
// may open at any moment.
//
// Nothing is ever removed here. Beside a file that is open, the reader is one of SQLite's own,
// under its locks; a file that is closed is read without a lock, and nothing is made beside it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "store/connection.h"

namespace coffer::store {

/// What can be seen of a database and its companions without opening them. Two that are equal: it
/// was not written to in between.
class FileLook {
 public:
  explicit FileLook(const std::string& path);
  bool operator==(const FileLook&) const = default;
  /// How to read what was seen.
  OpenMode reading() const;

 private:
  struct Part {
    bool exists = false;
    std::int64_t bytes = 0;
    std::int64_t written = 0;  // in the file system's own unit
    bool operator==(const Part&) const = default;
  };
  static Part part(const std::string& path);

  Part file_;
  Part log_;      // -wal
  Part journal_;  // -journal
  bool index_;    // -shm
};

/// Calls `read` with a connection to `path`. A closed file that is opened or written to meanwhile
/// is read again from the start, so `read` begins with an empty result each time. A log that a
/// killed process left counts. Throws SqlError, and what `read` throws.
void read_foreign_file(const std::string& path, const std::function<void(Connection&)>& read);

}  // namespace coffer::store
