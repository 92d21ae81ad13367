#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "app/app.h"
#include "base/files/folders.h"
#include "base/files/side_files.h"
#include "base/platform/exit_code.h"
#include "base/readable.h"
#include "base/text/shell_word.h"
#include "cli/doctor/checks.h"
#include "cli/settings.h"
#include "config/secret_files.h"
#include "http/certificate.h"
#include "outbound/archive/archive_place.h"
#include "store/requests/request_log_file.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthers = 007;
constexpr mode_t kWritableByOthers = 022;

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// The path itself, or its longest existing prefix.
std::string existing_part(std::string path) {
  std::error_code ignored;
  while (path != "." && path != "/" && !fs::exists(path, ignored)) path = directory_of(path);
  return path;
}

/// Whether a server could open the file.
Finding judge_start(const Config& config) {
  const std::string check = "database";
  const StartError absent = why_not_served(config.db);
  const bool lost = absent.exit_code == exit_code::kCorrupt && !absent.message.empty();
  if (lost) return fails_start(check, absent.message);
  if (const auto usable = check_open(config); !usable) {
    return fails_start(check, usable.error().detail);
  }
  if (!absent.message.empty()) {
    return warning(check, absent.message, "A server creates it only with serve --init.");
  }
  const auto marks = store::read_file_marks(config.db);
  if (!marks || marks->schema_version == store::schema_version()) {
    return good(check, "a server can open " + config.db);
  }
  return warning(check, "the next start upgrades " + config.db + ", which cannot be undone",
                 "Make a backup with the version that wrote it.");
}

/// A finding if other users can access a file that only its owner may.
void judge_privacy(Findings& out, const std::string& path, const struct stat& status) {
  const mode_t open = status.st_mode & 077;
  if (open == 0) return;
  const Grade grade = (open & kOthers) != 0 ? Grade::failed : Grade::warning;
  const char* whom = grade == Grade::failed ? "every user" : "its group";
  out.push_back({"permissions", grade, path + " is open to " + whom,
                 "Restrict it: chmod 600 " + shell_word(path) + "."});
}

/// The database and its companion files must have one owner and be private.
Findings examine_permissions(const Config& config, const struct stat& database) {
  Findings out;
  if (database.st_uid != ::geteuid()) {
    const std::string owner = std::to_string(database.st_uid);
    out.push_back(
        warning("permissions",
                config.db + " belongs to user " + owner + ", and coffer doctor runs as " +
                    std::to_string(::geteuid()),
                "Run coffer doctor as that user: sudo -u '#" + owner + "' coffer doctor."));
  }
  const std::string folder = directory_of(config.db);
  const auto status = status_of(folder);
  // In a folder like /tmp, users cannot replace the files of others.
  if (status && (status->st_mode & kWritableByOthers) != 0 && (status->st_mode & S_ISVTX) == 0) {
    out.push_back(failed("permissions", "other users can write to " + folder,
                         "Restrict it: chmod 700 " + shell_word(folder) + "."));
  }
  std::vector<std::string> paths{config.db, store::request_log_path(config.db)};
  for (const char* ending : kSqliteEndings) paths.push_back(config.db + ending);
  for (const char* ending : {kLockEnding, kDemoSecretsEnding}) paths.push_back(config.db + ending);
  for (const std::string& path : paths) {
    const auto file = status_of(path);
    if (!file) continue;
    if (file->st_uid != database.st_uid) {
      out.push_back(failed("permissions", path + " belongs to another user than the database",
                           "Change the owner: chown " + std::to_string(database.st_uid) + " " +
                               shell_word(path) + "."));
    }
    judge_privacy(out, path, *file);
  }
  if (out.empty()) out.push_back(good("permissions", "only the owner can access the database"));
  return out;
}

std::optional<Finding> judge_expiry(const Config& config, Timestamp now) {
  constexpr std::int64_t kSoonDays = 21;
  const std::string check = "certificate";
  if (config.tls_cert.empty()) return std::nullopt;
  const auto file = http::read_certificate_file(config.tls_cert);
  if (!file) return fails_start(check, file.error().detail);
  const std::string day = file->first_ends.to_string().substr(0, 10);
  const std::string remedy = "Renew it and send the server SIGHUP (systemctl reload coffer).";
  if (file->first_ends <= now) return failed(check, "it expired on " + day, remedy);
  if (file->first_ends.ms - now.ms < kSoonDays * kDayMs) {
    return warning(check, "it expires on " + day, remedy);
  }
  return good(check, "valid until " + day);
}

/// Whether the server could write to `path`; if it does not exist, `or_else`.
std::optional<Finding> judge_writable(const std::string& check, const std::string& path,
                                      const std::string& or_else) {
  std::error_code ignored;
  if (path.empty()) return std::nullopt;
  const std::string& place = fs::exists(path, ignored) ? path : or_else;
  if (::access(place.c_str(), W_OK) == 0) return good(check, path);
  return failed(check, place + ": " + std::strerror(errno),
                "Make it writable by the user of the server.");
}

/// The folder of an archive, which must outlive the disk of the database.
std::optional<Finding> judge_archive(const Config& config) {
  const auto place = outbound::parse_archive_url(config.archive);
  if (!place || place->folder.empty()) return std::nullopt;
  const auto archive = status_of(place->folder);
  const auto database = status_of(existing_part(directory_of(config.db)));
  if (archive && database && archive->st_dev == database->st_dev) {
    return warning("archive", place->folder + " is on the disk of the database",
                   "Set archive to another disk, a file server or a bucket.");
  }
  return judge_writable("archive", place->folder, place->folder);
}

}  // namespace

Findings examine_database(const Config& config, const Owner& owner) {
  Findings out;
  if (!owner.locked && !owner.commanded) out.push_back(judge_start(config));
  const auto status = status_of(config.db);
  if (!status) return out;
  for (Finding& finding : examine_permissions(config, *status)) out.push_back(std::move(finding));
  return out;
}

Findings examine_named_files(const Config& config, Timestamp now) {
  Findings out;
  for (const auto& [setting, path, found, remedy] : secret_file_faults(config)) {
    out.push_back(found.fault.empty()
                      ? warning("secrets", setting + ": " + found.warning, remedy)
                      : failed("secrets", setting + " is not used: " + found.fault, remedy));
  }
  if (const auto file = status_of(config.config);
      file && (file->st_mode & kWritableByOthers) != 0) {
    out.push_back(failed("configuration", "other users can write to " + config.config,
                         "Restrict it: chmod go-w " + shell_word(config.config) + "."));
  }
  const auto log = judge_writable("log file", config.log_file, directory_of(config.log_file));
  const auto backups =
      judge_writable("backups", config.backup_dir, existing_part(config.backup_dir));
  for (const auto& finding : {judge_expiry(config, now), log, backups, judge_archive(config)}) {
    if (finding) out.push_back(*finding);
  }
  return out;
}

Findings examine_disks(const Config& config) {
  constexpr std::uint64_t kMiB = 1 << 20;
  const auto floor = static_cast<std::uint64_t>(config.disk_floor_mib) * kMiB;
  Findings out;
  for (const std::string& path : {config.db, config.backup_dir}) {
    const std::string folder = existing_part(directory_of(path));
    const auto free = path.empty() ? std::nullopt : free_disk_bytes(folder);
    if (!free) continue;
    const std::string found =
        readable_bytes(static_cast<std::int64_t>(*free)) + " free in " + folder;
    if (path == config.db && *free < floor) {
      out.push_back(failed("disk", found + ", less than disk_floor_mib: writes are rejected",
                           "Free disk space. Writes then resume automatically."));
    } else if (*free < std::max(2 * floor, 1024 * kMiB)) {
      out.push_back(warning("disk", found + "; below disk_floor_mib, writes are rejected",
                            "Free disk space, or move old backups to another machine."));
    } else {
      out.push_back(good("disk", found));
    }
  }
  return out;
}

}  // namespace coffer::cli
