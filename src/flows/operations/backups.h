// Backups: copies of the file under a name of their own, with a checksum beside them, taken while
// payments go on. They hold no master key: without it their sealed secrets stay sealed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/telemetry/progress.h"
#include "flows/context.h"
#include "store/operations/copies.h"

namespace coffer::flows {

struct BackupRequest {
  std::string path;               // of the backup; nothing may be there
  bool verify = false;            // prove the copy before it gets its name
  std::uint64_t floor_bytes = 0;  // of free space that the database needs to take payments
};

struct Backup {
  std::string path;
  std::int64_t bytes = 0;
  std::string sha256;  // lower-case hex; also in PATH.sha256, as sha256sum -c reads it
  Timestamp begun_at;  // everything that was committed before is in it
  std::int64_t took_ms = 0;
  std::optional<store::FileVerdict> verdict;  // asked for; with violations there is no backup
};

/// The copy has its name only when it is whole and on disk. Problems as in
/// base/files/durable_file.h; `storage-full` also when it would leave payments too little room.
Result<Backup> back_up(const Context& context, const BackupRequest& request,
                       const ProgressFunction& progress);

/// Calls `use` with the path of a copy as back_up makes it, under a temporary name beside
/// `request.path`, and removes it. For what would hold one snapshot of the database too long.
Result<void> with_copy(const Context& context, const BackupRequest& request,
                       const ProgressFunction& progress,
                       const std::function<void(const std::string&)>& use);

}  // namespace coffer::flows
