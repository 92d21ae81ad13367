#include "app/archiving.h"

#include "base/limits/pace.h"
#include "base/platform/lease.h"
#include "base/telemetry/log.h"
#include "flows/operations/archive.h"

namespace coffer {
namespace {

constexpr std::int64_t kWriteEveryMs = 2'000;
constexpr std::int64_t kFinishMs = 5'000;
constexpr std::int64_t kHeadWaitMs = 10'000;
constexpr std::int64_t kKeepAgainMs = kMinuteMs;

/// Thrown by the progress of long work when the server stops.
struct Stops {};

}  // namespace

Archiving::Archiving(const Config& config, const flows::Context& context, store::Replica* replica,
                     OpenArchive open)
    : config_(config),
      context_(context),
      replica_(replica),
      open_(std::move(open)),
      began_at_(context.clock.now()) {
  if (!open_) return;
  write_link_.emplace(config.ca_bundle, context.clock);
  work_link_.emplace(config.ca_bundle, context.clock);
}

Result<std::unique_ptr<store::Archive>> Archiving::open(outbound::ArchiveLink* link) {
  if (open_) return open_(link != nullptr ? *link : *work_link_);
  return unexpected(Slug::not_found, "There is no archive.");
}

void Archiving::start(std::function<bool()> stopping) {
  stopping_ = std::move(stopping);
  write_thread_.start();
  keep_thread_.start();
}

void Archiving::end_work() {
  if (work_link_) work_link_->cut_after(0);
}

void Archiving::stop() {
  end_work();
  keep_thread_.stop();
}

void Archiving::finish() {
  if (!writes()) return;
  const std::int64_t end_ms = boot_ms() + kFinishMs;
  write_link_->cut_after(kFinishMs);
  write_thread_.stop();
  {
    const Lock lock(mutex_);
    if (!writing_.problem.empty()) return;
  }
  for (;;) {
    const auto done = write(true);
    if (done || done.error().slug == Slug::conflict || boot_ms() >= end_ms) return;
    rest(kWriteEveryMs / 10);
  }
}

/// Remembers the result of the last try, and logs when it begins to fail, and when it works again.
void Archiving::note(Work& work, const Problem* problem) {
  const bool failed = !work.problem.empty();
  if (failed && problem == nullptr) log_info("archive", work.works_again);
  if (!failed && problem != nullptr) {
    log_error("archive", work.failed, {{"problem", problem->detail}});
  }
  work.problem = problem != nullptr ? problem->detail : std::string();
  work.is_over = problem != nullptr && problem->slug == Slug::conflict;
}

Result<void> Archiving::write(bool all) {
  auto done = try_write(all);
  const Lock lock(mutex_);
  note(writing_, done ? nullptr : &done.error());
  return done;
}

Result<void> Archiving::try_write(bool all) {
  if (!writer_) {
    COFFER_TRY(store::ReplicaLog* const log, replica_->reader());
    COFFER_TRY(written_, open_(*write_link_));
    // Before a read, which no call to a store may prolong.
    COFFER_TRY(const std::string head, store::newest_head(*written_, {}));
    COFFER_TRY(const std::string mismatch, context_.read([&](store::Connection& db) {
      return flows::head_mismatch(*written_, context_.sealer, db, head);
    }));
    if (!mismatch.empty()) return unexpected(Slug::conflict, mismatch);
    COFFER_TRY(const auto last, store::last_segment(*written_));
    COFFER_TRY(lack_, context_.read([&](store::Connection& db) {
      return Result(flows::archive_lack(last, db));
    }));
    writer_ =
        std::make_unique<store::SegmentWriter>(*written_, *log, context_.random, context_.clock);
    begun_ = writer_.get();
  }
  auto done = writer_->step(all);
  if (writer_->next() != 0 && !lack_.empty()) {
    if (writer_->began_anew()) flows::record_lack(context_, lack_);
    lack_.clear();
  }
  return done;
}

std::int64_t Archiving::write_step() {
  static_cast<void>(write(false));
  const Lock lock(mutex_);
  return writing_.is_over ? WorkerThread::kWhenWoken : kWriteEveryMs;
}

std::int64_t Archiving::keep_step() {
  try {
    const auto done = keep();
    const store::SegmentWriter* writer = begun_;
    const bool waits = writer == nullptr || writer->next() == 0;  // for the thread `archive`
    return done && *done ? 0 : waits ? kWriteEveryMs : kKeepAgainMs;
  } catch (const Stops&) {
    return WorkerThread::kWhenWoken;
  }
}

Result<bool> Archiving::keep() {
  auto done = [&]() -> Result<bool> {
    try {
      return try_keep();
    } catch (const store::SqlError& fault) {  // such as of a full disk
      return unexpected(Slug::unexpected_error, fault.what());
    }
  }();
  const Lock lock(mutex_);
  if (done || !stopping_()) note(keeping_, done ? nullptr : &done.error());
  return done;
}

Result<bool> Archiving::try_keep() {
  const store::SegmentWriter* writer = begun_;
  if (writer == nullptr || writer->next() == 0 || writer->has_ended()) return false;
  COFFER_TRY(const auto archive, open());
  COFFER_TRY_VOID(store::check_segment(*archive, writer->next() - 1));
  return keep_one(*archive);
}

Result<void> Archiving::make_snapshot(store::Archive& archive, const ProgressFunction& progress) {
  const auto open_since = gap();
  COFFER_TRY(const auto made, flows::archive_snapshot(context_, archive, begun_.load()->next(),
                                                      config_.disk_floor_bytes(), progress));
  snapshot_ = made.name.segment;
  log_info("archive", "snapshot complete",
           {{"snapshot", made.name.text()}, {"bytes", made.bytes}, {"parts", made.parts}});
  if (open_since && open_since->ms > 0) {
    log_warning("archive", "no moment of this gap can be restored",
                {{"from", open_since->to_string()}, {"to", made.name.at.to_string()}});
  }
  return {};
}

Result<bool> Archiving::keep_one(store::Archive& archive) {
  const Timestamp now = context_.clock.now();
  std::optional<Pace> pace{std::in_place};
  const auto progress = [&](const Progress& at) {
    if (stopping_()) throw Stops();
    // A live copy has a pace of its own, whose rests are not work.
    at.what == "copying" ? static_cast<void>(pace.emplace()) : pace->rest();
  };
  COFFER_TRY(const auto snapshots, store::list_snapshots(archive));
  snapshot_ = snapshots.empty() ? 0 : snapshots.back().segment;
  if (snapshot_ <= begun_.load()->base() ||
      now.ms - snapshots.back().at.ms >= config_.archive_snapshot_every_h * kHourMs) {
    COFFER_TRY_VOID(make_snapshot(archive, progress));
    return true;
  }
  if (now.ms - dropped_at_.ms >= kHourMs) {
    COFFER_TRY(const std::int64_t dropped,
               store::drop_before(archive, now.plus_ms(-config_.archive_keep_days * kDayMs),
                                  [&] { progress({}); }));
    dropped_at_ = now;
    if (dropped > 0) log_info("archive", "old objects removed", {{"count", dropped}});
    return true;
  }
  const std::int64_t every_ms = config_.archive_prove_every_h * kHourMs;
  COFFER_TRY(const auto last,
             context_.read([](store::Connection& db) { return flows::last_proof(db); }));
  const Timestamp tried =
      std::max(tried_at_, last ? std::max(last->proven_at, last->failed_at) : Timestamp());
  if (every_ms == 0 || now.ms - tried.ms < every_ms) return false;
  tried_at_ = now.plus_ms(kHourMs - every_ms);  // again in an hour without a result
  const auto proof = flows::prove_archive(context_, archive, config_.disk_floor_bytes(), progress);
  if (!proof && proof.error().slug == Slug::overloaded) return false;  // an operator proves it
  if (!proof) return unexpected(proof.error());
  proof->fault.empty()
      ? log_info("archive", "a restore is proven", {{"restoredTo", proof->restored_to.to_string()}})
      : log_error("archive", "a restore from the archive failed", {{"problem", proof->fault}});
  return true;
}

/// Since when nothing can be restored before there is a new snapshot.
std::optional<Timestamp> Archiving::gap() const {
  const store::SegmentWriter* writer = begun_;
  const bool is_known = writer != nullptr && writer->next() != 0 && snapshot_ >= 0;
  if (!is_known || snapshot_ > writer->base()) return std::nullopt;
  return writer->gap_from();
}

void Archiving::add_facts(store::Connection& db, ConditionFacts& facts) const {
  const store::SegmentWriter* writer = begun_;
  const Timestamp until = writer != nullptr ? writer->until() : Timestamp();
  facts.archived_until = std::max(until, began_at_);
  facts.prove_every_ms = config_.archive_prove_every_h * kHourMs;
  facts.archiving_since = began_at_;
  const auto proof = flows::last_proof(db).value_or(flows::Proof());
  if (proof.proven_at.ms > 0) facts.proven_at = proof.proven_at;
  facts.proof_fault = proof.fault;
  const auto open_since = gap();
  {
    const Lock lock(mutex_);
    facts.archive_failed = !keeping_.problem.empty() || writing_.is_over;
    facts.archive_problem = writing_.problem.empty() ? keeping_.problem : writing_.problem;
  }
  if (!open_since) return;
  facts.archive_failed |= open_since->ms > 0;
  if (facts.archive_problem.empty()) facts.archive_problem = store::gap_text(*open_since);
}

std::int64_t Archiving::bytes() const {
  const store::SegmentWriter* writer = begun_;
  return writer != nullptr ? writer->bytes() : 0;
}

flows::CheckpointRounds::Keep Archiving::head_keeper() {
  if (!writes()) return {};
  return [this](Timestamp at, const std::string& line) -> Result<void> {
    // A head that is there before its rows would contradict what can be restored.
    const std::int64_t end_ms = boot_ms() + kHeadWaitMs;
    const auto has_rows = [&] {
      const store::SegmentWriter* writer = begun_;
      return writer != nullptr && writer->until() >= at;
    };
    while (!has_rows()) {
      if (boot_ms() >= end_ms || (stopping_ && stopping_())) {
        return unexpected(Slug::unexpected_error,
                          "The archive does not have what the checkpoint is about.");
      }
      rest(kWriteEveryMs / 10);
    }
    COFFER_TRY(const auto archive, open());
    COFFER_TRY_VOID(archive->put(store::head_name(at), line));
    return {};
  };
}

}  // namespace coffer
