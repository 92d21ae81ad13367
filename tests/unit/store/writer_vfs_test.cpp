// How the writer's log is written: few system calls, and always before anyone can see a commit.
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace writer_vfs_test {
namespace {

/// SQLite's calls of pwrite while it exists. They fail as on a full disk once `room` bytes are
/// written.
class Writes {
 public:
  Writes() : vfs_(sqlite3_vfs_find(nullptr)) {
    for (const char* name : {"pwrite64", "pwrite"}) {
      if (vfs_->xGetSystemCall(vfs_, name) != nullptr) name_ = name;
    }
    real_ = vfs_->xGetSystemCall(vfs_, name_);
    vfs_->xSetSystemCall(vfs_, name_, reinterpret_cast<sqlite3_syscall_ptr>(&counted));
    count = 0;
    room = -1;
    error = ENOSPC;
  }
  ~Writes() { vfs_->xSetSystemCall(vfs_, name_, real_); }
  Writes(const Writes&) = delete;
  Writes& operator=(const Writes&) = delete;

  static inline int count;
  static inline ssize_t room;  // negative: no limit
  static inline int error;

 private:
  static ssize_t counted(int fd, const void* bytes, std::size_t size, off_t at) {
    ++count;
    if (room < 0) return ::pwrite(fd, bytes, size, at);
    if (room == 0) return errno = error, -1;
    const ssize_t written = ::pwrite(fd, bytes, std::min(size, static_cast<std::size_t>(room)), at);
    room -= written;
    return written;
  }

  sqlite3_vfs* vfs_;
  const char* name_ = "pwrite";
  sqlite3_syscall_ptr real_ = nullptr;
};

/// A system call of SQLite that fails while this exists.
class Failing {
 public:
  Failing(const char* name, int with) : vfs_(sqlite3_vfs_find(nullptr)), name_(name) {
    const bool wide = std::string_view(name) == "pwrite";
    if (wide && vfs_->xGetSystemCall(vfs_, "pwrite64") != nullptr) name_ = "pwrite64";
    real_ = vfs_->xGetSystemCall(vfs_, name_);
    error = with;
    const bool cuts = std::string_view(name) == "ftruncate";
    vfs_->xSetSystemCall(vfs_, name_,
                         cuts ? reinterpret_cast<sqlite3_syscall_ptr>(&cut)
                              : reinterpret_cast<sqlite3_syscall_ptr>(&write));
  }
  ~Failing() { vfs_->xSetSystemCall(vfs_, name_, real_); }
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;

 private:
  static inline int error;
  static int cut(int, off_t) { return errno = error, -1; }
  static ssize_t write(int, const void*, std::size_t, off_t) { return errno = error, -1; }

  sqlite3_vfs* vfs_;
  const char* name_;
  sqlite3_syscall_ptr real_ = nullptr;
};

struct File {
  explicit File(const std::string& synchronous = "FULL") : writer(folder.file(), OpenMode::writer) {
    writer.execute(
        "PRAGMA page_size=2048; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0;"
        "PRAGMA synchronous=" +
        synchronous + "; CREATE TABLE t (id INTEGER PRIMARY KEY, b BLOB)");
    other.emplace(folder.file(), OpenMode::read_write);
  }
  /// About a page per row.
  void insert(int rows) {
    for (int i = 0; i < rows; ++i) writer.execute("INSERT INTO t (b) VALUES (randomblob(1900))");
  }
  void commit(int rows) {
    writer.execute("BEGIN");
    insert(rows);
    writer.execute("COMMIT");
  }
  static std::int64_t rows_of(Connection& db) { return number(db, "SELECT count(*) FROM t"); }
  /// What a restart after a kill would find now.
  std::int64_t rows_after_kill() {
    const TemporaryFolder copy;
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(folder.file() + suffix, copy.file() + suffix);
    }
    Connection db(copy.file(), OpenMode::read_write);
    CHECK(scalar(db, "PRAGMA integrity_check") == "ok");
    return rows_of(db);
  }

  TemporaryFolder folder;
  Connection writer;
  std::optional<Connection> other;
};

}  // namespace

TEST_CASE("writer: a commit of many pages is one write to the log") {
  File file;
  const Writes writes;
  file.commit(30);
  CHECK(Writes::count == 1);
  file.commit(200);  // more than is gathered at a time
  CHECK(Writes::count < 10);
  CHECK(File::rows_of(*file.other) == 230);
}

TEST_CASE("writer: a commit is in the files before others can see it, however durable it is") {
  const std::string synchronous = GENERATE("FULL", "NORMAL", "OFF");
  File file(synchronous);
  for (int commits = 1; commits <= 3; ++commits) {
    file.commit(10);
    CHECK(File::rows_of(*file.other) == commits * 10);
    CHECK(file.rows_after_kill() == commits * 10);
  }
}

TEST_CASE("writer: pages that leave the cache during a transaction are found again") {
  File file;
  file.commit(5);
  file.writer.execute("PRAGMA cache_size=10");
  file.writer.execute("BEGIN");
  file.insert(300);
  CHECK(File::rows_of(file.writer) == 305);
  CHECK(File::rows_of(*file.other) == 5);
  CHECK(file.rows_after_kill() == 5);
  file.writer.execute("SAVEPOINT s");
  file.insert(100);
  file.writer.execute("ROLLBACK TO s");
  CHECK(File::rows_of(file.writer) == 305);
  file.writer.execute("ROLLBACK");
  CHECK(File::rows_of(file.writer) == 5);
  file.commit(300);
  CHECK(File::rows_of(*file.other) == 305);
  CHECK(file.rows_after_kill() == 305);
}

TEST_CASE("writer: the log can be emptied, used again and closed") {
  File file;
  for (int i = 1; i <= 3; ++i) {
    file.commit(20);
    file.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    CHECK(std::filesystem::file_size(file.folder.file() + "-wal") == 0);
    CHECK(File::rows_of(*file.other) == i * 20);
  }
  file.other.reset();
  file.writer.execute("PRAGMA journal_mode=DELETE");  // closes the log, but not the database
  file.commit(5);
  file.writer.execute("PRAGMA journal_mode=WAL");
  file.commit(5);
  CHECK(file.rows_after_kill() == 70);
}

TEST_CASE("writer: on a full disk or quota, a commit fails as a whole and the next one succeeds") {
  File file;
  file.commit(10);
  const int code = GENERATE(ENOSPC, EDQUOT);
  const std::int64_t all_bytes = GENERATE(0, 1, 2'071, 2'072, 30'000, 60'000);
  {
    const Writes writes;
    Writes::room = all_bytes;
    Writes::error = code;
    file.writer.execute("BEGIN");
    file.insert(30);
    try {
      file.writer.execute("COMMIT");
      FAIL("the commit succeeded");
    } catch (const SqlError& error) {
      CHECK(error.primary_code == SQLITE_FULL);
    }
    if (!file.writer.autocommit()) file.writer.execute("ROLLBACK");
  }
  CHECK(File::rows_of(file.writer) == 10);
  CHECK(File::rows_of(*file.other) == 10);
  CHECK(file.rows_after_kill() == 10);
  file.commit(30);
  CHECK(File::rows_of(*file.other) == 40);
  CHECK(file.rows_after_kill() == 40);
}

TEST_CASE("a disk or quota that is full when the index of the log is created is a full disk") {
  for (const char* call : {"ftruncate", "pwrite"}) {
    for (const int error : {ENOSPC, EDQUOT}) {
      SmallLedger ledger;
      ledger.close();
      DatabaseOptions options;
      options.path = ledger.folder.file();
      OpenError fault;
      {
        const Failing failing(call, error);
        CHECK_FALSE(Database::open(options, ledger.clock, fault));
      }
      INFO(call << " " << error << ": " << fault.message);
      CHECK(fault.fault == OpenFault::full_disk);
      CHECK(Database::open(options, ledger.clock, fault));
    }
  }
}

}  // namespace writer_vfs_test
