// Scheduled backups in a folder that keeps the latest of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "flows/context.h"
#include "flows/operations/backups.h"

namespace coffer::flows {

struct BackupPlan {
  std::string folder;
  std::int64_t every_ms = 0;
  int keep = 1;  // number of backups of this database to keep
  std::uint64_t floor_bytes = 0;
};

/// Makes a backup in the folder, which is created if it is missing. Its name contains the current
/// time, `ledger-20260131T090000Z.db` for `ledger.db`, or the next second without a backup.
/// Problems as for back_up().
Result<Backup> back_up_in(const Context& context, const std::string& folder, BackupRequest request,
                          const ProgressFunction& progress);
/// A backup of this database in the folder, by the time in its name.
struct KeptBackup {
  std::string path;
  Timestamp made_at;
  std::int64_t bytes = 0;
  bool has_checksum = false;
};
/// Newest first; empty if the folder is missing.
std::vector<KeptBackup> kept_backups(const Context& context, const std::string& folder);
/// Deletes all but the latest `keep` backups of this database in the folder; returns the number of
/// deleted ones.
int drop_old_backups(const Context& context, const std::string& folder, int keep);

/// Makes a verified backup if the latest in the folder is old enough, and deletes old ones. Logs
/// and records failures. Returns the milliseconds until the next check. `stopping` ends it early.
std::int64_t run_backup_plan(const Context& context, const BackupPlan& plan,
                             const std::function<bool()>& stopping);

}  // namespace coffer::flows
