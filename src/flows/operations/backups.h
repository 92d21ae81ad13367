// Backups: copies of the file with a checksum next to them, made while payments continue. They do
// not contain the master key, so their sealed secrets stay sealed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/files/durable_file.h"
#include "base/telemetry/progress.h"
#include "flows/context.h"
#include "store/operations/copies.h"

namespace coffer::flows {

/// The files beside a backup, by the end of their names.
inline constexpr const char* kChecksumEnding = ".sha256";
inline constexpr const char* kSignatureEnding = ".checkpoint";
inline constexpr std::array<const char*, 2> kEndingsBeside{kChecksumEnding, kSignatureEnding};

struct BackupRequest {
  std::string path;               // of the backup; like its checksum and signature, must not exist
  bool verify = false;            // verify the copy before it gets its name
  std::uint64_t floor_bytes = 0;  // free space that the database needs to accept payments
};

struct Backup {
  std::string path;
  std::int64_t bytes = 0;
  std::string sha256;  // lower-case hex; also in PATH.sha256, in the format of sha256sum -c
  Timestamp begun_at;  // the backup contains everything committed before
  std::int64_t took_ms = 0;
  std::optional<store::FileVerdict> verdict;  // if requested; with violations, there is no backup
};

/// The partial file of a backup. Removes the checksum and the signature of a backup that was killed
/// just before it got its name; `conflict` for those of another file.
Result<PartialFile> create_backup_file(const std::string& path);

/// The copy gets its name only when it is complete and on disk. Returns the Problems of
/// base/files/durable_file.h, `storage-full` if too little space would remain for payments, and
/// `validation-failed` if restore would reject the schema of the copy.
Result<Backup> back_up(const Context& context, const BackupRequest& request,
                       const ProgressFunction& progress);

/// The same with the partial file of `request.path`.
Result<Backup> back_up(const Context& context, const BackupRequest& request, PartialFile file,
                       const ProgressFunction& progress);

/// Makes a copy like back_up under a temporary name next to `request.path`, calls `use` with its
/// path, and deletes it. For work that would hold a snapshot of the database for too long.
Result<void> with_copy(const Context& context, const BackupRequest& request,
                       const ProgressFunction& progress,
                       const std::function<void(const std::string&)>& use);

/// Removes the copies beside the database that killed processes have left.
void drop_left_copies(const Context& context);
/// The beginning of their names, after that of the database.
inline constexpr const char* kCopyEnding = ".copy-";

}  // namespace coffer::flows
