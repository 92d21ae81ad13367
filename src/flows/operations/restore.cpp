#include "flows/operations/restore.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/files/durable_file.h"
#include "base/files/folders.h"
#include "base/files/readable_file.h"
#include "base/files/side_files.h"
#include "base/platform/exit_code.h"
#include "base/platform/processors.h"
#include "flows/operations/backups.h"
#include "store/file/copy_file.h"
#include "store/file/foreign_file.h"
#include "store/file/lock_file.h"

namespace coffer::flows {

Problem cannot_create(std::string why) {
  return Problem(Slug::conflict, std::move(why)).exits_with(exit_code::kCannotCreate);
}

namespace {

namespace fs = std::filesystem;

/// Checks that no file exists that could be mixed with the restored one.
Result<void> check_free(const std::string& target) {
  struct stat there {};
  if (::lstat(target.c_str(), &there) == 0) {
    return unexpected(
        cannot_create(target +
                      " already exists and is unchanged. Move it away together with its -wal "
                      "file, or restore to another file with --db"));
  }
  for (const char* ending : {kLogEnding, kJournalEnding}) {
    if (::lstat((target + ending).c_str(), &there) != 0) continue;
    return unexpected(
        cannot_create(target + ending +
                      " exists. It belongs to a previous file and may contain payments. Move it "
                      "away together with that file"));
  }
  return {};
}

Result<void> check_source(const std::string& backup) {
  if (::access(backup.c_str(), R_OK) != 0) {
    if (errno == ENOENT) return unexpected(Slug::not_found, "file not found: " + backup);
    return unexpected(
        system_problem("cannot open " + backup, "Run the command as a user that can read it"));
  }
  std::error_code error;
  if (!fs::is_regular_file(backup, error)) {
    return unexpected(Slug::validation_failed, backup + " is not a regular file");
  }
  return {};
}

/// The last payments of a killed process exist only in its write-ahead log. Adds a violation if
/// that log is missing or does not belong to the file. Returns a warning if this is uncertain.
std::string check_log(const std::string& path, std::vector<store::Violation>& violations) {
  const store::LastClose last = store::last_close(path);
  std::string fault = store::log_fault(path, last);
  if (fault.empty()) return store::log_doubt(path, last);
  violations.push_back({std::string(kLogFault), std::move(fault)});
  return {};
}

Problem written_to(const std::string& backup) {
  return cannot_create(backup +
                       " changed during the restore: it is a database in use, not a backup. Make a "
                       "backup with coffer backup");
}

Problem foreign(const std::string& backup, const FileChecks& checks, const Restored& found) {
  return Problem(Slug::forbidden,
                 backup + " does not belong to the master key in " + checks.key_source +
                     " (signature: " + found.signer +
                     "). Use the master key of the backup (--master-key-file), or accept a backup "
                     "of another installation with --foreign");
}

Problem without_signature(const std::string& backup) {
  return Problem(Slug::forbidden,
                 "The signature " + backup +
                     ".checkpoint is missing, so another program may have changed the backup. Put "
                     "it next to the backup, or accept the backup with --unsigned");
}

/// The signature next to a backup. An invalid signature is a violation.
Result<std::optional<Checkpoint>> signature_of(const std::string& backup,
                                               const ProgressFunction& progress, Restored& out) {
  const std::string path = backup + kSignatureEnding;
  std::error_code error;
  if (!fs::exists(path, error)) return {std::nullopt};
  const auto found = read_checkpoints(path);
  const std::int64_t total = static_cast<std::int64_t>(file_bytes(backup));
  COFFER_TRY(const std::string digest, sha256_of_file(backup, [&](std::int64_t done) {
               progress({"signature", done, total, Progress::Unit::bytes});
             }));
  if (found && found->back().backup == digest) return {found->back()};
  out.verdict.violations.push_back(
      {"signature",
       found ? "the file is not the one that " + path + " signs" : found.error().detail});
  return {std::nullopt};
}

/// Who signed the backup, and whether it continues from the checkpoints. `copy` has its content.
Result<void> judge_origin(const std::string& backup, const std::string& copy,
                          const FileChecks& checks, const ProgressFunction& progress,
                          Restored& out) {
  COFFER_TRY(const auto signature, signature_of(backup, progress, out));
  if (out.verdict.newer_schema || out.verdict.older_schema) return {};
  std::string own;
  std::string behind;
  try {
    store::read_foreign_file(copy, [&](store::Connection& db) {
      const bool fits = checks.key != nullptr && checks.key->fits(db);
      const auto identity = fits ? file_identity(checks.key->sealer(), db) : Result(std::string());
      own = identity ? *identity : "";
      out.is_foreign =
          checks.key != nullptr && (own.empty() || (signature && signature->file != own));
      behind = own.empty() ? mismatch_with(db, checks.checkpoints)
                           : mismatch_with(checks.key->sealer(), db, checks.checkpoints);
    });
  } catch (const store::SqlError&) {
    return {};  // the verdict already contains the error
  }
  if (!behind.empty()) out.verdict.violations.push_back({"checkpoint", behind});
  out.is_signed = signature.has_value();
  out.signer = signature ? signature->file : "not signed";
  if (!own.empty() && signature && signature->file == own) out.signer += " (this master key)";
  if (checks.key == nullptr && signature) {
    out.signer += " (signer not checked: no master key was found; name it with --master-key-file)";
  }
  return {};
}

/// Verifies the copy under its partial name; with violations, it must not be published.
Result<Restored> prove(PartialFile& file, const std::string& backup, const store::FileLook& before,
                       const ProgressFunction& progress, const FileChecks& checks) {
  Restored out;
  COFFER_TRY(out.checksum, check_checksum(backup, progress, out.verdict.violations));
  out.log_doubt = check_log(backup, out.verdict.violations);
  if (!out.verdict.violations.empty()) return out;
  const std::int64_t total = static_cast<std::int64_t>(file_bytes(backup));
  try {
    store::drop_left_logs(file.path());
    COFFER_TRY(out.bytes, copy_into(file, backup, [&](std::int64_t done) {
                 progress({"copying", done, total, Progress::Unit::bytes});
               }));
    if (store::FileLook(backup) != before) return unexpected(written_to(backup));
    store::leave_wal(file.path());
  } catch (const store::SqlError& error) {
    if (store::is_full_disk(error)) throw;
    out.verdict.violations.push_back({"sqlite_file", error.what()});
    return out;
  }
  out.verdict = store::verify_file(file.path(), progress, keys_of(checks.key.get()), processors());
  COFFER_TRY_VOID(judge_origin(backup, file.path(), checks, progress, out));
  if (out.verdict.violations.empty() && out.is_foreign && !checks.foreign) {
    return unexpected(foreign(backup, checks, out));
  }
  if (out.verdict.violations.empty() && checks.key != nullptr && !out.is_signed &&
      !checks.unsigned_backup) {
    return unexpected(without_signature(backup));
  }
  return upgraded(file, backup, progress, checks, std::move(out));
}

}  // namespace

Result<Restored> restore_into(const std::string& target,
                              const std::function<Result<Restored>(PartialFile&)>& fill) {
  COFFER_TRY_VOID(check_free(target));
  const NewFolders folders(directory_of(target));
  COFFER_TRY_VOID(make_private_folder(directory_of(target)));
  // While the lock is held, no server starts on a partially restored file.
  store::LockState holder;
  const auto lock = store::LockFile::take(target, "restore", holder);
  if (!lock && errno == EWOULDBLOCK) {
    return unexpected(Slug::overloaded,
                      target + " is in use by " + store::described(holder) + ". Stop it first");
  }
  if (!lock) {
    return unexpected(system_problem("cannot open " + target + kLockEnding,
                                     "Run the command as the user that owns the folder, or restore "
                                     "to another file with --db"));
  }
  COFFER_TRY(PartialFile file, PartialFile::create(target));
  COFFER_TRY(Restored out, fill(file));
  if (!out.verdict.violations.empty()) return out;
  COFFER_TRY_VOID(file.publish());
  // Both may describe a former database at this path.
  (void)::unlink((target + kLoggedEnding).c_str());
  (void)lock->write({});
  return out;
}

Result<bool> check_checksum(const std::string& path, const ProgressFunction& progress,
                            std::vector<store::Violation>& violations) {
  const auto text = read_small_file(path + kChecksumEnding, 64 * 1024);
  if (!text && text.error().slug == Slug::not_found) return false;
  const std::string wanted = text ? text->substr(0, text->find_first_of(" \t\r\n")) : std::string();
  const std::int64_t total = static_cast<std::int64_t>(file_bytes(path));
  COFFER_TRY(const std::string found, sha256_of_file(path, [&](std::int64_t done) {
               progress({"checksum", done, total, Progress::Unit::bytes});
             }));
  if (wanted == found) return true;
  violations.push_back({"checksum", "the file does not match " + path + kChecksumEnding});
  return true;
}

Result<Restored> judge_file(const std::string& path, const ProgressFunction& progress,
                            const FileChecks& checks) {
  COFFER_TRY_VOID(check_source(path));
  Restored out;
  out.bytes = static_cast<std::int64_t>(file_bytes(path));
  std::vector<store::Violation> violations;
  COFFER_TRY(out.checksum, check_checksum(path, progress, violations));
  out.log_doubt = check_log(path, violations);
  out.verdict = store::verify_file(path, progress, keys_of(checks.key.get()), processors());
  COFFER_TRY_VOID(judge_origin(path, path, checks, progress, out));
  out.schema_before = out.verdict.summary.schema;
  auto& all = out.verdict.violations;
  all.insert(all.begin(), violations.begin(), violations.end());
  return out;
}

Result<Restored> restore_backup(const std::string& backup, const std::string& target,
                                const ProgressFunction& progress, const FileChecks& checks) {
  COFFER_TRY_VOID(check_source(backup));
  const store::FileLook before(backup);
  if (file_bytes(backup + kLogEnding) > 0) {
    return unexpected(cannot_create(backup + " is a database in use, not a backup: there is a " +
                                    backup + "-wal file. Make a backup with coffer backup"));
  }
  return restore_into(
      target, [&](PartialFile& file) { return prove(file, backup, before, progress, checks); });
}

}  // namespace coffer::flows
