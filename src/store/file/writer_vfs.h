// How the writer reaches its files: SQLite's own VFS, except that the frames of a commit are
// written to the log (WAL) with one system call. SQLite makes two for each page (measured per
// payment, in batches of 26: 3 system calls and 5 % of the processor time).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

struct sqlite3;
struct sqlite3_vfs;

namespace coffer::store {

/// The name of the VFS, which it registers at the first call. Thread-safe. Other connections to the
/// file may use other VFSs: frames are in the file before they are synchronised, and before the
/// index of the log tells other connections about them.
const char* writer_vfs();

/// Follows the log of a writer, on its thread. Its functions are called by SQLite, so they must not
/// throw.
class LogTap {
 public:
  virtual ~LogTap() = default;
  /// SQLite writes these bytes.
  virtual void write(std::string_view bytes, std::int64_t at) = 0;
  /// Bytes could not be written, so SQLite rolls the transaction back.
  virtual void forget() = 0;
  /// All bytes are in the file. `synchronise` makes them durable and returns SQLite's code. A
  /// commit becomes visible when this function returns SQLITE_OK.
  virtual int synchronise(const std::function<int()>& synchronise) = 0;
};
/// `writer` has its database through the writer's VFS. `tap` must outlive it; nullptr ends it.
void tap_log(sqlite3* writer, LogTap* tap);

/// SQLite's own VFS, as a model for another one.
sqlite3_vfs* own_vfs();
/// Makes a VFS known by its name. `vfs` must stay in place until it is unregistered.
void register_vfs(sqlite3_vfs& vfs);
void unregister_vfs(sqlite3_vfs& vfs);

}  // namespace coffer::store
