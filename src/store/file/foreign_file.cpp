#include "store/file/foreign_file.h"

#include <filesystem>

#include "base/fault.h"
#include "base/files/side_files.h"

namespace coffer::store {
namespace {

// SQLite counts the changes of tables; unlike their number, reading this does not load the schema.
constexpr const char* kTableChanges = "PRAGMA schema_version";

namespace fs = std::filesystem;

constexpr int kTries = 3;

}  // namespace

FileLook::Part FileLook::part(const std::string& path) {
  std::error_code error;
  Part out;
  const auto bytes = fs::file_size(path, error);
  if (error) return out;
  out.exists = true;
  out.bytes = static_cast<std::int64_t>(bytes);
  const auto written = fs::last_write_time(path, error);
  if (!error) out.written = static_cast<std::int64_t>(written.time_since_epoch().count());
  return out;
}

FileLook::FileLook(const std::string& path)
    : file_(part(path)),
      log_(part(path + kLogEnding)),
      journal_(part(path + kJournalEnding)),
      index_(part(path + kLogIndexEnding).exists) {}

OpenMode FileLook::reading(bool locked) const {
  // Any other mode deletes the log of an empty file, which may be all that is left of a ledger.
  if (file_.bytes == 0) return OpenMode::immutable;
  // A process that has the file open keeps a log and shared memory next to it. A killed process may
  // have left both.
  if (locked || (log_.exists && index_) || journal_.bytes > 0) return OpenMode::read_only;
  return log_.bytes > 0 ? OpenMode::with_left_log : OpenMode::immutable;
}

void read_foreign_file(const std::string& named, const std::function<void(Connection&)>& read) {
  // SQLite keeps the log next to the target of a symbolic link.
  std::error_code missing;
  const fs::path real = fs::canonical(named, missing);
  const std::string path = missing ? named : real.string();
  for (int tries = 1;; ++tries) {
    const FileLook before(path);
    // The last attempt uses SQLite's locks, which are safe alongside any other process.
    const bool is_last = tries == kTries;
    const OpenMode mode = before.reading(is_last);
    const bool ends = is_last || mode == OpenMode::read_only;
    try {
      Connection db(path, mode);
      db.execute("PRAGMA busy_timeout=5000; PRAGMA cell_size_check=ON");
      COFFER_FAULT("foreign.open");
      read(db);
    } catch (const SqlError&) {
      if (ends || FileLook(path) == before) throw;
      continue;
    }
    if (ends || FileLook(path) == before) return;
  }
}

bool holds_tables(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error ? error == std::errc::no_such_file_or_directory : bytes == 0) return false;
  bool holds = true;
  try {
    read_foreign_file(path, [&](Connection& db) {
      Query changes(db, kTableChanges);
      holds = changes.step() && changes.integer(0) > 0;
    });
  } catch (const SqlError&) {
  }
  return holds;
}

}  // namespace coffer::store
