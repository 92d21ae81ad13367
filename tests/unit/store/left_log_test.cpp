// A database whose log was left, lost or moved: no payment in a log may be lost by opening a file.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "store/database.h"
#include "store/file/foreign_file.h"
#include "store/schema.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

namespace fs = std::filesystem;

}  // namespace

TEST_CASE("database: the log of a killed process must be there, and that of another state not") {
  const TemporaryFolder folder;
  const std::string killed = folder.file("killed.db");
  {
    const TemporaryFolder other;
    const SystemClock clock;
    OpenError error;
    const auto open = Database::open({.path = other.file()}, clock, error);
    REQUIRE(open);
    for (const char* part : {"", "-wal", "-shm", ".lock"})
      fs::copy_file(other.file() + part, killed + part);
  }
  const std::string log = killed + "-wal";
  REQUIRE(fs::file_size(log) > 0);
  fs::copy_file(killed + "-shm", killed + "-shm.away");
  fs::rename(log, log + ".away");
  for (int tries = 0; tries < 2; ++tries) {
    const OpenError gone = open_error(killed);
    CHECK(gone.fault == OpenFault::corrupt);
    CHECK(gone.message.find("-wal, which contains the last payments, is missing") !=
          std::string::npos);
  }
  fs::copy_file(log + ".away", log);
  CHECK(open_error(killed).fault == OpenFault::none);
  CHECK_FALSE(fs::exists(log));
  CHECK_FALSE(fs::exists(killed + "-shm"));
  // The database has been closed since, so the same log would undo later changes.
  fs::copy_file(log + ".away", log);
  for (int tries = 0; tries < 2; ++tries) {
    const OpenError stale = open_error(killed);
    CHECK(stale.fault == OpenFault::corrupt);
    CHECK(stale.message.find("appeared after the last process had closed") != std::string::npos);
  }
  CHECK(fs::file_size(log) == fs::file_size(log + ".away"));
  // The files of a killed process, put in place together.
  for (const char* part : {"-wal", "-shm"})
    fs::copy_file(killed + part + ".away", killed + part, fs::copy_options::overwrite_existing);
  CHECK(open_error(killed).fault == OpenFault::none);
}

TEST_CASE("database: the log beside an empty or missing file is kept, and no ledger begins there") {
  for (const bool has_lock : {true, false}) {
    for (const bool has_file : {true, false}) {
      INFO("lock " << has_lock << ", file " << has_file);
      const TemporaryFolder folder;
      const std::string moved = folder.file("moved.db");
      {
        const OpenedFile killed;
        const std::string path = killed.database->path();
        fs::copy_file(path + "-wal", moved + "-wal");
        if (has_lock) fs::copy_file(path + ".lock", moved + ".lock");
      }
      if (has_file) std::ofstream(moved).flush();
      const auto bytes = fs::file_size(moved + "-wal");
      REQUIRE(bytes > 0);
      CHECK_FALSE(holds_tables(moved));
      static_cast<void>(read_file_marks(moved));
      const OpenError error = open_error(moved);
      CHECK(error.fault == OpenFault::corrupt);
      CHECK(error.message.find("is empty or missing") != std::string::npos);
      CHECK(fs::file_size(moved + "-wal") == bytes);
      CHECK(fs::exists(moved) == has_file);
    }
  }
}

TEST_CASE("database: no file of SQLite beside an empty or missing database is deleted or changed") {
  for (const char* ending : {"-journal", "-shm"}) {
    for (const bool has_file : {true, false}) {
      INFO(ending << ", file " << has_file);
      const TemporaryFolder folder;
      const std::string path = folder.file();
      std::ofstream(path + ending) << "of another program";
      if (has_file) std::ofstream(path).flush();
      const OpenError error = open_error(path);
      CHECK(error.fault == OpenFault::corrupt);
      CHECK(error.message.find(path + ending) != std::string::npos);
      CHECK(fs::file_size(path + ending) == 18);
      CHECK(fs::exists(path) == has_file);
      CHECK_FALSE(fs::exists(path + ".lock"));
    }
  }
  // The journal of a process that was killed while it created the database.
  const TemporaryFolder folder;
  std::ofstream(folder.file() + "-journal") << std::string(512, '\0');
  CHECK(open_error(folder.file()).fault == OpenFault::none);
}

TEST_CASE("foreign file: the last attempt keeps the log beside an empty file, too") {
  const TemporaryFolder folder;
  const std::string path = folder.file();
  std::ofstream(path).flush();
  int reads = 0;
  read_foreign_file(path, [&](Connection& db) {
    ++reads;
    CHECK_FALSE(Query(db, "SELECT 1 FROM sqlite_schema").step());
    std::ofstream(path + "-wal", std::ios::app) << "a payment";
  });
  CHECK(reads == 3);
  CHECK(fs::file_size(path + "-wal") == 27);
}
