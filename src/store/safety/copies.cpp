#include "store/safety/copies.h"

#include <sqlite3.h>

#include <charconv>
#include <memory>
#include <utility>

#include "store/catalog.h"
#include "store/database.h"
#include "store/operating/newest.h"
#include "store/safety/foreign_file.h"
#include "store/schema.h"

namespace coffer::store {
namespace {

constexpr int kPagesAtOnce = 2'048;  // 8 MiB
constexpr std::string_view kLastBackup = "last_backup";
constexpr std::string_view kBackupFailure = "backup_failure";

constexpr const char* kBegin = "BEGIN";
constexpr const char* kTouch = "SELECT count(*) FROM sqlite_schema";
constexpr const char* kUserVersion = "PRAGMA user_version";
constexpr const char* kApplication = "PRAGMA application_id";
constexpr const char* kIntegrity = "PRAGMA integrity_check(1)";
constexpr const char* kPayments = "SELECT count(*) FROM payments";
constexpr const char* kLastEntry = "SELECT journal, at FROM journal ORDER BY journal DESC LIMIT 1";
constexpr const char* kForget = "DELETE FROM meta WHERE name = ?";

sqlite3* handle_of(const Connection& connection) {
  return static_cast<sqlite3*>(connection.handle());
}

[[noreturn]] void throw_error(sqlite3* handle) {
  const int code = sqlite3_extended_errcode(handle);
  throw SqlError(sqlite3_errmsg(handle), code & 0xff, code);
}

std::int64_t number(Connection& db, const char* sql) { return first_integer(db, sql).value_or(0); }

FileSummary summary_of(Connection& db) {
  FileSummary out;
  out.schema = static_cast<int>(number(db, kUserVersion));
  out.payments = number(db, kPayments);
  Query last(db, kLastEntry);
  if (last.step()) {
    out.entry_sets = last.integer(0);
    out.last_entry_at = last.time(1);
  }
  return out;
}

/// Only what holds under every schema.
void verify_structure(Connection& db, FileVerdict& verdict) {
  Query integrity(db, kIntegrity);
  if (integrity.step() && integrity.text(0) != "ok") {
    verdict.violations.push_back({"sqlite_integrity", integrity.text(0)});
  }
}

void judge(Connection& db, const ProgressFunction& progress, FileVerdict& verdict) {
  if (number(db, kApplication) != kApplicationId) {
    verdict.violations.push_back({"coffer_file", "this is no file of coffer"});
    return;
  }
  const auto schema = static_cast<int>(number(db, kUserVersion));
  verdict.summary.schema = schema;
  verdict.newer_schema = schema > schema_version();
  verdict.older_schema = schema < schema_version();
  if (verdict.newer_schema || verdict.older_schema) return verify_structure(db, verdict);
  verdict.violations = verify(db, true, progress);
  verdict.summary = summary_of(db);
}

}  // namespace

// SQLite removes them under its own locks as soon as it reads a file without a page.
void drop_left_logs(const std::string& empty_file) {
  Connection db(empty_file, OpenMode::read_write);
  Query(db, kTouch).run();
}

void leave_wal(const std::string& path) {
  Connection copy(path, OpenMode::read_write);
  copy.execute("PRAGMA synchronous=OFF; PRAGMA journal_mode=DELETE");
}

void copy_database(const std::string& from, const std::string& to, const CopyProgress& progress) {
  drop_left_logs(to);
  {
    Connection source(from, OpenMode::read_only);
    source.execute("PRAGMA busy_timeout=5000; PRAGMA cache_size=-2048");
    Connection target(to, OpenMode::read_write);
    target.execute("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-2048");
    // One moment for all pieces. Without it, every commit meanwhile starts the copy again, and
    // under load it never ends.
    Query(source, kBegin).run();
    Query(source, kTouch).run();
    struct Finish {
      void operator()(sqlite3_backup* backup) const { sqlite3_backup_finish(backup); }
    };
    const std::unique_ptr<sqlite3_backup, Finish> backup(
        sqlite3_backup_init(handle_of(target), "main", handle_of(source), "main"));
    if (!backup) throw_error(handle_of(target));
    constexpr std::int64_t kPageBytes = 4'096;
    for (int code = SQLITE_OK; code != SQLITE_DONE;) {
      code = sqlite3_backup_step(backup.get(), kPagesAtOnce);
      if (code != SQLITE_OK && code != SQLITE_DONE) {
        throw SqlError(sqlite3_errstr(code), code & 0xff, code);
      }
      const std::int64_t total = sqlite3_backup_pagecount(backup.get());
      progress((total - sqlite3_backup_remaining(backup.get())) * kPageBytes, total * kPageBytes);
    }
  }
  leave_wal(to);
}

FileVerdict verify_file(const std::string& path, const ProgressFunction& progress) {
  FileVerdict out;
  try {
    read_foreign_file(path, [&](Connection& db) {
      out = {};
      judge(db, progress, out);
    });
  } catch (const SqlError& error) {
    if (error.primary_code == SQLITE_INTERRUPT) throw;
    out.violations.push_back({"sqlite_file", error.what()});
  }
  return out;
}

std::string upgrade_copy(const std::string& path) {
  try {
    Connection db(path, OpenMode::read_write);
    return bring_schema_up_to_date(db, path).message;
  } catch (const SqlError& error) {
    return path + " could not be upgraded: " + error.what();
  }
}

// In meta as text: `AT BYTES VERIFIED PATH`, times in milliseconds.
std::optional<BackupRecord> last_backup(Connection& db) {
  const auto text = read_meta(db, kLastBackup);
  if (!text) return std::nullopt;
  BackupRecord out;
  const char* at = text->data();
  const char* const end = at + text->size();
  std::int64_t verified = 0;
  for (std::int64_t* value : {&out.at.ms, &out.bytes, &verified}) {
    const auto [next, error] = std::from_chars(at, end, *value);
    if (error != std::errc() || next == end) return std::nullopt;
    at = next + 1;
  }
  out.verified = verified == 1;
  out.path.assign(at, end);
  return out;
}

void record_backup(WriteTx& tx, const BackupRecord& record) {
  write_meta(tx, kLastBackup,
             std::to_string(record.at.ms) + ' ' + std::to_string(record.bytes) +
                 (record.verified ? " 1 " : " 0 ") + record.path);
  Query(tx.db(), kForget, kBackupFailure).run();
}

std::optional<BackupFailure> backup_failure(Connection& db) {
  const auto text = read_meta(db, kBackupFailure);
  if (!text) return std::nullopt;
  BackupFailure out;
  const auto [next, error] = std::from_chars(text->data(), text->data() + text->size(), out.at.ms);
  if (error != std::errc() || next == text->data() + text->size()) return std::nullopt;
  out.reason.assign(next + 1, text->data() + text->size());
  return out;
}

void record_backup_failure(WriteTx& tx, const std::string& reason) {
  write_meta(tx, kBackupFailure, std::to_string(tx.now().ms) + ' ' + reason);
}

}  // namespace coffer::store
