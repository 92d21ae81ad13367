// The archive of the served file: its snapshots, its signed heads, and the proof that a file can be
// restored from it (docs/operating.md#archive).
#pragma once

#include <optional>
#include <string>

#include "base/telemetry/progress.h"
#include "flows/context.h"
#include "flows/operations/file_keys.h"
#include "store/archive/rebuild.h"
#include "store/archive/segments.h"
#include "store/archive/snapshots.h"
#include "store/operations/copies.h"

namespace coffer::flows {

/// Stores a copy of the served file, made like a backup. `segment`: the number of the next segment
/// of the log. `floor_bytes`: free space that the database needs. `progress` may throw to stop.
Result<store::Snapshot> archive_snapshot(const Context& context, store::Archive& archive,
                                         std::int64_t segment, std::uint64_t floor_bytes,
                                         const ProgressFunction& progress);

/// Why a file is not what the newest signed head of the archive, at most of `until`, says; empty if
/// it is. A file that was restored to a moment of the past is older than the heads that the archive
/// had then. `sealer` has the master key of the file.
Result<std::string> archive_mismatch(store::Archive& archive, const auth::Sealer& sealer,
                                     store::Connection& db, std::optional<Timestamp> until = {});
/// The same for the line of a head; empty for an empty one.
Result<std::string> head_mismatch(store::Archive& archive, const auth::Sealer& sealer,
                                  store::Connection& db, const std::string& line);

/// A file from the archive, and what is wrong with it.
struct RebuiltFile {
  store::Rebuilt rebuilt;
  store::FileVerdict verdict;
};
/// Fills the new file `to`, verifies it, and compares it with the newest signed head of the wanted
/// moment and with `checkpoints`. `sealer` has its master key. Returns the problems of
/// store::rebuild(), and throws only what `progress` throws. `threads` verify the file.
Result<RebuiltFile> rebuild_verified(store::Archive& archive, const auth::Sealer& sealer,
                                     const store::RebuildRequest& request,
                                     const Checkpoints& checkpoints, PartialFile& to,
                                     const ProgressFunction& progress, int threads = 1);
/// What lets a restored file contradict the present heads (the row kRestoredOver of `meta`).
Result<std::string> accepted_heads(store::Archive& archive);
inline constexpr std::string_view kRestoredOver = "restored_over";

/// A file that was restored from the archive on trial.
struct Proof {
  Timestamp proven_at;    // when the last trial succeeded; 1970 if none has
  Timestamp restored_to;  // what it has restored
  Timestamp failed_at;    // of a later trial; 1970 if it did not fail
  std::string fault;      // why
};
/// The row of `meta` with it.
inline constexpr std::string_view kArchiveProof = "archive_proof";
std::optional<Proof> last_proof(store::Connection& db);

/// What an archive that ends with `last` must have had, or should have, and has not, by the last
/// proof and checkpoint in the file; empty if it has that. It lacks it for ever if the log does not
/// continue it.
std::string archive_lack(const store::LastSegment& last, store::Connection& db);
/// Logs it, and remembers it as a failed proof, until there is one that succeeds.
void record_lack(const Context& context, const std::string& lack);

/// Restores the newest state of the archive into a temporary file beside the database, with
/// rebuild_verified(). Remembers the result in the served file. Three Problems are no result:
/// `storage-full` if too little space would remain for payments, `provider-error` if the store
/// fails, and `overloaded` if another process does the same. Throws what `progress` throws.
Result<Proof> prove_archive(const Context& context, store::Archive& archive,
                            std::uint64_t floor_bytes, const ProgressFunction& progress);

}  // namespace coffer::flows
