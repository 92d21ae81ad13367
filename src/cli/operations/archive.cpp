#include "flows/operations/archive.h"

#include "app/app.h"
#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "cli/progress.h"
#include "store/archive/segments.h"

namespace coffer::cli {
namespace {

constexpr const char* kArchiveHint = "Set archive to a folder on another disk, or to a bucket";

std::optional<Timestamp> if_set(Timestamp at) {
  return at.ms > 0 ? std::optional(at) : std::nullopt;
}

void put_proof(Record& out, const std::optional<flows::Proof>& proof) {
  const flows::Proof known = proof.value_or(flows::Proof());
  out.emplace_back("provenAt", if_set(known.proven_at));
  out.emplace_back("provenTo", if_set(known.restored_to));
  if (!known.fault.empty()) {
    out.emplace_back("failedAt", known.failed_at);
    out.emplace_back("failure", known.fault);
  }
}

Result<CommandResult> archive_status(Session& session, const Arguments&) {
  App& app = session.app;
  COFFER_TRY(const auto archive, app.background().archiving().open());
  COFFER_TRY(const auto proof, app.flows().read(flows::last_proof));
  Record record{{"archive", app.config().archive}};
  ConditionFacts facts;
  const Archiving& archiving = app.background().archiving();
  if (archiving.writes() && app.listeners().port() != 0) {
    COFFER_TRY_VOID(app.flows().read([&](store::Connection& db) -> Result<void> {
      archiving.add_facts(db, facts);
      return {};
    }));
  } else {
    COFFER_TRY(const auto last, store::last_segment(*archive));
    facts.archived_until = if_set(last.segment.until);
  }
  record.emplace_back("archivedUntil", facts.archived_until);
  record.emplace_back("behindSeconds",
                      facts.archived_until
                          ? std::optional((app.queue().now().ms - facts.archived_until->ms) / 1'000)
                          : std::nullopt);
  COFFER_TRY(const auto snapshots, store::list_snapshots(*archive));
  record.emplace_back("snapshots", static_cast<std::int64_t>(snapshots.size()));
  record.emplace_back("oldestMoment",
                      snapshots.empty() ? std::nullopt : std::optional(snapshots.front().at));
  record.emplace_back("newestSnapshotAt",
                      snapshots.empty() ? std::nullopt : std::optional(snapshots.back().at));
  put_proof(record, proof);
  return CommandResult{.records = {std::move(record)}};
}

Result<CommandResult> archive_prove(Session& session, const Arguments&) {
  App& app = session.app;
  COFFER_TRY(const auto archive, app.background().archiving().open());
  ProgressLine line(session.console, session.interruption);
  COFFER_TRY(
      const auto proof,
      flows::prove_archive(app.flows(), *archive, app.config().disk_floor_bytes(), line.shower()));
  Record record;
  put_proof(record, proof);
  const bool failed = !proof.fault.empty();
  return CommandResult{.records = {std::move(record)},
                       .failed = failed,
                       .exit_code = failed ? exit_code::kFault : exit_code::kDone};
}

}  // namespace

std::vector<Command> archive_commands() {
  return {
      for_viewers("archive status", "Show how far the archive is, and what can be restored from it",
                  archive_status, {}, {.hint = kArchiveHint}),
      for_operators("archive prove", "Restore from the archive on trial, and verify the result",
                    "Prove a restore",
                    "The file is restored beside the database, verified, and removed.",
                    archive_prove, {},
                    {.hint = kArchiveHint,
                     .details = "Exits with 3 if the archive cannot be restored. A server does the "
                                "same every archive_prove_every_h."})};
}

}  // namespace coffer::cli
