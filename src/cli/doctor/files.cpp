#include "cli/doctor/files.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "auth/master_key.h"
#include "base/files/folders.h"
#include "base/files/ownership.h"
#include "base/files/side_files.h"
#include "base/random.h"
#include "base/text/readable.h"
#include "base/text/shell_word.h"
#include "base/text/whole_number.h"
#include "config/secret_files.h"
#include "domain/operations/condition.h"
#include "http/certificate.h"
#include "http/tls.h"
#include "store/file/lock_file.h"
#include "store/requests/request_log_file.h"
#include "store/schema.h"
#include "store/schema_check.h"

namespace coffer::cli {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kGroup = 070;
constexpr mode_t kOthers = 007;
constexpr mode_t kWritableByOthers = 022;
constexpr std::uint64_t kMiB = 1 << 20;

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

std::string reason() { return std::strerror(errno); }

/// The path itself, or its longest existing prefix.
std::string existing_part(std::string path) {
  std::error_code ignored;
  while (path != "." && path != "/" && !fs::exists(path, ignored)) path = directory_of(path);
  return path;
}

std::string as_owner(uid_t owner) {
  return "Run coffer doctor as that user: sudo -u '#" + std::to_string(owner) + "' coffer doctor.";
}

/// The finding for the permissions of a file that only its owner may access.
Finding judge_privacy(const std::string& check, const std::string& path,
                      const struct stat& status) {
  char mode[8];
  std::snprintf(mode, sizeof mode, "%03o", static_cast<unsigned>(status.st_mode & 0777));
  const std::string remedy = "Restrict it: chmod 600 " + shell_word(path) + ".";
  if ((status.st_mode & kOthers) != 0) {
    return failed(check, path + " is open to every user (mode " + mode + ")", remedy);
  }
  if ((status.st_mode & kGroup) != 0) {
    return warning(check, path + " is open to its group (mode " + mode + ")", remedy);
  }
  return good(check, path + ", mode " + mode);
}

/// Whether other users can replace files in the folder.
std::optional<Finding> judge_folder(const std::string& check, const std::string& folder) {
  const auto status = status_of(folder);
  if (!status || (status->st_mode & kWritableByOthers) == 0 || (status->st_mode & S_ISVTX) != 0) {
    return std::nullopt;
  }
  return failed(check, "other users can write to " + folder,
                "Restrict it: chmod 700 " + shell_word(folder) + ".");
}

Findings examine_missing(const Config& config, const Owner& owner) {
  const std::string& path = config.db;
  if (owner.locked || owner.commanded) {
    return {failed("database",
                   path + " was moved or deleted; a server still has it open and rejects writes",
                   "Move the same file back. If it was deleted, leave the server running and save "
                   "the file as docs/operating.md describes.")};
  }
  if (errno != ENOENT) {
    return {failed("database", path + ": " + reason(), "Run coffer as the user that owns it.")};
  }
  if (store::last_close(path).ledger) {
    return {failed("database", path + " was moved or deleted, and it contained a ledger",
                   "Move it back, or restore a backup with coffer restore.")};
  }
  const std::string folder = existing_part(path);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    return {failed("database", "the database does not exist, and " + folder + ": " + reason(),
                   "Create " + directory_of(path) + " for the user of the server, mode 0700.")};
  }
  return {warning("database", path + " does not exist yet",
                  "Create it with coffer init, or choose another file with --db.")};
}

Finding judge_marks(const std::string& path, const std::optional<store::FileMarks>& marks) {
  const std::string check = "schema";
  if (!marks) {
    return failed(check, path + " is not an SQLite file, or is truncated",
                  "Keep a copy of the file, and restore a backup with coffer restore.");
  }
  if (marks->application_id != store::kApplicationId) {
    return failed(check, path + " belongs to another program",
                  "Set the path of coffer's database with --db.");
  }
  const std::string version = "schema " + std::to_string(marks->schema_version);
  const std::string ours = std::to_string(store::schema_version());
  if (marks->schema_version > store::schema_version()) {
    return failed(
        check, version + ", newer than the schema of this version (" + ours + ")",
        "Install the version that wrote it, or restore the backup from before the upgrade.");
  }
  if (marks->schema_version < store::kFirstSchema) {
    return failed(check, version + ", of a development build before the first release",
                  "It cannot be upgraded. Create a new file with another --db.");
  }
  if (marks->schema_version < store::schema_version()) {
    return warning(check, version + ", which this version upgrades to " + ours,
                   "Make a backup. The next start upgrades the file, which cannot be undone.");
  }
  if (!marks->schema_fault.empty()) {
    return failed(check, version + ", but changed by another program: " + marks->schema_fault,
                  store::schema_remedy(marks->schema_drops, path));
  }
  return good(check, version);
}

std::optional<store::FileMarks> marks_of(const Config& config, const Owner& owner) {
  if (owner.locked) return std::nullopt;  // the process that has it open has checked it
  return store::read_file_marks(config.db);
}

/// The companion files of the database must have its owner and be as private.
Findings examine_companions(const Config& config, uid_t owner) {
  Findings out;
  std::vector<std::string> paths{store::request_log_path(config.db)};
  for (const char* ending : kSqliteEndings) paths.push_back(config.db + ending);
  for (const char* ending : {kLockEnding, kDemoSecretsEnding}) paths.push_back(config.db + ending);
  for (const std::string& path : paths) {
    const auto status = status_of(path);
    if (!status) continue;
    if (status->st_uid != owner) {
      out.push_back(failed("companions", path + " belongs to another user than the database",
                           "Change the owner: chown " + std::to_string(owner) + " " + path + "."));
    }
    Finding privacy = judge_privacy("companions", path, *status);
    if (privacy.grade != Grade::ok) out.push_back(std::move(privacy));
  }
  return out;
}

std::optional<Finding> judge_filesystem(const Config& config) {
  const std::string folder = directory_of(config.db);
  const std::string network = network_filesystem(folder);
  if (network.empty()) return std::nullopt;
  const std::string found = folder + " is on " + network + ", where file locks may not work";
  const std::string remedy = "Move the database to a local disk and set its path with --db.";
  return config.allow_network_filesystem ? warning("file system", found, remedy)
                                         : failed("file system", found, remedy);
}

Finding no_schedule() {
  return warning("backups", "no backups are scheduled",
                 "Set backup_dir to a folder on another disk, or run coffer backup with a timer.");
}

/// The finding if the latest backup was made at `latest` (nullopt: none), in a schedule of one
/// every `every_h` hours (nullopt: no schedule).
Finding judge_latest_backup(std::optional<Timestamp> latest, std::optional<int> every_h,
                            Timestamp now) {
  const std::string check = "backups";
  if (!latest && !every_h) return no_schedule();
  if (!latest) {
    return warning(check, "there is no backup yet",
                   "Make one now with coffer backup, and run coffer doctor again tomorrow.");
  }
  const std::int64_t hours = (now.ms - latest->ms) / kHourMs;
  const std::string found = "the latest backup is " + std::to_string(hours) + " h old";
  const std::int64_t limit_h = every_h ? 2 * std::int64_t{*every_h} : kBackupOldMs / kHourMs;
  if (hours < limit_h) return good(check, found);
  return failed(
      check,
      found + (every_h ? ", but backups are scheduled every " + std::to_string(*every_h) + " h"
                       : ", and no backups are scheduled"),
      "Search the server log for `backup`, and make a backup now with coffer backup.");
}

Finding judge_reported_backups(const http::JsonValue& overview, Timestamp now) {
  const auto text = [&](std::string_view member) {
    const http::JsonValue* value = overview.find(member);
    return value == nullptr ? std::nullopt : value->scalar_text();
  };
  if (const auto failure = text("backupFailure")) {
    return failed("backups", "the last scheduled backup failed: " + *failure,
                  "Correct the cause, and make a backup now with coffer backup.");
  }
  const auto at = text("lastBackupAt");
  const auto every_h = text("backupEveryHours");
  return judge_latest_backup(at ? Timestamp::parse(*at) : std::nullopt,
                             every_h ? whole_number<int>(*every_h) : std::nullopt, now);
}

Finding judge_room(const Config& config, const std::string& folder, const struct statvfs& info,
                   bool has_database) {
  const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
  const std::uint64_t size = std::uint64_t{info.f_blocks} * info.f_frsize;
  const std::string found = folder + ": " + readable_bytes(static_cast<std::int64_t>(free)) +
                            " free of " + readable_bytes(static_cast<std::int64_t>(size));
  const std::string remedy = "Free disk space, or move old backups to another machine.";
  if (has_database) {
    const auto floor = static_cast<std::uint64_t>(config.disk_floor_mib) * kMiB;
    if (free < floor) {
      return failed("disk", found + ", less than disk_floor_mib: writes are rejected",
                    "Free disk space. Writes then resume automatically.");
    }
    if (free >= 2 * floor) return good("disk", found);
    return warning("disk",
                   found + ", less than twice disk_floor_mib, below which writes are rejected",
                   remedy);
  }
  const bool few = free < 1024 * kMiB || (free < size / 20 && free < 20 * 1024 * kMiB);
  if (few) return warning("disk", found, remedy);
  return good("disk", found);
}

std::optional<Finding> judge_inodes(const std::string& folder, const struct statvfs& info) {
  constexpr std::uint64_t kFew = 1'000;
  // Some file systems create inodes on demand and report 0 of 0.
  if (info.f_files == 0 || info.f_favail >= kFew) return std::nullopt;
  const std::string found = folder + ": " + std::to_string(info.f_favail) + " inodes left";
  const std::string remedy = "Remove small files from that file system.";
  return info.f_favail < 8 ? failed("disk", found, remedy) : warning("disk", found, remedy);
}

std::optional<Finding> judge_certificate(const Config& config, Timestamp now) {
  constexpr std::int64_t kSoonDays = 21;
  const std::string check = "certificate";
  if (config.tls_cert.empty() || config.tls_key.empty()) return std::nullopt;
  http::TlsIdentity identity;
  if (const auto loaded = identity.load(config.tls_cert, config.tls_key, config.tls_client_ca);
      !loaded) {
    return failed(check, loaded.error().detail,
                  "Set tls_cert and tls_key to a certificate and its key, and tls_client_ca, if "
                  "used, to CA certificates, all in PEM format.");
  }
  const auto file = http::read_certificate_file(config.tls_cert);
  if (!file)
    return failed(check, file.error().detail, "Make it readable by the user of the server.");
  const std::string day = file->first_ends.to_string().substr(0, 10);
  const std::string remedy = "Renew it and send the server SIGHUP (systemctl reload coffer).";
  if (file->first_ends <= now) return failed(check, "it expired on " + day, remedy);
  if (file->first_ends.ms - now.ms < kSoonDays * kDayMs) {
    return warning(check, "it expires on " + day, remedy);
  }
  return good(check, "valid until " + day);
}

std::optional<Finding> judge_log_file(const Config& config) {
  const std::string& path = config.log_file;
  if (path.empty()) return std::nullopt;
  std::error_code ignored;
  const std::string place = fs::exists(path, ignored) ? path : directory_of(path);
  if (::access(place.c_str(), W_OK) == 0) return good("log file", path);
  return failed("log file", place + ": " + reason(), "Make it writable by the user of the server.");
}

}  // namespace

Findings examine_database(const Config& config, const Owner& owner) {
  const auto status = status_of(config.db);
  if (!status) return examine_missing(config, owner);
  if (!S_ISREG(status->st_mode)) {
    return {
        failed("database", config.db + " is not a regular file", "Set a regular file with --db.")};
  }
  Findings out;
  if (::access(config.db.c_str(), R_OK | W_OK) != 0) {
    out.push_back(failed("database", config.db + ": " + reason(), as_owner(status->st_uid)));
  } else if (status->st_uid != ::geteuid()) {
    out.push_back(warning("database",
                          config.db + " belongs to user " + std::to_string(status->st_uid) +
                              ", and coffer doctor runs as " + std::to_string(::geteuid()),
                          as_owner(status->st_uid)));
  } else {
    out.push_back(judge_privacy("database", config.db, *status));
  }
  if (auto folder = judge_folder("database", directory_of(config.db))) out.push_back(*folder);
  for (Finding& finding : examine_companions(config, status->st_uid)) out.push_back(finding);
  if (auto filesystem = judge_filesystem(config)) out.push_back(*std::move(filesystem));
  if (::access(config.db.c_str(), R_OK) != 0) return out;
  if (!owner.locked) {
    const std::string gone = store::log_fault(config.db, store::last_close(config.db));
    if (!gone.empty())
      out.push_back(failed("log", gone, "Fix this first. The server does not start until then."));
    out.push_back(judge_marks(config.db, marks_of(config, owner)));
  }
  return out;
}

Findings examine_master_key(const Config& config, const Owner& owner) {
  const std::string check = "master key";
  const bool from_file = config.master_key.empty();
  const std::string source = from_file ? config.master_key_file : config.origins.at("master_key");
  OsRandom random;
  const auto key = auth::find_master_key(config.master_key, source, config.master_key_file, random,
                                         auth::MissingKey::refuse);
  if (!key) {
    std::error_code ignored;
    const bool yet_to_come = key.error().slug == Slug::not_found && !fs::exists(config.db, ignored);
    if (yet_to_come) return {good(check, "coffer creates it with the database")};
    return {failed(check, source + " cannot be used", key.error().detail)};
  }
  const auto marks = marks_of(config, owner);
  if (marks && marks->key_check && *marks->key_check != key->fingerprint()) {
    return {failed(check, source + " is not the master key of " + config.db,
                   "Restore the key of this database from your copy, and set its path in "
                   "COFFER_MASTER_KEY_FILE.")};
  }
  return {good(check, source)};
}

Findings examine_named_files(const Config& config, Timestamp now) {
  Findings out;
  for (const auto& [name, path] : secret_files(config)) {
    const auto status = status_of(path);
    if (!status) continue;
    const SecretFile found = judge_secret_file(*status, path);
    const std::string remedy =
        "Restrict it (chmod 600 " + shell_word(path) + "), and replace the secret in it.";
    if (!found.fault.empty()) {
      out.push_back(failed("secrets", name + " is not used: " + found.fault, remedy));
    } else if (!found.warning.empty()) {
      out.push_back(warning("secrets", name + ": " + found.warning, remedy));
    }
  }
  if (const auto file = status_of(config.config);
      file && (file->st_mode & kWritableByOthers) != 0) {
    out.push_back(failed("configuration", "other users can write to " + config.config,
                         "Restrict it: chmod go-w " + shell_word(config.config) + "."));
  }
  if (auto certificate = judge_certificate(config, now)) out.push_back(*std::move(certificate));
  if (auto log = judge_log_file(config)) out.push_back(*std::move(log));
  return out;
}

Findings examine_disks(const Config& config) {
  Findings out;
  std::set<dev_t> seen;
  for (const std::string& path : {config.db, config.backup_dir, config.log_file}) {
    if (path.empty()) continue;
    const std::string there = existing_part(path);
    const std::string folder = fs::is_directory(there) ? there : directory_of(there);
    const auto status = status_of(folder);
    struct statvfs info {};
    if (!status || !seen.insert(status->st_dev).second) continue;
    if (::statvfs(folder.c_str(), &info) != 0) continue;
    out.push_back(judge_room(config, folder, info, path == config.db));
    if (auto inodes = judge_inodes(folder, info)) out.push_back(*std::move(inodes));
  }
  return out;
}

Findings examine_backups(const Config& config, const std::optional<http::JsonValue>& overview,
                         Timestamp now) {
  if (overview) return {judge_reported_backups(*overview, now)};
  const std::string& folder = config.backup_dir;
  if (folder.empty()) return {no_schedule()};
  std::error_code ignored;
  const std::string place = existing_part(folder);
  if (::access(place.c_str(), W_OK | X_OK) != 0) {
    return {
        failed("backups", place + ": " + reason(), "Make it writable by the user of the server.")};
  }
  std::optional<Timestamp> latest;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const auto status = status_of(entry.path());
    // Checksum files count too: they are as old as their backup.
    if (!status || !S_ISREG(status->st_mode)) continue;
    const Timestamp written{std::int64_t{status->st_mtime} * 1000};
    latest = std::max(latest.value_or(written), written);
  }
  return {judge_latest_backup(latest, config.backup_every_h, now)};
}

Timestamp last_written(const Config& config) {
  std::int64_t latest_ms = 0;
  for (const char* ending : {"", kLogEnding}) {
    const auto status = config.db.empty() ? std::nullopt : status_of(config.db + ending);
    if (status) latest_ms = std::max(latest_ms, std::int64_t{status->st_mtime} * 1000);
  }
  return {latest_ms};
}

}  // namespace coffer::cli
