#include "store/database.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/thread.h"
#include "store/schema.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

namespace fs = std::filesystem;

unsigned mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777U;
}

/// A file of another program.
void make_sqlite_file(const std::string& path, const std::string& sql) {
  Connection db(path, OpenMode::read_write);
  db.execute(sql);
}

/// Counts until it is interrupted.
constexpr const char* kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";

}  // namespace

TEST_CASE("database: created files are accessible to their owner only") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/a/b/ledger.db";
  const mode_t old = ::umask(0);  // the most permissive one
  const SystemClock clock;
  OpenError error;
  {
    const auto database = Database::open({.path = path}, clock, error);
    REQUIRE(database);
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
      INFO(suffix);
      CHECK(mode_of(path + suffix) == 0600);
    }
    CHECK(mode_of(folder.path() + "/a/b") == 0700);
    CHECK(mode_of(folder.path() + "/a") == 0700);
  }
  const mode_t still = ::umask(old);
  CHECK(still == 0);  // restored, whatever it was
}

TEST_CASE("database: one process owns the file") {
  OpenedFile file;
  const OpenError second = open_error(file.database->path());
  CHECK(second.fault == OpenFault::locked);
  CHECK(second.message.find(std::to_string(::getpid())) != std::string::npos);
  const std::string path = file.database->path();
  file.close();
  CHECK(open_error(path).fault == OpenFault::none);
}

TEST_CASE("database: other processes see which command has the file open") {
  const TemporaryFolder folder;
  const std::string path = folder.file();
  const SystemClock clock;
  OpenError error;
  for (const std::string command : {"association create", ""}) {
    const auto database = Database::open({.path = path, .command = command}, clock, error);
    REQUIRE(database);
    const LockState holder = lock_state(path);
    CHECK(holder.locked);
    CHECK(holder.process == ::getpid());
    CHECK(holder.command == command);
    const std::string rejected = open_error(path).message;
    CHECK((rejected.find(", coffer association create)") != std::string::npos) == !command.empty());
    CHECK(last_close(path).ledger);  // beside the state of the file
    CHECK(last_close(path).log == LastClose::Log::present);
  }
  CHECK_FALSE(lock_state(path).locked);
}

TEST_CASE("database: one process owns the file, whatever its name and without its lock file") {
  OpenedFile file;
  const std::string path = file.database->path();
  const std::string other_name = path + ".other";
  fs::create_hard_link(path, other_name);
  CHECK(open_error(other_name).fault == OpenFault::locked);
  fs::remove(path + ".lock");
  const OpenError second = open_error(path);
  CHECK(second.fault == OpenFault::locked);
  CHECK(second.message.find("is in use by another coffer") != std::string::npos);
  CHECK(is_held(path));
  file.close();
  CHECK_FALSE(is_held(path));
  fs::remove(other_name);
  CHECK(open_error(path).fault == OpenFault::none);
}

TEST_CASE("database: nothing is stored while the file or its log is not at its path") {
  OpenedFile file;
  const std::string path = file.database->path();
  const auto write = [&](const char* value) {
    return file.write([&](WriteTx& tx) -> Result<void> {
      write_meta(tx, "x", value);
      return {};
    });
  };
  const auto replace = [](const std::string& name) { std::ofstream(name) << "another file"; };
  REQUIRE(write("before"));
  for (const std::string& moved : {path, path + "-wal"}) {
    for (const bool replaced : {false, true}) {
      INFO(moved << (replaced ? " replaced" : " moved"));
      fs::rename(moved, moved + ".away");
      if (replaced) replace(moved);
      CHECK_FALSE(file.database->in_place());
      file.database->watch_place();
      const auto rejected = write("lost");
      REQUIRE_FALSE(rejected);
      CHECK(rejected.error().slug == Slug::overloaded);
      CHECK(rejected.error().retry_after_s.has_value());
      CHECK(file.value("SELECT value FROM meta WHERE name = 'x'") == "before");
      {
        const ReadersScope fresh(Readers::exports);  // without an open connection
        CHECK_FALSE(file.database->reader());
      }
      fs::rename(moved + ".away", moved);
      file.database->watch_place();
      CHECK(file.database->in_place());
    }
  }
  fs::rename(path, path + ".away");
  fs::create_symlink(path + ".away", path);
  CHECK_FALSE(file.database->in_place());
  fs::remove(path);
  fs::rename(path + ".away", path);
  REQUIRE(write("after"));
  const ReadersScope fresh(Readers::exports);
  CHECK(file.database->reader());
  CHECK(file.value("SELECT value FROM meta WHERE name = 'x'") == "after");
}

TEST_CASE("database: the names by which the file was given must lead to it") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/ledger.db";
  const std::string link = folder.path() + "/link.db";
  const std::string by_folder = folder.path() + "/folder/ledger.db";
  fs::create_directory(folder.path() + "/elsewhere");
  fs::create_directory_symlink(folder.path(), folder.path() + "/folder");
  fs::create_symlink(path, link);
  const SystemClock clock;
  OpenError error;
  const auto database = Database::open({.path = by_folder, .link = link}, clock, error);
  REQUIRE(database);
  CHECK(database->in_place());
  const auto redirect = [&](const std::string& name, const std::string& target) {
    fs::remove(name);
    fs::create_symlink(target, name);
  };
  redirect(link, folder.path() + "/another.db");
  CHECK_FALSE(database->in_place());
  redirect(link, path);
  CHECK(database->in_place());
  redirect(folder.path() + "/folder", folder.path() + "/elsewhere");
  CHECK_FALSE(database->in_place());
  redirect(folder.path() + "/folder", folder.path());
  CHECK(database->in_place());
}

TEST_CASE("database: an empty ledger does not take the place of one that was lost") {
  const std::array<std::function<void(const std::string&)>, 3> losses{{
      [](const std::string& path) { fs::resize_file(path, 0); },
      [](const std::string& path) { fs::remove(path); },
      // A file without tables, because they were all in a lost log.
      [](const std::string& path) {
        fs::remove(path);
        make_sqlite_file(path, "PRAGMA journal_mode = WAL");
      },
  }};
  for (const auto& lose : losses) {
    const TemporaryFolder folder;
    REQUIRE(open_error(folder.file()).fault == OpenFault::none);
    REQUIRE(open_error(folder.file()).fault == OpenFault::none);
    lose(folder.file());
    for (int tries = 0; tries < 2; ++tries) {
      const OpenError error = open_error(folder.file());
      CHECK(error.fault == OpenFault::corrupt);
      CHECK(error.message.find("it contained a ledger. If it was moved, move it back") !=
            std::string::npos);
    }
    fs::remove(folder.file() + ".lock");
    CHECK(open_error(folder.file()).fault == OpenFault::none);
  }
}

TEST_CASE("database: a rejected opening leaves no lock behind") {
  const TemporaryFolder folder;
  make_sqlite_file(folder.file(), "CREATE TABLE other (x)");
  CHECK(open_error(folder.file()).fault == OpenFault::corrupt);
  CHECK_FALSE(fs::exists(folder.file() + ".lock"));
  fs::remove(folder.file());
  CHECK(open_error(folder.file()).fault == OpenFault::none);
}

TEST_CASE("database: a file of another program is rejected and not touched") {
  const TemporaryFolder folder;
  make_sqlite_file(folder.file(), "CREATE TABLE other (x)");
  const OpenError error = open_error(folder.file());
  CHECK(error.fault == OpenFault::corrupt);
  CHECK(error.message.find("another program") != std::string::npos);
  Connection db(folder.file(), OpenMode::read_only);
  CHECK(scalar(db, "SELECT group_concat(name) FROM sqlite_schema") == "other");
}

TEST_CASE("database: a file that is no database is rejected and not touched") {
  const TemporaryFolder folder;
  const std::string text(10'000, 'x');
  std::ofstream(folder.file()) << text;
  const OpenError error = open_error(folder.file());
  CHECK(error.fault == OpenFault::corrupt);
  CHECK(error.message.find(folder.file()) != std::string::npos);
  std::ifstream file(folder.file());
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == text);
}

TEST_CASE("database: an empty file is a new one") {
  const TemporaryFolder folder;
  std::ofstream(folder.file()).close();
  CHECK(open_error(folder.file()).fault == OpenFault::none);
}

TEST_CASE("database: a newer schema is rejected with the way out") {
  const TemporaryFolder folder;
  CHECK(open_error(folder.file()).fault == OpenFault::none);
  make_sqlite_file(folder.file(), "PRAGMA user_version = " + std::to_string(schema_version() + 1));
  const OpenError error = open_error(folder.file());
  CHECK(error.fault == OpenFault::newer_schema);
  CHECK(error.message.find("newer coffer") != std::string::npos);
  CHECK(error.message.find("Install that version again, or restore") != std::string::npos);
}

TEST_CASE("database: a coffer file without a version is rejected") {
  const TemporaryFolder folder;
  CHECK(open_error(folder.file()).fault == OpenFault::none);
  make_sqlite_file(folder.file(), "PRAGMA user_version = 0");
  CHECK(open_error(folder.file()).fault == OpenFault::corrupt);
}

TEST_CASE("database: places where no file can be") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("plain")).close();
  CHECK(open_error(folder.path() + "/plain/ledger.db").fault == OpenFault::cannot_create);
  CHECK(open_error("/proc/coffer-test/ledger.db").fault == OpenFault::cannot_create);
  fs::create_directory(folder.file("folder"));
  const OpenError error = open_error(folder.file("folder"));
  CHECK(error.fault == OpenFault::cannot_create);
  CHECK_FALSE(error.message.empty());
}

TEST_CASE("database: the writer is durable, and its settings keep it so") {
  OpenedFile file;
  REQUIRE(file.write([](WriteTx& tx) -> Result<void> {
    const auto setting = [&](const char* name) {
      return scalar(tx.db(), std::string("PRAGMA ") + name);
    };
    CHECK(setting("journal_mode") == "wal");
    CHECK(setting("synchronous") == "2");  // FULL
    CHECK(setting("fullfsync") == "1");
    CHECK(setting("checkpoint_fullfsync") == "1");
    CHECK(setting("foreign_keys") == "1");
    CHECK(setting("trusted_schema") == "0");
    CHECK(setting("cell_size_check") == "1");
    CHECK(setting("mmap_size") == "0");
    CHECK(setting("temp_store") == "2");  // memory
    CHECK(setting("wal_autocheckpoint") == "0");
    CHECK(setting("application_id") == std::to_string(kApplicationId));
    CHECK(setting("user_version") == std::to_string(schema_version()));
    return {};
  }));
}

TEST_CASE("database: readers cannot write and do not checkpoint") {
  OpenedFile file;
  file.read([](Connection& db) {
    CHECK(scalar(db, "PRAGMA query_only") == "1");
    CHECK(scalar(db, "PRAGMA wal_autocheckpoint") == "0");
    CHECK_THROWS_AS(db.execute("INSERT INTO meta VALUES ('x', 'x')"), SqlError);
    CHECK_THROWS_AS(db.execute("DROP TABLE meta"), SqlError);
    return 0;
  });
  CHECK(file.value("SELECT count(*) FROM meta WHERE name = 'x'") == "0");
}

TEST_CASE("database: one lease is one state of the file") {
  OpenedFile file;
  const auto add = [&](const char* name) {
    REQUIRE(file.write([&](WriteTx& tx) -> Result<void> {
      write_meta(tx, name, "x");
      return {};
    }));
  };
  // In addition to those that coffer stores itself.
  const char* names = "SELECT group_concat(name) FROM meta WHERE length(name) = 1";
  add("a");
  const Reader early = file.database->reader().value();
  CHECK(scalar(early.db(), names) == "a");
  add("b");
  add("c");
  CHECK(scalar(early.db(), names) == "a");
  CHECK(file.value(names) == "a,b,c");
}

TEST_CASE("database: more readers than there are wait, then shed") {
  OpenedFile file({}, {.readers = 2, .reader_wait_ms = 100});
  {
    const Reader first = file.database->reader().value();
    const Reader second = file.database->reader().value();
    const auto third = file.database->reader();
    REQUIRE_FALSE(third);
    CHECK(third.error().slug == Slug::overloaded);
    CHECK(third.error().retry_after_s.has_value());
  }
  CHECK(file.database->reader());
}

TEST_CASE("database: a full pool of readers makes no other pool wait") {
  OpenedFile file({}, {.readers = 1, .reader_wait_ms = 0});
  for (const ReadersKind& full : kReaders) {
    INFO(full.name);
    std::vector<Reader> taken;
    {
      const ReadersScope scope(full.pool);
      while (auto lease = file.database->reader()) taken.push_back(*std::move(lease));
      CHECK(ReadersScope::current() == full.pool);
    }
    CHECK(ReadersScope::current() == Readers::read);
    for (const ReadersKind& other : kReaders) {
      const ReadersScope scope(other.pool);
      CHECK(file.database->reader().has_value() == (other.pool != full.pool));
    }
    CHECK(file.database->reader_stats().at(static_cast<std::size_t>(full.pool)).rejected == 2);
  }
}

TEST_CASE("database: scopes of readers nest, and belong to one thread") {
  const ReadersScope outer(Readers::search);
  {
    const ReadersScope inner(Readers::money);
    CHECK(ReadersScope::current() == Readers::money);
    Readers elsewhere = Readers::money;
    Thread("other", [&] { elsewhere = ReadersScope::current(); }).join();
    CHECK(elsewhere == Readers::read);
  }
  CHECK(ReadersScope::current() == Readers::search);
}

TEST_CASE("database: a waiting caller gets the returned reader") {
  OpenedFile file({}, {.readers = 1, .reader_wait_ms = 60'000});
  auto only = std::make_unique<Reader>(file.database->reader().value());
  std::atomic<bool> got{false};
  Thread waiter("waiter", [&] { got = file.database->reader().has_value(); });
  only.reset();
  waiter.join();
  CHECK(got);
}

TEST_CASE("database: a reader that stays too long is interrupted and given back whole") {
  OpenedFile file({}, {.readers = 1});
  std::atomic<bool> done{false};
  Result<int> verdict = 0;
  Thread slow("slow", [&] {
    verdict = with_reader(*file.database, [](Connection& db) -> Result<int> {
      Query query(db, kEndless);
      query.step();
      return 1;
    });
    done = true;
  });
  while (!done) {
    file.clock.advance_ms(500);  // past the limit soon; the statement may not have started yet
    file.database->interrupt_stale_readers();
  }
  slow.join();
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().slug == Slug::overloaded);
  CHECK(verdict.error().retry_after_s.has_value());
  CHECK(file.count("payments") == 0);  // the same connection, as good as before
}

TEST_CASE("database: interrupts at any moment leave no connection in a transaction") {
  OpenedFile file({}, {.readers = 1});
  std::atomic<bool> done{false};
  int served = 0;
  Thread reading("reading", [&] {
    for (int i = 0; i < 2'000 || served == 0; ++i) {
      const auto value = with_reader(*file.database, [](Connection& db) -> Result<std::int64_t> {
        Query query(db, "SELECT count(*) FROM sqlite_schema");
        query.step();
        return query.integer(0);
      });
      if (value) ++served;
    }
    done = true;
  });
  while (!done) {
    file.clock.advance_ms(10'000);
    file.database->interrupt_stale_readers();
  }
  reading.join();
  for (int i = 0; i < 10; ++i) CHECK(file.count("payments") == 0);
}

TEST_CASE("database: a young reader is left alone") {
  OpenedFile file;
  const Reader lease = file.database->reader().value();
  Query query(lease.db(), "SELECT name FROM sqlite_schema");
  REQUIRE(query.step());
  file.clock.advance_ms(1'900);
  file.database->interrupt_stale_readers();
  CHECK(query.step());
}

TEST_CASE("database: other errors of a reader are not reported as slowness") {
  OpenedFile file;
  const auto wrong = [](Connection& db) -> Result<int> {
    db.execute("SELECT nothing FROM nowhere");
    return 1;
  };
  CHECK_THROWS_AS(with_reader(*file.database, wrong), SqlError);
  CHECK(file.database->reader());
}

TEST_CASE("database: the disk's room and the log's size are known") {
  OpenedFile file;
  CHECK(file.database->free_bytes() > 0);
  CHECK(file.database->wal_bytes() > 0);
}

TEST_CASE("database: opening a file reads the same number of pages for any content") {
  const auto pages_read = [](int payments) {
    SmallLedger ledger;
    for (int i = 0; i < payments; ++i) {
      ledger.pay_and_settle(ledger.transfer("p" + std::to_string(i), 1));
    }
    ledger.close();
    ledger.open();
    int read = 0;
    ledger
        .write([&](WriteTx& tx) -> Result<void> {
          int highest = 0;
          sqlite3_db_status(static_cast<sqlite3*>(tx.db().handle()), SQLITE_DBSTATUS_CACHE_MISS,
                            &read, &highest, 0);
          return {};
        })
        .value();
    return read;
  };
  const int few = pages_read(1);
  const int many = pages_read(1'500);  // about 1 MiB
  CHECK(few > 0);
  CHECK(many < few + 16);  // the trees are a level higher
}
