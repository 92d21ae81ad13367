// Copies of a file during writes, and the effect of a flipped byte.
#include "store/operations/copies.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/thread.h"
#include "store/file/foreign_file.h"
#include "store/identity/audit_log.h"
#include "store/ledger/catalog.h"
#include "store/operations/seals.h"
#include "store/schema.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

constexpr std::int64_t kPageBytes = 2'048;

void fill(SmallLedger& ledger) {
  for (int i = 0; i < 5; ++i) {
    ledger.pay_and_settle(ledger.transfer("done" + std::to_string(i), 100 + i));
  }
  ledger.pay(ledger.transfer("open", 50));
  for (int i = 0; i < 4; ++i) {
    ledger
        .write([&](WriteTx& tx) -> Result<void> {
          append_audit_entry(tx, {"ada", "wallet fund", R"({"ID":"x"})", std::nullopt});
          return {};
        })
        .value();
  }
}

/// A complete file, and copies with one changed byte.
class Damaged {
 public:
  Damaged() : path_(folder_.file("copy.db")) {
    SmallLedger ledger;
    fill(ledger);
    copy_database(*ledger.database, *ledger.queue, path_, [](auto&&...) {}).value();
    REQUIRE(verify_file(path_, [](auto&&...) {}).violations.empty());
  }

  std::int64_t size() const { return static_cast<std::int64_t>(std::filesystem::file_size(path_)); }
  const std::string& path() const { return path_; }

  /// The bytes of the rows of a table that fits one page: (first, behind the last).
  std::pair<std::int64_t, std::int64_t> rows_of(const std::string& table) {
    std::int64_t page = 0;
    {
      Connection db(path_, OpenMode::read_only);
      page = number(
          db, "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = '" + table + "'");
    }
    const std::int64_t start = (page - 1) * kPageBytes;
    REQUIRE(byte_at(start) == 0x0d);  // a leaf
    const std::int64_t first = byte_at(start + 5) * 256 + byte_at(start + 6);
    return {start + first, start + kPageBytes};
  }

  std::vector<Violation> with_flipped(std::int64_t offset, int bit) {
    flip(offset, bit);
    const OpenKeys open_keys = [](Connection&) -> Result<std::unique_ptr<const ChainKeys>> {
      return test_keys();
    };
    auto found = verify_file(
                     path_, [](auto&&...) {}, open_keys)
                     .violations;
    seen_ = found.empty() ? money() : std::string();
    flip(offset, bit);
    return found;
  }
  /// The contents of the ledger after an undetected flip.
  const std::string& seen() const { return seen_; }

  /// Every column of the ledger and the audit log, except the opening time of accounts.
  std::string money() {
    Connection db(path_, OpenMode::read_only);
    std::string out;
    for (const char* sql : {"SELECT group_concat(account || ',' || tenant || ',' || kind || ',' || "
                            "ifnull(wallet, '-') || ',' ||"
                            " asset || ',' || ifnull(connector, '-') || ',' || balance || ',' || "
                            "held, ';') FROM accounts",
                            "SELECT group_concat(entry || ',' || account || ',' || amount || ',' "
                            "|| balance_after || ',' ||"
                            " counterparty || ',' || leg, ';') FROM entries",
                            "SELECT group_concat(journal || ',' || tenant || ',' || kind || ',' || "
                            "ifnull(payment, '-') || ',' ||"
                            " at || ',' || hex(link), ';') FROM journal",
                            "SELECT group_concat(payment || ',' || account || ',' || amount || ',' "
                            "|| state, ';') FROM holds",
                            "SELECT group_concat(entry || ',' || at || ',' || actor || ',' || "
                            "command || ',' || detail || ',' ||"
                            " hex(link), ';') FROM audit_log"}) {
      out += scalar(db, sql) + '\n';
    }
    return out;
  }

 private:
  int byte_at(std::int64_t offset) const {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(offset);
    return file.get();
  }
  void flip(std::int64_t offset, int bit) {
    const int value = byte_at(offset) ^ (1 << bit);
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(offset);
    file.put(static_cast<char>(value));
  }

  TemporaryFolder folder_;
  std::string path_;
  std::string seen_;
};

}  // namespace

namespace {

Result<void> add_bulk(WriteTx& tx) {
  tx.db().execute("INSERT INTO meta VALUES ('bulk', zeroblob(40000000))");
  return {};
}

/// Copies a file with bulk, and calls `between` after each of many steps. Returns the bytes that
/// were copied; more than the copy has if it was started again.
template <class Between>
std::int64_t copied_bytes(OpenedFile& file, const std::string& to, const Between& between) {
  std::int64_t last = 0;
  int steps = 0;
  const auto copied =
      copy_database(*file.database, *file.queue, to, [&](std::int64_t done, std::int64_t total) {
        CHECK(done > last);
        CHECK(done <= total);
        last = done;
        ++steps;
        between(steps);
      });
  REQUIRE(copied);
  CHECK(steps > 3);
  for (const char* suffix : {"-wal", "-shm", "-journal"})
    CHECK_FALSE(std::filesystem::exists(to + suffix));
  return last;
}

std::int64_t size_of(const std::string& path) {
  return static_cast<std::int64_t>(std::filesystem::file_size(path));
}

}  // namespace

TEST_CASE("copies: one file without a log, as it was at one moment, while it is written to",
          "[store]") {
  SmallLedger ledger;
  ledger.write(add_bulk).value();
  fill(ledger);
  const std::string copy = ledger.folder.file("copy.db");
  const auto bytes = copied_bytes(ledger, copy, [&](int steps) {
    if (steps == 1) ledger.pay_and_settle(ledger.transfer("meanwhile", 7));
  });
  CHECK(bytes == size_of(copy));  // a commit also changes the pages that were copied already
  const FileVerdict verdict = verify_file(copy, [](auto&&...) {});
  CHECK(verdict.violations.empty());
  CHECK(verdict.summary.payments == 7);
  CHECK(verdict.summary.schema == schema_version());
}

TEST_CASE("copies: a batch that is rolled back starts the copy again", "[store]") {
  SmallLedger ledger;
  const CapturedLog log;
  ledger.write(add_bulk).value();
  fill(ledger);
  const std::string copy = ledger.folder.file("copy.db");
  const auto bytes = copied_bytes(ledger, copy, [&](int steps) {
    if (steps != 3) return;
    const auto failed = ledger.write([](WriteTx& tx) -> Result<void> {
      write_meta(tx, "undone", "x");
      throw SqlError("locked", SQLITE_BUSY, SQLITE_BUSY);
    });
    CHECK_FALSE(failed);
  });
  CHECK(bytes > size_of(copy));
  CHECK(verify_file(copy, [](auto&&...) {}).violations.empty());
  Connection db(copy, OpenMode::read_only);
  CHECK(scalar(db, "SELECT count(*) FROM meta WHERE name = 'undone'") == "0");
}

TEST_CASE("copies: commands that fail do not start the copy again", "[store]") {
  SmallLedger ledger;
  ledger.write(add_bulk).value();
  fill(ledger);
  const std::string copy = ledger.folder.file("copy.db");
  int failed = 0;
  const auto bytes = copied_bytes(ledger, copy, [&](int) {
    for (const auto mode : {CommitQueue::Mode::commit, CommitQueue::Mode::repeatable}) {
      const auto done = ledger.write(
          [](WriteTx& tx) -> Result<void> {
            write_meta(tx, "undone", "x");
            return unexpected(Slug::conflict);
          },
          mode);
      failed += done ? 0 : 1;
    }
  });
  CHECK(failed > 6);
  CHECK(bytes == size_of(copy));
  CHECK(verify_file(copy, [](auto&&...) {}).violations.empty());
}

TEST_CASE("copies: commits do not wait for the disk of the copy, which fails if it is far behind",
          "[store]") {
  SmallLedger ledger;
  ledger.write(add_bulk).value();
  const std::string copy = ledger.folder.file("copy.db");
  bool changed = false;
  // While this function runs, nothing is written to the disk of the copy.
  const auto copied =
      copy_database(*ledger.database, *ledger.queue, copy, [&](std::int64_t done, std::int64_t) {
        if (done < 20'000'000 || std::exchange(changed, true)) return;
        for (int i = 0; i < 8; ++i) {
          ledger
              .write([](WriteTx& tx) -> Result<void> {
                tx.db().execute(
                    "UPDATE meta SET value = randomblob(length(value)) WHERE name = 'bulk'");
                return {};
              })
              .value();
        }
      });
  REQUIRE_FALSE(copied);
  CHECK(Result<void>(copied).error().slug == Slug::overloaded);
  CHECK(changed);
  ledger.pay_and_settle(ledger.transfer("after", 5));
  CHECK(ledger.verify().empty());
  std::filesystem::resize_file(copy, 0);
  copy_database(*ledger.database, *ledger.queue, copy, [](auto&&...) {}).value();
  CHECK(verify_file(copy, [](auto&&...) {}).violations.empty());
}

TEST_CASE("copies: a copy is completed on a full disk, while commands are rejected", "[store]") {
  OpenedFile file({.disk_floor_bytes = ~0ULL});
  const CapturedLog log;
  file.write(add_bulk, CommitQueue::Mode::beyond_floor).value();
  const std::string copy = file.folder.file("copy.db");
  const auto bytes = copied_bytes(file, copy, [&](int) {
    const auto rejected = file.write([](WriteTx& tx) -> Result<void> {
      write_meta(tx, "rejected", "x");
      return {};
    });
    REQUIRE_FALSE(rejected);
    CHECK(Result<void>(rejected).error().slug == Slug::storage_full);
  });
  CHECK(bytes == size_of(copy));
  CHECK(verify_file(copy, [](auto&&...) {}).violations.empty());
  CHECK(file.value("SELECT count(*) FROM meta WHERE name = 'rejected'") == "0");
}

TEST_CASE(
    "copies: beside commits, with everything that was there before, and a log that stays short",
    "[store]") {
  SmallLedger ledger;
  ledger
      .write([](WriteTx& tx) -> Result<void> {
        tx.db().execute("INSERT INTO meta VALUES ('bulk', zeroblob(200000000))");
        return {};
      })
      .value();
  fill(ledger);
  const std::string copy = ledger.folder.file("copy.db");
  std::atomic<bool> over{false};
  std::atomic<int> written{0};
  std::atomic<std::uint64_t> largest{0};
  Thread writer("writer", [&] {
    for (int i = 0; !over; ++i) {
      ledger
          .write([&](WriteTx& tx) -> Result<void> {
            tx.db().execute("INSERT INTO meta VALUES ('w" + std::to_string(i % 8) +
                            "', zeroblob(500000)) ON CONFLICT (name) DO UPDATE SET value ="
                            " excluded.value");
            write_meta(tx, "count", std::to_string(i));
            return {};
          })
          .value();
      written = i;
      largest = std::max(largest.load(), ledger.database->wal_bytes());
    }
  });
  while (written < 3) rest(1);
  const int before = written;
  const auto copied = copy_database(*ledger.database, *ledger.queue, copy, [](auto&&...) {});
  over = true;
  writer.join();
  REQUIRE(copied);
  CHECK(verify_file(copy, [](auto&&...) {}).violations.empty());
  Connection db(copy, OpenMode::read_only);
  const int count =
      std::stoi(scalar(db, "SELECT CAST(value AS TEXT) FROM meta WHERE name = 'count'"));
  CHECK(count >= before);
  CHECK(written > before + 1);  // the control: it was written to meanwhile
  CHECK(largest < 128ULL << 20);
  CHECK(largest > 0);
}

TEST_CASE("copies: an interrupted copy leaves the database unchanged", "[store]") {
  SmallLedger ledger;
  fill(ledger);
  struct Stop {};
  CHECK_THROWS_AS(copy_database(*ledger.database, *ledger.queue, ledger.folder.file("copy.db"),
                                [](auto&&...) { throw Stop(); }),
                  Stop);
  ledger.pay_and_settle(ledger.transfer("after", 5));
  CHECK(verify_file(ledger.folder.file(), [](auto&&...) {}).violations.empty());
}

TEST_CASE("verify_file: a closed file is read without a trace", "[store]") {
  SmallLedger ledger;
  fill(ledger);
  ledger.close();
  const auto files = [&] {
    std::map<std::string, std::filesystem::file_time_type> out;
    for (const auto& entry : std::filesystem::directory_iterator(ledger.folder.path())) {
      out[entry.path()] = entry.last_write_time();
    }
    return out;
  };
  const auto before = files();
  std::set<std::string> while_reading;
  const FileVerdict verdict = verify_file(ledger.folder.file(), [&](auto&&...) {
    for (const auto& [name, ignored] : files()) while_reading.insert(name);
  });
  CHECK(verdict.violations.empty());
  CHECK(verdict.summary.payments == 6);
  CHECK(files() == before);
  CHECK(while_reading.size() == before.size());
}

TEST_CASE("verify_file: the log that a killed process left counts, and stays as it is", "[store]") {
  TemporaryFolder killed;
  const std::string path = killed.file();
  {
    SmallLedger ledger;
    fill(ledger);
    std::filesystem::copy_file(ledger.folder.file(), path);
    std::filesystem::copy_file(ledger.folder.file("ledger.db-wal"), path + "-wal");
  }
  REQUIRE(std::filesystem::file_size(path + "-wal") > 0);
  const auto written = std::filesystem::last_write_time(path + "-wal");
  const FileVerdict verdict = verify_file(path, [](auto&&...) {});
  CHECK(verdict.violations.empty());
  CHECK(verdict.summary.payments == 6);
  const std::string link = killed.file("link.db");
  std::filesystem::create_symlink(path, link);
  CHECK(verify_file(link, [](auto&&...) {}).summary.payments == 6);
  CHECK(holds_tables(path));
  CHECK(read_file_marks(path)->schema_version == schema_version());
  CHECK(std::filesystem::last_write_time(path + "-wal") == written);
  CHECK_FALSE(std::filesystem::exists(path + "-shm"));
}

TEST_CASE(
    "verify_file: a file that is opened meanwhile keeps its log and is verified in its new state",
    "[store]") {
  SmallLedger ledger;
  fill(ledger);
  ledger.close();
  bool opened = false;
  const auto open_once = [&](auto&&...) {
    if (std::exchange(opened, true)) return;
    ledger.open();
    // Like a server that has not written yet: the log exists and is empty.
    CHECK(std::filesystem::file_size(ledger.folder.file("ledger.db-wal")) == 0);
  };
  CHECK(verify_file(ledger.folder.file(), open_once).violations.empty());
  ledger.pay_and_settle(ledger.transfer("acknowledged", 5));
  // The content of the disk after a power cut.
  TemporaryFolder after;
  std::filesystem::copy_file(ledger.folder.file(), after.file());
  REQUIRE(std::filesystem::exists(ledger.folder.file("ledger.db-wal")));
  std::filesystem::copy_file(ledger.folder.file("ledger.db-wal"), after.file("ledger.db-wal"));
  CHECK(verify_file(after.file(), [](auto&&...) {}).summary.payments == 7);

  ledger.close();
  opened = false;
  const FileVerdict verdict = verify_file(ledger.folder.file(), [&](auto&&...) {
    if (std::exchange(opened, true)) return;
    ledger.open();
    for (int i = 0; i < 20; ++i) {
      ledger.pay_and_settle(ledger.transfer("meanwhile" + std::to_string(i), 1));
    }
    ledger.close();  // copies the log into the file that is being read
  });
  CHECK(verdict.violations.empty());
  CHECK(verdict.summary.payments == 27);
}

TEST_CASE("copies: remains of a killed copy do not get into the next", "[store]") {
  SmallLedger ledger;
  fill(ledger);
  const std::string copy = ledger.folder.file("copy.db");
  // An earlier log of the same pages, which would become part of the copy.
  std::filesystem::copy_file(ledger.folder.file("ledger.db-wal"), copy + "-wal");
  std::ofstream(copy + "-shm") << "stale";
  ledger.pay_and_settle(ledger.transfer("later", 9));
  std::ofstream(copy).flush();
  copy_database(*ledger.database, *ledger.queue, copy, [](auto&&...) {}).value();
  for (const char* suffix : {"-wal", "-shm", "-journal"})
    CHECK_FALSE(std::filesystem::exists(copy + suffix));
  const FileVerdict verdict = verify_file(copy, [](auto&&...) {});
  CHECK(verdict.violations.empty());
  CHECK(verdict.summary.payments == 7);
}

TEST_CASE("verify_file: files of other programs, empty, truncated or with another schema",
          "[store]") {
  TemporaryFolder folder;
  const std::string path = folder.file("other.db");
  const auto judged = [&] { return verify_file(path, [](auto&&...) {}); };
  std::ofstream(path) << "not a database, though long enough to be checked as one";
  CHECK(judged().violations.at(0).invariant == "sqlite_file");
  std::ofstream(path, std::ios::trunc).flush();
  CHECK(judged().violations.at(0).invariant == "coffer_file");
  Damaged whole;
  std::filesystem::copy_file(whole.path(), path, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(whole.size() - kPageBytes));
  CHECK_FALSE(judged().violations.empty());
  std::filesystem::copy_file(whole.path(), path, std::filesystem::copy_options::overwrite_existing);
  Connection(path, OpenMode::read_write).execute("PRAGMA user_version = 9999");
  CHECK(judged().newer_schema);
  CHECK(judged().violations.empty());
}

TEST_CASE("flipped bytes: in the ledger and the audit log each is found, or changed nothing",
          "[store]") {
  Damaged file;
  const std::string before = file.money();
  int unfound = 0;
  for (const std::string table : {"entries", "journal", "audit_log", "accounts"}) {
    const auto [first, end] = file.rows_of(table);
    for (std::int64_t at = first; at < end; at += table == "audit_log" ? 3 : 1) {
      INFO(table << " byte " << at);
      if (!file.with_flipped(at, static_cast<int>(at % 8)).empty()) continue;
      // The type of a key in a record header, which is not stored there, or an account's opening
      // time.
      CHECK(file.seen() == before);
      unfound += table != "accounts";
    }
  }
  CHECK(unfound < 10);
}

TEST_CASE("flipped bytes: none anywhere changes a balance, an entry or an audit entry unfound",
          "[store]") {
  Damaged file;
  const std::string before = file.money();
  SeededRandom random(11);
  int found = 0;
  for (int i = 0; i < 250; ++i) {
    std::int64_t at = 0;
    for (const char c : random.bytes(4)) at = at * 256 + static_cast<unsigned char>(c);
    at %= file.size();
    INFO("byte " << at);
    const bool this_one = !file.with_flipped(at, i % 8).empty();
    found += this_one;
    if (!this_one) CHECK(file.seen() == before);
  }
  CHECK(found > 5);
}

TEST_CASE("seals: every sealed column of the schema is known to the rotation", "[store]") {
  SmallLedger ledger;
  std::set<std::string> known;
  for (const SealedColumn& column : sealed_columns()) {
    known.insert(std::string(column.table) + "." + std::string(column.column));
  }
  const std::string in_schema = ledger.read([](Connection& db) {
    return scalar(db,
                  "SELECT group_concat(m.name || '.' || c.name) FROM sqlite_schema m,"
                  " pragma_table_info(m.name) c WHERE m.type = 'table' AND"
                  " (c.name GLOB 'sealed*' OR c.name GLOB '*secret')");
  });
  std::set<std::string> wanted;
  for (std::size_t at = 0; at < in_schema.size();) {
    const std::size_t comma = std::min(in_schema.find(',', at), in_schema.size());
    wanted.insert(in_schema.substr(at, comma - at));
    at = comma + 1;
  }
  CHECK(known == wanted);
}

TEST_CASE("backup records: the last one, and a failure since", "[store]") {
  SmallLedger ledger;
  const auto read = [&] {
    return ledger.read(
        [](Connection& db) { return std::pair(last_backup(db), backup_failure(db)); });
  };
  CHECK_FALSE(read().first);
  CHECK_FALSE(read().second);
  const BackupRecord record{{1'767'225'600'123}, 4'096, true, "/var/backups/a b.db"};
  ledger
      .write([&](WriteTx& tx) -> Result<void> {
        record_backup_failure(tx, "no room");
        return {};
      })
      .value();
  CHECK(read().second->reason == "no room");
  ledger
      .write([&](WriteTx& tx) -> Result<void> {
        record_backup(tx, record);
        return {};
      })
      .value();
  CHECK(read().first->at == record.at);
  CHECK(read().first->bytes == 4'096);
  CHECK(read().first->verified);
  CHECK(read().first->path == record.path);
  CHECK_FALSE(read().second);
}
