// The archive of the served file: its snapshots, its signed heads, and the proof that a file can be
// restored from it (docs/operating.md#archive).
#pragma once

#include <optional>
#include <string>

#include "base/telemetry/progress.h"
#include "flows/context.h"
#include "store/archive/rebuild.h"
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
/// The same for a rebuilt file. `head`: the newest line of the wanted moment, read before the log
/// was, which then has its rows. If the log ends early, that of its end counts.
Result<std::string> rebuilt_mismatch(store::Archive& archive, const auth::Sealer& sealer,
                                     store::Connection& db, const std::string& head,
                                     const store::Rebuilt& rebuilt);
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
std::optional<Proof> last_proof(store::Connection& db);

/// Restores the newest state of the archive into a temporary file beside the database, verifies it
/// like a restored file, and compares it with the heads. Remembers the result in the served file.
/// `storage-full` if too little space would remain for payments; that is no result.
Result<Proof> prove_archive(const Context& context, store::Archive& archive,
                            std::uint64_t floor_bytes, const ProgressFunction& progress);

}  // namespace coffer::flows
