#include "base/files/folders.h"
#include "base/platform/processors.h"
#include "flows/operations/archive.h"
#include "flows/operations/restore.h"

namespace coffer::flows {
namespace {

Problem newer(const std::string& path, const store::FileVerdict& verdict) {
  return cannot_create(path + " was written by a newer version of coffer (schema " +
                       std::to_string(verdict.summary.schema) +
                       "). Install that version and restore the file with it");
}

/// Rebuilds and verifies the file under its partial name.
Result<Restored> prove_rebuilt(PartialFile& file, store::Archive& archive,
                               const ArchiveRestore& wanted, const ProgressFunction& progress,
                               const FileChecks& checks) {
  Restored out;
  COFFER_TRY(const RebuiltFile made,
             rebuild_verified(archive, checks.key->sealer(), {wanted.at, wanted.snapshot_before},
                              checks.checkpoints, file, progress, processors()));
  out.rebuilt = made.rebuilt;
  out.verdict = made.verdict;
  out.bytes = static_cast<std::int64_t>(file_bytes(file.path()));
  if (!out.verdict.violations.empty()) return out;
  if (wanted.keeps_place && wanted.check_seed) COFFER_TRY_VOID(wanted.check_seed(file.path()));
  COFFER_TRY(out, upgraded(file, "the archive", progress, checks, std::move(out)));
  if (!out.verdict.violations.empty() || wanted.keeps_place) return out;
  COFFER_TRY(const std::string over, accepted_heads(archive));
  store::stand_alone(file.path(), kRestoredOver, over);
  return out;
}

}  // namespace

Result<Restored> upgraded(PartialFile& file, const std::string& what,
                          const ProgressFunction& progress, const FileChecks& checks,
                          Restored out) {
  out.schema_before = out.verdict.summary.schema;
  if (out.verdict.newer_schema) return unexpected(newer(what, out.verdict));
  if (!out.verdict.violations.empty() || !out.verdict.older_schema) return out;
  if (const std::string fault = store::upgrade_copy(file.path()); !fault.empty()) {
    return unexpected(Slug::unexpected_error, fault);
  }
  out.verdict = store::verify_file(file.path(), progress, keys_of(checks.key.get()), processors());
  return out;
}

Result<Restored> restore_archive(store::Archive& archive, const ArchiveRestore& wanted,
                                 const std::string& target, const ProgressFunction& progress,
                                 const FileChecks& checks) {
  return restore_into(target, [&](PartialFile& file) {
    return prove_rebuilt(file, archive, wanted, progress, checks);
  });
}

}  // namespace coffer::flows
