#include "flows/operations/backup_plan.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/files/folders.h"
#include "base/telemetry/log.h"
#include "flows/operations/backups.h"
#include "flows/operations/figures.h"

namespace coffer::flows {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kTryAgainMs = 600'000;
constexpr std::int64_t kLookAgainMs = kHourMs;
constexpr std::size_t kStampLength = 16;  // 20260131T090000Z

/// Thrown by the progress function to cancel a backup.
struct Stopped {};

std::string stamp_at(Timestamp time) {
  std::string stamp = time.to_string().substr(0, 19);
  std::erase_if(stamp, [](char c) { return c == '-' || c == ':'; });
  return stamp + "Z";
}

/// The time in the name of a backup of this database; empty for any other file.
std::string stamp_of(const Context& context, const fs::path& file) {
  const std::string stem = fs::path(context.database.path()).stem().string() + "-";
  const std::string name = file.filename().string();
  const bool ours = name.size() == stem.size() + kStampLength + 3 && name.starts_with(stem) &&
                    name.ends_with("Z.db") && name[stem.size() + 8] == 'T';
  return ours ? name.substr(stem.size(), kStampLength) : std::string();
}

/// Newest first. A folder or a link with such a name is not a backup.
std::vector<std::pair<std::string, fs::path>> backups_in(const Context& context,
                                                         const std::string& folder) {
  std::vector<std::pair<std::string, fs::path>> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string stamp = stamp_of(context, at->path());
    std::error_code gone;
    const bool is_file = fs::is_regular_file(at->symlink_status(gone));
    if (!stamp.empty() && is_file) out.emplace_back(std::move(stamp), at->path());
  }
  std::sort(out.rbegin(), out.rend());
  return out;
}

/// Parses 20260131T090000Z.
std::optional<Timestamp> instant_of(const std::string& stamp) {
  std::string text = stamp.substr(0, 4) + "-" + stamp.substr(4, 2) + "-" + stamp.substr(6, 5) +
                     ":" + stamp.substr(11, 2) + ":" + stamp.substr(13);
  return Timestamp::parse(text);
}

/// Deletes partial files of killed backups.
void drop_partial_backups(const Context& context, const std::string& folder) {
  for (const std::string& name : partials_in(folder)) {
    if (!stamp_of(context, name).empty()) static_cast<void>(create_backup_file(name));
  }
}

void report_failure(const Context& context, const std::string& reason) {
  log_error("backup", "scheduled backup failed", {{"problem", reason}});
  note_backup_failure(context);
  const auto recorded =
      context.write([&](store::WriteTx& tx) { store::record_backup_failure(tx, reason); });
  if (!recorded) log_warning("backup", "the failure could not be recorded");
}

/// Why the backup failed; empty on success.
std::string scheduled_backup(const Context& context, const BackupPlan& plan,
                             const std::function<bool()>& stopping) {
  const auto made = back_up_in(context, plan.folder,
                               {.verify = true, .floor_bytes = plan.floor_bytes}, [&](auto&&...) {
                                 if (stopping()) throw Stopped();
                               });
  if (!made) return made.error().detail;
  if (made->verdict->violations.empty()) {
    log_info("backup", "scheduled backup complete",
             {{"path", made->path}, {"bytes", made->bytes}, {"ms", made->took_ms}});
    return {};
  }
  const store::Violation& first = made->verdict->violations.front();
  return "verification of the copy failed: " + first.invariant + ": " + first.detail;
}

}  // namespace

Result<Backup> back_up_in(const Context& context, const std::string& folder, BackupRequest request,
                          const ProgressFunction& progress) {
  constexpr int kTries = 60;
  COFFER_TRY_VOID(make_private_folder(folder));
  const std::string stem = fs::path(context.database.path()).stem().string() + "-";
  for (int later_s = 0;; ++later_s) {
    const Timestamp time = context.clock.now().plus_ms(later_s * std::int64_t{1'000});
    request.path = fs::path(folder) / (stem + stamp_at(time) + ".db");
    auto file = create_backup_file(request.path);
    if (file) return back_up(context, request, *std::move(file), progress);
    const Slug slug = file.error().slug;
    const bool is_taken = slug == Slug::conflict || slug == Slug::overloaded;
    if (!is_taken || later_s == kTries) return unexpected(std::move(file).error());
  }
}

std::vector<KeptBackup> kept_backups(const Context& context, const std::string& folder) {
  std::vector<KeptBackup> out;
  for (const auto& [stamp, path] : backups_in(context, folder)) {
    const auto made_at = instant_of(stamp);
    std::error_code gone;
    const auto bytes = fs::file_size(path, gone);
    if (!made_at || gone) continue;
    out.push_back({path.string(), *made_at, static_cast<std::int64_t>(bytes),
                   fs::exists(path.string() + kChecksumEnding, gone)});
  }
  return out;
}

int drop_old_backups(const Context& context, const std::string& folder, int keep) {
  auto there = backups_in(context, folder);
  // After the clock was set back, later names must not displace the backup that was just made.
  const std::string now = stamp_at(context.clock.now());
  std::erase_if(there, [&](const auto& backup) { return backup.first > now; });
  int dropped = 0;
  for (std::size_t i = static_cast<std::size_t>(std::max(keep, 1)); i < there.size(); ++i) {
    std::error_code error;
    fs::remove(there[i].second, error);
    if (error) continue;
    for (const char* ending : kEndingsBeside) {
      fs::remove(there[i].second.string() + ending, error);
    }
    ++dropped;
  }
  return dropped;
}

std::int64_t run_backup_plan(const Context& context, const BackupPlan& plan,
                             const std::function<bool()>& stopping) {
  const auto there = backups_in(context, plan.folder);
  if (!there.empty()) {
    const auto last = instant_of(there.front().first);
    const std::int64_t due_in_ms = last ? last->ms + plan.every_ms - context.clock.now().ms : 0;
    // If the clock was set back, the delay is at most one interval.
    if (due_in_ms > 0 && due_in_ms <= plan.every_ms) return std::min(due_in_ms, kLookAgainMs);
  }
  drop_partial_backups(context, plan.folder);
  std::string failed;
  try {
    failed = scheduled_backup(context, plan, stopping);
  } catch (const Stopped&) {
    return kTryAgainMs;
  }
  if (!failed.empty()) {
    report_failure(context, failed);
    return kTryAgainMs;
  }
  const int dropped = drop_old_backups(context, plan.folder, plan.keep);
  if (dropped > 0) log_info("backup", "old backups removed", {{"count", dropped}});
  return std::min(plan.every_ms, kLookAgainMs);
}

}  // namespace coffer::flows
