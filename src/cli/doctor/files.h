// coffer doctor: the database, the keys, their folders and disks. Writes and locks nothing.
#pragma once

#include "base/clock.h"
#include "cli/doctor/finding.h"
#include "cli/doctor/owner.h"
#include "config/config.h"

namespace coffer::cli {

/// The file: whether coffer created it, its schema, and the permissions of the file and its
/// companions.
Findings examine_database(const Config& config, const Owner& owner);
/// The master key: whether it exists, is private, is valid, and belongs to the database.
Findings examine_master_key(const Config& config, const Owner& owner);
/// Files in the settings: secrets that other users can read, and the certificate with its expiry.
Findings examine_named_files(const Config& config, Timestamp now);
/// Free space and inodes for the database, the backups and the log.
Findings examine_disks(const Config& config);
/// The schedule of backups, and the age of the latest one: as the running server reports them in
/// `overview`, because its settings may differ from `config`; without it, from the folder in
/// `config`.
Findings examine_backups(const Config& config, const std::optional<http::JsonValue>& overview,
                         Timestamp now);
/// When the database or its write-ahead log was last written. The clock must not be earlier. {0}:
/// unknown.
Timestamp last_written(const Config& config);

}  // namespace coffer::cli
