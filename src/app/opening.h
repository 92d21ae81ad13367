// What must hold before a file is opened, and the master key of the file.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "auth/master_key.h"
#include "config/config.h"
#include "outbound/archive/s3_bucket.h"
#include "store/archive/archive.h"
#include "store/commit_queue.h"
#include "store/database.h"
#include "store/replication/replica.h"

namespace coffer {

/// The reason why opening or starting failed, with the exit code of the command line
/// (docs/contract.md#command-line): 73 cannot create, 74 corrupt, 75 locked or disk full, 77
/// permission, 78 configuration, 1 otherwise.
struct StartError {
  int exit_code = 1;
  std::string message;
  std::string setting = {};  // with the address on which coffer cannot listen; else empty
};
StartError start_error(const Problem& problem);
Problem open_problem(const store::OpenError& fault);
Problem unreadable(const std::string& database, const store::SqlError& fault);

/// The master key to which the settings lead. `missing`: whether to create a missing one.
Result<auth::MasterKey> configured_key(const Config& config, Random& random,
                                       auth::MissingKey missing);

/// A full disk, or a master key that cannot be used, must not leave a new database behind.
Result<void> check_new_file(const Config& config, Random& random);

/// The master key of this file. A new file gets a new key if the key is missing. For a file with
/// sealed secrets, a missing key is never replaced, and a wrong key is rejected.
Result<auth::MasterKey> open_master_key(const Config& config, Random& random,
                                        store::Database& database, store::CommitQueue& queue);

/// The log of the settings; nullptr without replication. Commands do not follow: if another machine
/// leads, opening the database fails. The master key must exist, because all machines share it.
Result<std::unique_ptr<store::Replica>> open_replica(const Config& config, Random& random);

/// The log of a server with an archive and without replication. `missing`: as configured_key().
Result<std::unique_ptr<store::Replica>> open_log_alone(const Config& config, Random& random,
                                                       auth::MissingKey missing);

/// Opens the archive of the settings, each time for another thread. Fails only for a place that no
/// build can use. The link must outlive the archive.
using OpenArchive =
    std::function<Result<std::unique_ptr<store::Archive>>(outbound::ArchiveLink& link)>;
/// Of the archive at `url`. `random` must outlive the function and the archives.
OpenArchive archive_at(const std::string& url, const Config& config, const auth::MasterKey& key,
                       Random& random);

/// Checks that a machine can begin to follow the log of the settings with this backup.
Result<void> check_seed(const Config& config, const std::string& backup, Random& random);

/// Whether App::open would accept the file, creating a missing one, and its master key. Changes and
/// locks nothing: only for a file that no process has open.
Result<void> check_open(const Config& config);

}  // namespace coffer
