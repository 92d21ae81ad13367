#include "store/file/copy_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files/folders.h"
#include "store/file/connection.h"
#include "store/file/writer_vfs.h"

namespace coffer::store {
namespace {

// A disk that stands still lets commits change this much of the copy; then the copy fails.
constexpr std::size_t kPendingMax = 64 << 20;

[[noreturn]] void fail() {
  const bool full = coffer::is_full_disk(errno);
  throw SqlError(std::strerror(errno), full ? SQLITE_FULL : SQLITE_IOERR, 0);
}

}  // namespace

struct CopyFile::Methods {
  struct Handle : sqlite3_file {
    CopyFile* owner;
  };
  static CopyFile& of(sqlite3_file* file) { return *static_cast<Handle*>(file)->owner; }

  static int open(sqlite3_vfs* vfs, const char*, sqlite3_file* file, int flags, int* out_flags) {
    file->pMethods = nullptr;
    if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
    static_cast<Handle*>(file)->owner = static_cast<CopyFile*>(vfs->pAppData);
    file->pMethods = &kMethods;
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }
  static int read(sqlite3_file* file, void* out, int size, sqlite3_int64 at) {
    const CopyFile& copy = of(file);
    const auto wanted = static_cast<std::size_t>(size);
    const auto from = static_cast<std::size_t>(at);
    std::memset(out, 0, wanted);
    if (from < copy.first_.size()) {
      std::memcpy(out, copy.first_.data() + from, std::min(wanted, copy.first_.size() - from));
    }
    return at + size <= copy.size_ ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }
  static int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
    CopyFile& copy = of(file);
    const std::string_view bytes(static_cast<const char*>(from), static_cast<std::size_t>(size));
    if (at == 0) copy.first_ = bytes;
    copy.size_ = std::max<std::int64_t>(copy.size_, at + size);
    const Lock lock(copy.mutex_);
    Pieces& pending = copy.pending_;
    if (pending.bytes.size() + bytes.size() > kPendingMax) {
      copy.overflowed_ = true;
      return SQLITE_IOERR_WRITE;
    }
    pending.bytes += bytes;
    auto& places = pending.places;
    if (!places.empty() && places.back().at + static_cast<std::int64_t>(places.back().size) == at) {
      places.back().size += bytes.size();
    } else {
      places.push_back({at, bytes.size()});
    }
    return SQLITE_OK;
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    of(file).size_ = size;
    return SQLITE_OK;
  }
  static int file_size(sqlite3_file* file, sqlite3_int64* out) {
    *out = of(file).size_;
    return SQLITE_OK;
  }
  // PartialFile keeps other processes away, and flushes the file.
  static int nothing(sqlite3_file*) { return 0; }
  static int nothing(sqlite3_file*, int) { return SQLITE_OK; }
  static int is_locked(sqlite3_file*, int* out) {
    *out = 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }

  static constexpr sqlite3_io_methods kMethods = [] {
    sqlite3_io_methods out{};
    out.iVersion = 1;
    out.xClose = nothing;
    out.xRead = read;
    out.xWrite = write;
    out.xTruncate = truncate;
    out.xSync = nothing;
    out.xFileSize = file_size;
    out.xLock = nothing;
    out.xUnlock = nothing;
    out.xCheckReservedLock = is_locked;
    out.xFileControl = control;
    out.xSectorSize = nothing;
    out.xDeviceCharacteristics = nothing;
    return out;
  }();
};

CopyFile::CopyFile(const std::string& path)
    : file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)),
      name_("coffer-copy-" + std::to_string(file_.get())),
      vfs_(std::make_unique<sqlite3_vfs>(*own_vfs())) {
  if (!file_.is_open()) fail();
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->szOsFile = static_cast<int>(sizeof(Methods::Handle));
  vfs_->xOpen = Methods::open;
  register_vfs(*vfs_);
}

CopyFile::~CopyFile() { unregister_vfs(*vfs_); }

void CopyFile::write_out() {
  Pieces pieces;
  {
    const Lock lock(mutex_);
    std::swap(pieces, pending_);
  }
  const char* from = pieces.bytes.data();
  for (const Piece& piece : pieces.places) {
    for (std::size_t done = 0; done < piece.size;) {
      const auto at = static_cast<off_t>(piece.at + static_cast<std::int64_t>(done));
      const ssize_t written = ::pwrite(file_.get(), from, piece.size - done, at);
      if (written <= 0) fail();
      from += written;
      done += static_cast<std::size_t>(written);
    }
  }
}

void CopyFile::cut() {
  if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) fail();
}

// SQLite removes them under its own locks when it reads a file without pages.
void drop_left_logs(const std::string& empty_file) {
  Connection db(empty_file, OpenMode::read_write);
  db.run("SELECT count(*) FROM sqlite_schema");
}

void leave_wal(const std::string& path) {
  Connection copy(path, OpenMode::read_write);
  copy.execute("PRAGMA synchronous=OFF; PRAGMA journal_mode=DELETE");
}

}  // namespace coffer::store
