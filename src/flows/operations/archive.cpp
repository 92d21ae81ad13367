#include "flows/operations/archive.h"

#include <charconv>

#include "base/files/folders.h"
#include "base/telemetry/log.h"
#include "flows/operations/backups.h"
#include "flows/operations/checkpoint_rounds.h"
#include "store/file/foreign_file.h"
#include "store/ledger/catalog.h"

namespace coffer::flows {
namespace {

void record_proof(const Context& context, const Proof& proof) {
  std::string text;
  for (const Timestamp at : {proof.proven_at, proof.restored_to, proof.failed_at}) {
    text += std::to_string(at.ms) + ' ';
  }
  const auto stored = context.write(
      [&](store::WriteTx& tx) { store::write_meta(tx, kArchiveProof, text + proof.fault); });
  (void)stored;  // on a full disk, which has an alert of its own
}

}  // namespace

Result<store::Snapshot> archive_snapshot(const Context& context, store::Archive& archive,
                                         std::int64_t segment, std::uint64_t floor_bytes,
                                         const ProgressFunction& progress) {
  // So that the position in the copy is one of the segments from here on.
  COFFER_TRY_VOID(context.queue.probe());
  const Timestamp begun = context.queue.now();
  Result<store::Snapshot> out = store::Snapshot();
  const auto put = [&](const std::string& copy) {
    const store::SnapshotName name{segment, context.queue.now()};
    out = store::put_snapshot(archive, name, begun, copy, progress);
  };
  COFFER_TRY_VOID(with_copy(
      context,
      {.path = context.database.path() + kCopyEnding + "archive", .floor_bytes = floor_bytes},
      progress, put));
  return out;
}

Result<std::string> archive_mismatch(store::Archive& archive, const auth::Sealer& sealer,
                                     store::Connection& db, std::optional<Timestamp> until) {
  COFFER_TRY(const std::string line, store::newest_head(archive, until));
  return head_mismatch(archive, sealer, db, line);
}

Result<std::string> head_mismatch(store::Archive& archive, const auth::Sealer& sealer,
                                  store::Connection& db, const std::string& line) {
  if (line.empty()) return line;
  const auto accepted = store::read_meta(db, kRestoredOver);
  const auto opened = accepted ? archive.opened(std::string(kRestoredOver), *accepted)
                               : std::optional<std::string>();
  COFFER_TRY(const Checkpoint head, parse_checkpoint(line));
  const auto over = opened ? parse_checkpoint(*opened) : unexpected(Slug::not_found, "");
  if (over && over->file == head.file && head.at <= over->at) return std::string();
  return mismatch_with(sealer, db, Checkpoints{head});
}

Result<RebuiltFile> rebuild_verified(store::Archive& archive, const auth::Sealer& sealer,
                                     const store::RebuildRequest& request,
                                     const Checkpoints& checkpoints, PartialFile& to,
                                     const ProgressFunction& progress, int threads) try {
  RebuiltFile out;
  // Read before the log is, which then has its rows.
  COFFER_TRY(std::string head, store::newest_head(archive, request.at));
  COFFER_TRY(out.rebuilt, store::rebuild(archive, request, to, progress));
  if (out.rebuilt.ends_early) {
    COFFER_TRY(head, store::newest_head(archive, out.rebuilt.until));
  }
  out.verdict = store::verify_file(to.path(), progress, keys_under(sealer), threads);
  if (out.verdict.newer_schema || out.verdict.older_schema) return out;
  Result<std::string> mismatch = std::string();
  store::read_foreign_file(to.path(), [&](store::Connection& db) {
    mismatch = head_mismatch(archive, sealer, db, head);
    if (mismatch && mismatch->empty()) *mismatch = mismatch_with(sealer, db, checkpoints);
  });
  if (!mismatch) return unexpected(mismatch.error());
  if (!mismatch->empty()) out.verdict.violations.push_back({"checkpoint", *mismatch});
  return out;
} catch (const store::SqlError& error) {
  const std::string what = "cannot restore into " + to.path();
  if (store::is_full_disk(error)) return unexpected(full_disk_problem(what));
  RebuiltFile out;
  out.verdict.violations.push_back({"sqlite_file", what + ": " + error.what()});
  return out;
}

Result<std::string> accepted_heads(store::Archive& archive) {
  COFFER_TRY(const std::string line, store::newest_head(archive, {}));
  return line.empty() ? line : archive.sealed(std::string(kRestoredOver), line);
}

std::optional<Proof> last_proof(store::Connection& db) {
  const auto text = store::read_meta(db, kArchiveProof);
  if (!text) return std::nullopt;
  Proof out;
  const char* at = text->data();
  const char* const end = at + text->size();
  for (Timestamp* time : {&out.proven_at, &out.restored_to, &out.failed_at}) {
    const auto [next, error] = std::from_chars(at, end, time->ms);
    if (error != std::errc() || next == end) return std::nullopt;
    at = next + 1;
  }
  out.fault.assign(at, end);
  return out;
}

std::string archive_lack(const store::LastSegment& last, store::Connection& db) {
  // How far a checkpoint, and the last commit of a segment, may be ahead of its time.
  constexpr std::int64_t kLateMs = 5 * kMinuteMs, kReadMs = 1'000;
  const Timestamp end = last.snapshot == 0 ? Timestamp() : last.until;
  Timestamp known = last_proof(db).value_or(Proof()).restored_to;
  const auto checkpoint = parse_checkpoint(store::read_meta(db, kLastCheckpoint).value_or(""));
  if (end.ms > 0 && checkpoint && checkpoint->at.ms > end.ms + kLateMs) {
    known = std::max(known, checkpoint->at);
  }
  if (known <= end.plus_ms(end.ms > 0 ? kReadMs : 0)) return {};
  return (end.ms == 0
              ? "The archive has no snapshot, and the ledger had commits until "
              : "The archive ends at " + end.to_string() + ", and the ledger had commits until ") +
         known.to_string() +
         ". No moment in between can be restored from it. If it had them once, it was emptied or "
         "replaced by an older copy.";
}

void record_lack(const Context& context, const std::string& lack) {
  log_error("archive", "the archive lacks what it should have", {{"problem", lack}});
  const auto last = context.read([](store::Connection& db) { return Result(last_proof(db)); });
  Proof out = (last ? *last : std::nullopt).value_or(Proof());
  out.failed_at = context.queue.now();
  out.fault = lack;
  record_proof(context, out);
}

Result<Proof> prove_archive(const Context& context, store::Archive& archive,
                            std::uint64_t floor_bytes, const ProgressFunction& progress) {
  const std::string& database = context.database.path();
  COFFER_TRY(const auto last, context.read([](store::Connection& db) { return last_proof(db); }));
  Proof out = last.value_or(Proof());
  COFFER_TRY(PartialFile file, PartialFile::create(database + kCopyEnding + "proof"));
  const auto check_size = [&](std::int64_t bytes) -> Result<void> {
    const auto free = free_disk_bytes(directory_of(database)).value_or(UINT64_MAX);
    const auto wanted = static_cast<std::uint64_t>(bytes) * 5 / 4 + floor_bytes;
    if (free >= wanted) return {};
    return unexpected(full_disk_problem("cannot prove the archive beside " + database,
                                        "it needs " + std::to_string(wanted >> 20) + " MiB"));
  };
  const auto made =
      rebuild_verified(archive, context.sealer, {.check_size = check_size}, {}, file, progress);
  const bool is_known = made || (made.error().slug != Slug::storage_full &&
                                 made.error().slug != Slug::provider_error);
  if (!is_known) return unexpected(made.error());
  const Timestamp now = context.queue.now();
  if (made && made->verdict.violations.empty()) {
    out = {now, made->rebuilt.until, {}, {}};
  } else {
    out.failed_at = now;
    out.fault =
        made ? made->verdict.violations[0].invariant + ": " + made->verdict.violations[0].detail
             : made.error().detail;
  }
  record_proof(context, out);
  return out;
}

}  // namespace coffer::flows
