// How the writer reaches its files: SQLite's own VFS, except that the frames of a commit are
// written to the log (WAL) with one system call. SQLite makes two for each page (measured per
// payment, in batches of 26: 3 system calls and 5 % of the processor time).
#pragma once

struct sqlite3_vfs;

namespace coffer::store {

/// The name of the VFS, which it registers at the first call. Thread-safe. Other connections to the
/// file may use other VFSs: frames are in the file before they are synchronised, and before the
/// index of the log tells other connections about them.
const char* writer_vfs();

/// SQLite's own VFS, as a model for another one.
sqlite3_vfs* own_vfs();
/// Makes a VFS known by its name. `vfs` must stay in place until it is unregistered.
void register_vfs(sqlite3_vfs& vfs);
void unregister_vfs(sqlite3_vfs& vfs);

}  // namespace coffer::store
