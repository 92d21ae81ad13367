#include "flows/operations/backups.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/files/folders.h"
#include "base/limits/pace.h"
#include "base/telemetry/log.h"
#include "flows/operations/file_keys.h"
#include "store/file/foreign_file.h"
#include "store/schema.h"
#include "store/schema_check.h"

namespace coffer::flows {
namespace {

namespace fs = std::filesystem;

// The size of a piece, because a payment may have to wait until one piece is flushed.
constexpr std::int64_t kFlushEveryBytes = 2 << 20;
// Space for what payments write during a backup.
constexpr std::uint64_t kLogMarginBytes = 64ULL << 20;

/// Thrown by the progress function to cancel a backup.
struct GaveUp {
  Problem problem;
};

std::uint64_t free_bytes(const std::string& folder) {
  return free_disk_bytes(folder).value_or(
      UINT64_MAX);  // if unknown, a full disk makes writing fail
}

bool same_disk(const std::string& a, const std::string& b) {
  struct stat one {};
  struct stat other {};
  return ::stat(a.c_str(), &one) == 0 && ::stat(b.c_str(), &other) == 0 &&
         one.st_dev == other.st_dev;
}

/// Space that the disk of the backup must keep free, so that payments are not rejected because of
/// it.
std::uint64_t reserve_of(const Context& context, const BackupRequest& request) {
  return same_disk(context.database.path(), directory_of(request.path))
             ? request.floor_bytes + kLogMarginBytes
             : 0;
}

Problem no_room(const BackupRequest& request, std::uint64_t wanted) {
  return full_disk_problem("not enough disk space for a backup in " + directory_of(request.path),
                           "it needs " + std::to_string((wanted >> 20) + 1) +
                               " MiB, and some space must remain for payments");
}

Problem ran_out(const BackupRequest& request) {
  return full_disk_problem("the backup in " + directory_of(request.path) + " was abandoned",
                           "the disk became too full, and payments take precedence");
}

/// Writes the copy and synchronises it piece by piece.
Result<void> copy(const Context& context, const BackupRequest& request, PartialFile& file,
                  const ProgressFunction& progress) {
  const std::uint64_t reserve = reserve_of(context, request);
  std::int64_t flushed = 0;
  return store::copy_database(context.database, context.queue, file.path(),
                              [&](std::int64_t done, std::int64_t total) {
                                progress({"copying", done, total, Progress::Unit::bytes});
                                if (done - flushed < kFlushEveryBytes) return;
                                flushed = done;
                                if (free_bytes(directory_of(request.path)) < reserve)
                                  throw GaveUp{ran_out(request)};
                                if (auto flushed_to_disk = file.flush(); !flushed_to_disk) {
                                  throw GaveUp{std::move(flushed_to_disk).error()};
                                }
                              });
}

Problem sql_problem(const BackupRequest& request, const store::SqlError& error) {
  const std::string what = "cannot write " + request.path;
  if (store::is_full_disk(error)) return full_disk_problem(what);
  return Problem(Slug::unexpected_error, what + ": " + error.what());
}

/// A checkpoint of the copy that contains its checksum.
Result<std::string> sign_copy(const Context& context, const std::string& copy, const Backup& made) {
  Result<std::string> line = std::string();
  store::read_foreign_file(copy, [&](store::Connection& db) {
    line = sign_checkpoint(context.sealer, db, made.begun_at, made.sha256);
  });
  return line;
}

void remove_file(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

/// Removes the files beside a backup that contain the digest of the partial file that it left.
void drop_files_of_killed(const std::string& path, const std::string& partial) {
  std::optional<Result<std::string>> digest;
  for (const char* ending : kEndingsBeside) {
    std::error_code gone;
    if (!fs::is_regular_file(fs::symlink_status(path + ending, gone))) continue;
    std::string line;
    std::ifstream file(path + ending);
    std::getline(file, line);
    if (!digest) digest = sha256_of_file(partial);
    if (*digest && line.find(**digest) != std::string::npos) remove_file(path + ending);
  }
}

/// A small file on disk that has no final name yet.
Result<PartialFile> written(const std::string& path, std::string_view text) {
  COFFER_TRY(PartialFile file, PartialFile::create(path));
  COFFER_TRY_VOID(file.append(text));
  COFFER_TRY_VOID(file.flush());
  return file;
}

Result<void> publish(const Context& context, const BackupRequest& request, PartialFile& file,
                     Backup& out) {
  const std::string name = fs::path(request.path).filename().string();
  COFFER_TRY(const std::string line, sign_copy(context, file.path(), out));
  COFFER_TRY(PartialFile signature, written(request.path + kSignatureEnding, line + "\n"));
  COFFER_TRY(PartialFile checksum,
             written(request.path + kChecksumEnding, out.sha256 + "  " + name + "\n"));
  // The backup gets its name last, so that it always has a checksum and a signature.
  COFFER_TRY_VOID(signature.publish());
  const auto has_checksum = checksum.publish();
  const auto done = has_checksum ? file.publish() : has_checksum;
  if (!done) {
    if (has_checksum) remove_file(request.path + kChecksumEnding);
    remove_file(request.path + kSignatureEnding);
  }
  return done;
}

/// Writes the database to a file without a final name.
Result<void> write_copy(const Context& context, const BackupRequest& request, PartialFile& file,
                        const ProgressFunction& progress) {
  const std::uint64_t wanted = context.database.file_bytes() + context.database.wal_bytes();
  const std::uint64_t free = free_bytes(directory_of(request.path));
  if (free < wanted || free - wanted < reserve_of(context, request)) {
    return unexpected(no_room(request, wanted));
  }
  try {
    return copy(context, request, file, progress);
  } catch (const GaveUp& fault) {
    return unexpected(fault.problem);
  } catch (const store::SqlError& error) {
    return unexpected(sql_problem(request, error));
  }
}

/// `validation-failed` if restore would reject the copy because of what another program has added
/// to the served database.
Result<void> check_schema(const Context& context, const std::string& copy) {
  const auto marks = store::read_file_marks(copy);
  if (marks && marks->schema_fault.empty()) return {};
  return unexpected(Slug::validation_failed,
                    marks ? "the backup was discarded, because coffer restore would reject it: " +
                                marks->schema_fault + ". " +
                                store::schema_remedy(marks->schema_drops, context.database.path())
                          : "the backup was discarded, because it cannot be read. Check the disk");
}

Result<Backup> write_backup(const Context& context, const BackupRequest& request, PartialFile file,
                            const ProgressFunction& progress) try {
  Backup out{.path = request.path, .begun_at = context.queue.now()};
  const std::int64_t began_ms = context.clock.monotonic_ms();
  COFFER_TRY_VOID(write_copy(context, request, file, progress));
  COFFER_TRY_VOID(file.flush());
  COFFER_TRY_VOID(check_schema(context, file.path()));
  if (request.verify) {
    out.verdict = store::verify_file(file.path(), progress, keys_under(context.sealer));
  }
  out.bytes = static_cast<std::int64_t>(file_bytes(file.path()));
  if (!out.verdict || out.verdict->violations.empty()) {
    Pace pace;
    COFFER_TRY(out.sha256, sha256_of_file(file.path(), [&](std::int64_t done) {
                 progress({"checksum", done, out.bytes, Progress::Unit::bytes});
                 pace.rest();
               }));
    COFFER_TRY_VOID(publish(context, request, file, out));
  }
  out.took_ms = context.clock.monotonic_ms() - began_ms;
  return out;
} catch (const store::SqlError& error) {
  return unexpected(sql_problem(request, error));
}

}  // namespace

Result<PartialFile> create_backup_file(const std::string& path) {
  const auto left = [&](const std::string& partial) { drop_files_of_killed(path, partial); };
  COFFER_TRY(PartialFile file, PartialFile::create(path, left));
  for (const char* ending : kEndingsBeside) COFFER_TRY_VOID(check_unused(path + ending));
  return file;
}

Result<Backup> back_up(const Context& context, const BackupRequest& request,
                       const ProgressFunction& progress) {
  COFFER_TRY(PartialFile file, create_backup_file(request.path));
  return back_up(context, request, std::move(file), progress);
}

Result<Backup> back_up(const Context& context, const BackupRequest& request, PartialFile file,
                       const ProgressFunction& progress) {
  Result<Backup> made = write_backup(context, request, std::move(file), progress);
  if (!made || (made->verdict && !made->verdict->violations.empty())) return made;
  const store::BackupRecord record{made->begun_at, made->bytes, request.verify, made->path};
  const auto recorded =
      context.write([&](store::WriteTx& tx) { store::record_backup(tx, record); });
  // Only a warning, because the backup itself is complete.
  if (!recorded) log_warning("backup", "the backup could not be recorded");
  return made;
}

Result<void> with_copy(const Context& context, const BackupRequest& request,
                       const ProgressFunction& progress,
                       const std::function<void(const std::string&)>& use) {
  auto file = PartialFile::create(request.path);
  if (!file && file.error().slug == Slug::overloaded) {
    return unexpected(Slug::overloaded, "another command of the same kind works on a copy of " +
                                            context.database.path() +
                                            ". Try again when that command is complete");
  }
  if (!file) return unexpected(std::move(file).error());
  COFFER_TRY_VOID(write_copy(context, request, *file, progress));
  use(file->path());
  return {};
}

void drop_left_copies(const Context& context) {
  const fs::path database = context.database.path();
  const std::string begin = database.filename().string() + kCopyEnding;
  for (const std::string& path : partials_in(directory_of(database))) {
    const bool is_copy = fs::path(path).filename().string().starts_with(begin);
    if (is_copy) static_cast<void>(PartialFile::create(path));
  }
}

}  // namespace coffer::flows
