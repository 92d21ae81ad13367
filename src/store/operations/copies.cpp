#include "store/operations/copies.h"

#include <sqlite3.h>

#include <charconv>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "base/limits/pace.h"
#include "base/telemetry/metrics.h"
#include "store/commit_queue.h"
#include "store/database.h"
#include "store/file/copy_file.h"
#include "store/file/foreign_file.h"
#include "store/file/held_file.h"
#include "store/ledger/catalog.h"
#include "store/replication/file_position.h"
#include "store/rows/key_walk.h"
#include "store/schema.h"

namespace coffer::store {
namespace {

constexpr std::string_view kLastBackup = "last_backup";
constexpr std::string_view kBackupFailure = "backup_failure";

constexpr const char* kUserVersion = "PRAGMA user_version";

std::int64_t number(Connection& db, const char* sql) { return first_integer(db, sql).value_or(0); }

FileSummary summary_of(Connection& db) {
  FileSummary out;
  out.schema = static_cast<int>(number(db, kUserVersion));
  out.payments = number(db, "SELECT count(*) FROM payments");
  Query last(db, "SELECT journal, at FROM journal ORDER BY journal DESC LIMIT 1");
  if (last.step()) {
    out.entry_sets = last.integer(0);
    out.last_entry_at = last.time(1);
  }
  return out;
}

/// Checks only what applies to every schema.
void verify_structure(Connection& db, FileVerdict& verdict) {
  Query integrity(db, "PRAGMA integrity_check(1)");
  if (integrity.step() && integrity.text(0) != "ok") {
    verdict.violations.push_back({"sqlite_integrity", integrity.text(0)});
  }
}

void find_keys(Connection& db, const OpenKeys& open_keys, FileVerdict& verdict) {
  if (!open_keys) return;
  auto keys = open_keys(db);
  if (!keys) return verdict.violations.push_back({"chain_key", keys.error().detail});
  if (*keys == nullptr) return;
  use_keys(db, *std::move(keys));
  verdict.keyed = true;
}

/// Further connections for verify(). Only to a closed file: in one that is written to, each
/// connection could see another state.
Connections more_connections(const std::string& path, const OpenKeys& open_keys, int threads) {
  Connections out;
  if (FileLook(path).reading(false) != OpenMode::immutable) return out;
  for (int i = 1; i < threads; ++i) {
    out.push_back(std::make_unique<Connection>(path, OpenMode::immutable));
    FileVerdict same;
    find_keys(*out.back(), open_keys, same);
  }
  return out;
}

void judge(Connection& db, const std::string& path, const ProgressFunction& progress,
           const OpenKeys& open_keys, int threads, FileVerdict& verdict) {
  if (number(db, "PRAGMA application_id") != kApplicationId) {
    verdict.violations.push_back({"coffer_file", "this is not a coffer file"});
    return;
  }
  const auto schema = static_cast<int>(number(db, kUserVersion));
  verdict.summary.schema = schema;
  verdict.newer_schema = schema > schema_version();
  verdict.older_schema = schema < schema_version();
  if (verdict.newer_schema || verdict.older_schema) return verify_structure(db, verdict);
  find_keys(db, open_keys, verdict);
  for (Violation& found : verify(db, true, progress, more_connections(path, open_keys, threads))) {
    verdict.violations.push_back(std::move(found));
  }
  verdict.summary = summary_of(db);
}

constexpr std::int64_t kStepUs = 500;
constexpr int kStepPages = 8;  // between two looks at the time

/// A copy of a database by its writer, between batches. Any exception passes to the caller's
/// thread.
class LiveCopy {
 public:
  LiveCopy(CommitQueue& queue, const std::string& to)
      : queue_(queue), file_(to), copy_(std::in_place, to, file_.vfs()) {
    // Until it is complete, the copy is worthless.
    copy_->execute(
        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
        "PRAGMA cache_size=-1024");
    on_writer([&](Connection& writer) {
      page_bytes_ = number(writer, "PRAGMA page_size");
      backup_.emplace(*copy_, writer);
    });
  }
  ~LiveCopy() { end(); }
  LiveCopy(const LiveCopy&) = delete;
  LiveCopy& operator=(const LiveCopy&) = delete;

  /// Returns false if the copy is complete.
  Result<bool> advance(const CopyProgress& progress) try {
    bool more = true;
    int place = 0;
    int left = 0;
    on_writer([&](Connection&) {
      const Stopwatch watch;
      do more = backup_->step(kStepPages);
      while (more && watch.elapsed_us() < kStepUs);
      left = backup_->remaining();
      place = backup_->total() - left;
    });
    if (!more) end();
    file_.write_out();
    if (!more) file_.cut();
    if (place < place_) place_ = 0;  // it was started again
    done_ += place - std::exchange(place_, place);
    progress(done_ * page_bytes_, (done_ + left) * page_bytes_);
    return more;
  } catch (const SqlError&) {
    if (!file_.overflowed()) throw;
    return unexpected(Slug::overloaded,
                      "the disk of the backup is slower than the database changes");
  }

 private:
  template <class Work>
  void on_writer(const Work& work) {
    std::exception_ptr fault;
    queue_.between_batches([&](Connection& writer) {
      try {
        work(writer);
      } catch (...) {
        fault = std::current_exception();
      }
    });
    if (fault) std::rethrow_exception(fault);
  }

  void end() {
    on_writer([&](Connection&) { backup_.reset(); });
    copy_.reset();
  }

  CommitQueue& queue_;
  CopyFile file_;
  std::optional<Connection> copy_;
  std::optional<LiveBackup> backup_;
  std::int64_t page_bytes_ = 0;
  int place_ = 0;          // pages before it are copied
  std::int64_t done_ = 0;  // pages, including those copied again
};

}  // namespace

Result<void> copy_database(Database& database, CommitQueue& queue, const std::string& to,
                           const CopyProgress& progress) {
  drop_left_logs(to);
  {
    LiveCopy copy(queue, to);
    Pace pace;
    for (bool more = true; more; pace.rest()) {
      if (!database.in_place()) return unexpected(overloaded(kMovedFile));
      COFFER_TRY(more, copy.advance(progress));
    }
  }
  leave_wal(to);
  return {};
}

FileVerdict verify_file(const std::string& path, const ProgressFunction& progress,
                        const OpenKeys& open_keys, int threads) {
  FileVerdict out;
  try {
    read_foreign_file(path, [&](Connection& db) {
      out = {};
      judge(db, path, progress, open_keys, threads, out);
    });
  } catch (const SqlError& error) {
    if (error.primary_code == SQLITE_INTERRUPT || is_full_disk(error)) throw;
    out.violations.push_back({"sqlite_file", error.what()});
  }
  return out;
}

std::string upgrade_copy(const std::string& path) {
  try {
    Connection db(path, OpenMode::read_write);
    return bring_schema_up_to_date(db, path).message;
  } catch (const SqlError& error) {
    if (is_full_disk(error)) throw;
    return path + " could not be upgraded: " + error.what();
  }
}

void stand_alone(const std::string& path, std::string_view row, std::string_view value) {
  Connection copy(path, OpenMode::read_write);
  Transaction transaction(copy, true);
  forget_position(copy, path);
  if (!value.empty()) {
    copy.run("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", row, Blob{value});
  }
  transaction.commit();
}

// Stored in meta as text: `AT BYTES VERIFIED PATH`, times in milliseconds.
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
  tx.db().run("DELETE FROM meta WHERE name = ?", kBackupFailure);
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
