#include "flows/operations/archive.h"

#include "app/app.h"
#include "base/platform/exit_code.h"
#include "base/thread.h"
#include "cli/command_groups.h"
#include "cli/operations/verify.h"
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

/// What the archive itself says, while no server writes to it.
Result<void> examine(App& app, store::Archive& archive, ConditionFacts& facts) {
  COFFER_TRY(const store::LastSegment last, store::last_segment(archive));
  facts.archived_until = if_set(last.until);
  COFFER_TRY(facts.archive_problem, app.flows().read([&](store::Connection& db) {
    return Result(flows::archive_lack(last, db));
  }));
  const bool has_gap = last.number > 0 && last.snapshot <= last.segment.base;
  if (!has_gap || !facts.archive_problem.empty()) return {};
  COFFER_TRY(const Timestamp from, store::end_before(archive, last.segment.base));
  facts.archive_problem = store::gap_text(from);
  return {};
}

Result<CommandResult> archive_status(Session& session, const Arguments&) {
  App& app = session.app;
  Archiving& archiving = app.background().archiving();
  outbound::ArchiveLink link(app.config().ca_bundle, app.flows().clock);
  link.cut_after(kArchiveAnswerMs);
  COFFER_TRY(const auto archive, archiving.open(&link));
  COFFER_TRY(const auto proof, app.flows().read(flows::last_proof));
  ConditionFacts facts;
  if (archiving.writes() && app.listeners().port() != 0) {
    COFFER_TRY_VOID(app.flows().read([&](store::Connection& db) -> Result<void> {
      archiving.add_facts(db, facts);
      return {};
    }));
  } else {
    COFFER_TRY_VOID(examine(app, *archive, facts));
  }
  const auto found = store::list_snapshots(*archive);
  if (!found && facts.archive_problem.empty()) facts.archive_problem = found.error().detail;
  const auto snapshots = found ? *found : std::vector<store::SnapshotName>();
  Record record{{"archive", app.config().archive}};
  record.emplace_back("problem", facts.archive_problem.empty()
                                     ? std::nullopt
                                     : std::optional(facts.archive_problem));
  record.emplace_back("archivedUntil", facts.archived_until);
  record.emplace_back("behindSeconds",
                      facts.archived_until
                          ? std::optional((app.queue().now().ms - facts.archived_until->ms) / 1'000)
                          : std::nullopt);
  const auto number = static_cast<std::int64_t>(snapshots.size());
  record.emplace_back("snapshots", found ? std::optional(number) : std::nullopt);
  record.emplace_back("oldestMoment",
                      snapshots.empty() ? std::nullopt : std::optional(snapshots.front().at));
  record.emplace_back("newestSnapshotAt",
                      snapshots.empty() ? std::nullopt : std::optional(snapshots.back().at));
  put_proof(record, proof);
  return CommandResult{.records = {std::move(record)}};
}

Result<CommandResult> archive_prove(Session& session, const Arguments&) {
  constexpr int kAgainMs = 500;
  App& app = session.app;
  COFFER_TRY(const auto archive, app.background().archiving().open());
  ProgressLine line(session.console, session.interruption);
  const auto prove = [&] {
    return flows::prove_archive(app.flows(), *archive, app.config().disk_floor_bytes(),
                                line.shower());
  };
  auto made = prove();
  for (; !made && made.error().slug == Slug::overloaded; made = prove()) {
    line.show({"waiting for the proof of the server", 0, 0, Progress::Unit::steps});
    rest(kAgainMs);
  }
  COFFER_TRY(const auto proof, std::move(made));
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
                                "same every archive_prove_every_h;\nthe command waits for it."})};
}

}  // namespace coffer::cli
