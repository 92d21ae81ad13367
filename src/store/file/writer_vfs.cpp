#include "store/file/writer_vfs.h"

#include <sqlite3.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.h"
#include "base/files/folders.h"

namespace coffer::store {
namespace {

constexpr const char* kName = "coffer-writer";
constexpr std::size_t kGatheredMax = 128 * 1024 - 1;  // SQLite's VFS takes no more at a time

/// Bytes of a log that were not written to it yet: an unbroken range from `at`.
struct Gathered {
  sqlite3_file* database;
  char bytes[kGatheredMax];
  sqlite3_int64 at;
  std::size_t size;
};

/// Follows SQLite's own structure of a file in memory.
struct Extra {
  sqlite3_io_methods methods;  // what SQLite calls
  const sqlite3_io_methods* own;
  Gathered* gathered;  // of a log; otherwise null
  sqlite3_file* log;   // of a database that has one open
  LogTap* tap;         // of a database; may be null
};

std::size_t extra_at() {
  constexpr std::size_t kAlign = alignof(Extra);
  return (static_cast<std::size_t>(own_vfs()->szOsFile) + kAlign - 1) / kAlign * kAlign;
}

Extra& extra(sqlite3_file* file) {
  static const std::size_t at = extra_at();
  return *reinterpret_cast<Extra*>(reinterpret_cast<char*>(file) + at);
}

/// SQLite's VFS reports only ENOSPC as a full disk. A full quota is one too: nothing was written,
/// so the transaction is undone and the process goes on.
int judged(sqlite3_file* file, int code) {
  if (code != SQLITE_IOERR_WRITE) return code;
  int error = 0;
  extra(file).own->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  return coffer::is_full_disk(error) ? SQLITE_FULL : code;
}

int write_page(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  return judged(file, extra(file).own->xWrite(file, bytes, size, at));
}

/// Also discards the bytes if it fails. SQLite then undoes the transaction, whose commit must not
/// reach the log later. The end of a commit is its last bytes, so a part of it is no commit.
int write_gathered(sqlite3_file* file) {
  Gathered& gathered = *extra(file).gathered;
  if (gathered.size == 0) return SQLITE_OK;
  const auto size = static_cast<int>(gathered.size);
  gathered.size = 0;
  const int code = write_page(file, gathered.bytes, size, gathered.at);
  if (LogTap* const tap = extra(gathered.database).tap; tap != nullptr && code != SQLITE_OK) {
    tap->forget();
  }
  return code;
}

int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  Gathered& gathered = *extra(file).gathered;
  const auto count = static_cast<std::size_t>(size);
  const sqlite3_int64 end = gathered.at + static_cast<sqlite3_int64>(gathered.size);
  if (at != end || gathered.size + count > kGatheredMax) {
    if (const int code = write_gathered(file); code != SQLITE_OK) return code;
  }
  if (LogTap* const tap = extra(gathered.database).tap; tap != nullptr) {
    tap->write({static_cast<const char*>(bytes), count}, at);
  }
  if (gathered.size == 0) gathered.at = at;
  std::memcpy(gathered.bytes + gathered.size, bytes, count);
  gathered.size += count;
  return SQLITE_OK;
}

/// A call of SQLite's own VFS that has to find the gathered bytes in the file.
template <auto Method, class... Args>
int after_write(sqlite3_file* file, Args... args) {
  const int code = write_gathered(file);
  return code == SQLITE_OK ? (extra(file).own->*Method)(file, args...) : code;
}

int synchronise(sqlite3_file* file, int flags) {
  if (const int code = write_gathered(file); code != SQLITE_OK) return code;
  const auto own = [&] { return extra(file).own->xSync(file, flags); };
  LogTap* const tap = extra(extra(file).gathered->database).tap;
  return tap == nullptr ? own() : tap->synchronise(own);
}

int close_log(sqlite3_file* file) {
  const int written = write_gathered(file);
  extra(extra(file).gathered->database).log = nullptr;
  delete extra(file).gathered;
  const int closed = extra(file).own->xClose(file);
  return written == SQLITE_OK ? closed : written;
}

/// Between the two copies of the index's header, which must be the same for a reader to use it.
/// With `synchronous=FULL`, nothing is gathered here, because the log was synchronised before.
void barrier(sqlite3_file* database) {
  Extra& of = extra(database);
  if (of.log != nullptr && write_gathered(of.log) != SQLITE_OK) std::abort();
  of.own->xShmBarrier(database);
}

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const int code = own_vfs()->xOpen(own_vfs(), name, file, flags, out_flags);
  if (file->pMethods == nullptr) return code;
  Extra& of = *new (&extra(file)) Extra{};
  if (code != SQLITE_OK) return code;
  of.own = file->pMethods;
  of.methods = *of.own;
  if ((flags & SQLITE_OPEN_WAL) != 0) {
    of.gathered = new (std::nothrow) Gathered;
    if (of.gathered == nullptr) {
      of.own->xClose(file);
      file->pMethods = nullptr;
      return SQLITE_NOMEM;
    }
    of.gathered->database = sqlite3_database_file_object(name);
    of.gathered->size = 0;
    extra(of.gathered->database).log = file;
    of.methods.xClose = close_log;
    of.methods.xRead = after_write<&sqlite3_io_methods::xRead>;
    of.methods.xWrite = write;
    of.methods.xTruncate = after_write<&sqlite3_io_methods::xTruncate>;
    of.methods.xSync = synchronise;
    of.methods.xFileSize = after_write<&sqlite3_io_methods::xFileSize>;
  } else {
    of.methods.xWrite = write_page;
    of.methods.xShmBarrier = barrier;
  }
  file->pMethods = &of.methods;
  return SQLITE_OK;
}

sqlite3_vfs adapted() {
  sqlite3_vfs vfs = *own_vfs();
  vfs.zName = kName;
  vfs.szOsFile = static_cast<int>(extra_at() + sizeof(Extra));
  vfs.xOpen = open;
  return vfs;
}

}  // namespace

sqlite3_vfs* own_vfs() { return sqlite3_vfs_find(nullptr); }

void register_vfs(sqlite3_vfs& vfs) {
  vfs.pNext = nullptr;
  COFFER_CHECK(sqlite3_vfs_register(&vfs, 0) == SQLITE_OK);
}

void unregister_vfs(sqlite3_vfs& vfs) { sqlite3_vfs_unregister(&vfs); }

void tap_log(sqlite3* writer, LogTap* tap) {
  sqlite3_file* database = nullptr;
  sqlite3_file_control(writer, "main", SQLITE_FCNTL_FILE_POINTER, &database);
  extra(database).tap = tap;
}

const char* writer_vfs() {
  static sqlite3_vfs vfs = adapted();
  static const bool once = (register_vfs(vfs), true);
  static_cast<void>(once);
  return kName;
}

}  // namespace coffer::store
