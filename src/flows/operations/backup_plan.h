// Backups by schedule, in a folder that keeps the latest of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "flows/context.h"

namespace coffer::flows {

struct BackupPlan {
  std::string folder;
  std::int64_t every_ms = 0;
  int keep = 1;  // of those in the folder that belong to this database, the latest
  std::uint64_t floor_bytes = 0;
};

/// A name in the folder by the present time: `ledger-20260131T090000Z.db` of `ledger.db`. The
/// folder is created if it is missing.
Result<std::string> backup_path_in(const Context& context, const std::string& folder);
/// Removes all but the latest `keep` of this database's backups in the folder. How many.
int drop_old_backups(const Context& context, const std::string& folder, int keep);

/// Takes a verified backup when the latest in the folder is old enough, and drops old ones; a
/// failure is logged and recorded. Milliseconds until it wants to look again. `stopping` ends it
/// early.
std::int64_t run_backup_plan(const Context& context, const BackupPlan& plan,
                             const std::function<bool()>& stopping);

}  // namespace coffer::flows
