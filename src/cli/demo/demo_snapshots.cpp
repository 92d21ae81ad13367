#include "cli/demo/demo_snapshots.h"

#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "app/app.h"
#include "base/files/folders.h"
#include "base/files/side_files.h"
#include "base/log.h"
#include "base/platform/exit_code.h"
#include "base/platform/process.h"
#include "base/text/shell_word.h"
#include "flows/operations/backups.h"
#include "flows/operations/restore.h"

namespace coffer::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameMax = 40;
constexpr std::string_view kEnding = ".db";

std::atomic<bool> demo_process{false};
std::atomic<bool> restart_wanted{false};

std::string folder_of(const std::string& database) { return database + kSnapshotsEnding; }
std::string rewound_path(const std::string& database) { return database + kRewoundEnding; }

/// `malformed-request`. The name becomes a part of a path.
Result<std::string> snapshot_path(const std::string& database, const std::string& name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
  if (name.empty() || name.size() > kNameMax ||
      name.find_first_not_of(kAllowed) != std::string::npos) {
    return unexpected(Slug::malformed_request, "Invalid NAME \"" + name + "\": expected 1 to " +
                                                   std::to_string(kNameMax) +
                                                   " characters of a-z, 0-9 and hyphens.");
  }
  return folder_of(database) + "/" + name + std::string(kEnding);
}

}  // namespace

Result<flows::Backup> take_demo_snapshot(App& app, const std::string& name,
                                         const ProgressFunction& progress) {
  const std::string& database = app.database().path();
  COFFER_TRY(const std::string path, snapshot_path(database, name));
  COFFER_TRY_VOID(make_private_folder(folder_of(database)));
  const auto floor = static_cast<std::uint64_t>(app.config().disk_floor_mib) << 20;
  return flows::back_up(app.flows(), {.path = path, .floor_bytes = floor, .is_last = false},
                        progress);
}

std::vector<DemoSnapshot> demo_snapshots(const std::string& database) {
  std::map<std::pair<fs::file_time_type, std::string>, DemoSnapshot> by_age;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_of(database), error)) {
    struct stat file {};
    if (entry.path().extension() != kEnding || ::stat(entry.path().c_str(), &file) != 0) continue;
    const std::string name = entry.path().stem().string();
    by_age[{entry.last_write_time(error), name}] = {
        name, Timestamp{std::int64_t{file.st_mtime} * 1'000}, std::int64_t{file.st_size}};
  }
  std::vector<DemoSnapshot> out;
  for (auto& [age, snapshot] : by_age) out.push_back(std::move(snapshot));
  return out;
}

Result<void> prepare_rewind(App& app, const std::string& name, const ProgressFunction& progress) {
  const std::string& database = app.database().path();
  COFFER_TRY(const std::string path, snapshot_path(database, name));
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    return unexpected(Slug::not_found, "The snapshot \"" + name + "\" was not found.");
  }
  // Removes a copy that was prepared earlier and never used.
  fs::remove(rewound_path(database), ignored);
  COFFER_TRY(const auto copied, flows::restore_backup(path, rewound_path(database), progress));
  if (copied.verdict.violations.empty()) return {};
  return unexpected(Slug::conflict, "The snapshot \"" + name + "\" is damaged (" +
                                        copied.verdict.violations.front().detail +
                                        "). The demo is unchanged.");
}

std::optional<StartError> finish_rewind(const Config& config) {
  const std::string rewound = rewound_path(config.db);
  std::error_code ignored;
  if (!fs::exists(rewound, ignored)) return std::nullopt;
  {
    // Opening the database checks that no other process has it open, and empties its write-ahead
    // log, which SQLite would otherwise apply to the restored file.
    const SystemClock clock;
    OsRandom random;
    StartError error;
    if (!App::open(config, clock, random, error, App::Missing::create)) return error;
  }
  if (fs::exists(config.db + kLogEnding, ignored)) {
    return StartError{exit_code::kBusy,
                      "The snapshot cannot replace " + config.db +
                          " while another program has that file open. Find the program "
                          "with fuser " +
                          shell_word(config.db) + ", end it, and start coffer demo again"};
  }
  if (std::rename(rewound.c_str(), config.db.c_str()) != 0 ||
      !sync_directory(directory_of(config.db))) {
    return StartError{exit_code::kCannotCreate, "cannot replace " + config.db + " with " + rewound +
                                                    ": " + std::strerror(errno)};
  }
  log_info("demo", "returned to a snapshot", {{"database", config.db}});
  return std::nullopt;
}

std::string pending_rewind(const std::string& database) {
  const std::string rewound = rewound_path(database);
  std::error_code ignored;
  if (!fs::exists(rewound, ignored)) return {};
  return "the next start of coffer demo replaces " + database + " with " + rewound +
         ", and later changes would be lost. Start coffer demo first, or remove that file to keep "
         "the current state";
}

void forget_former_demo(const std::string& database) {
  std::error_code ignored;
  fs::remove(rewound_path(database), ignored);
  const std::string start =
      folder_of(database) + "/" + std::string(kStartSnapshot) + std::string(kEnding);
  fs::remove(start, ignored);
  for (const char* ending : flows::kEndingsBeside) fs::remove(start + ending, ignored);
}

DemoProcess::DemoProcess() { demo_process = true; }

DemoProcess::~DemoProcess() { demo_process = false; }

bool restart_demo(App& app) {
  if (!demo_process) return false;
  // Otherwise, the server could still accept a payment, which would be lost with the file.
  app.reject_requests();
  if (!restart_wanted.exchange(true)) request_restart();
  return true;
}

bool demo_restarts() { return restart_wanted; }

bool take_demo_restart() { return restart_wanted.exchange(false); }

}  // namespace coffer::cli
