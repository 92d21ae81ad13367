// coffer doctor: the database, the keys, their folders and disks. Nothing is written or locked.
#pragma once

#include "base/clock.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/owner.h"
#include "config/config.h"

namespace coffer::cli {

/// The file, whether it is coffer's, which schema it has, who can touch it and its companions.
Findings examine_database(const Config& config, const Owner& owner);
/// The master key: there, closed to others, well-formed, and the one the database was made with.
Findings examine_master_key(const Config& config, const Owner& owner);
/// Files that the settings name: secrets that others can read, the certificate and its last day.
Findings examine_named_files(const Config& config, Timestamp now);
/// Room and inodes where the database, the backups and the log are.
Findings examine_disks(const Config& config);
/// The folder of scheduled backups and the age of the latest.
Findings examine_backups(const Config& config, Timestamp now);
/// When the database or its log was last written: no present time can be before it. {0}: unknown.
Timestamp last_written(const Config& config);

}  // namespace coffer::cli
