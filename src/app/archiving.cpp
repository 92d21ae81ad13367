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
      began_at_(context.clock.now()) {}

Result<std::unique_ptr<store::Archive>> Archiving::open() const {
  if (open_) return open_();
  return unexpected(Slug::not_found, "There is no archive. Set archive.");
}

void Archiving::start(std::function<bool()> stopping) {
  stopping_ = std::move(stopping);
  write_thread_.start();
  keep_thread_.start();
}

void Archiving::stop() {
  keep_thread_.stop();
  write_thread_.stop();
}

void Archiving::finish() {
  if (!writes() || write_failed_) return;
  const std::int64_t end_ms = boot_ms() + kFinishMs;
  for (;;) {
    const auto done = write(true);
    if (done || done.error().slug == Slug::conflict || boot_ms() >= end_ms) return;
    rest(kWriteEveryMs / 10);
  }
}

Result<void> Archiving::write(bool all) {
  if (!writer_) {
    COFFER_TRY(store::ReplicaLog* const log, replica_->reader());
    COFFER_TRY(written_, open_());
    COFFER_TRY(const std::string mismatch, context_.read([&](store::Connection& db) {
      return flows::archive_mismatch(*written_, context_.sealer, db);
    }));
    if (!mismatch.empty()) return unexpected(Slug::conflict, mismatch);
    writer_ =
        std::make_unique<store::SegmentWriter>(*written_, *log, context_.random, context_.clock);
    begun_ = writer_.get();
  }
  return writer_->step(all);
}

/// Logs when it begins to fail, and when it works again.
std::int64_t Archiving::write_step() {
  const auto done = write(false);
  if (done.has_value() == write_failed_) {
    done ? log_info("archive", "the archive has the log again")
         : log_error("archive", "the archive does not get the log",
                     {{"problem", done.error().detail}});
  }
  write_failed_ = !done;
  const bool ends = !done && done.error().slug == Slug::conflict;
  return ends ? WorkerThread::kWhenWoken : kWriteEveryMs;
}

std::int64_t Archiving::keep_step() {
  try {
    const auto done = keep();
    if (!done && !keep_failed_) {
      log_error("archive", "the archive could not be maintained",
                {{"problem", done.error().detail}});
    }
    keep_failed_ = !done;
    const store::SegmentWriter* writer = begun_;
    const bool waits = writer == nullptr || writer->next() == 0;  // for the thread `archive`
    return done && *done ? 0 : waits ? kWriteEveryMs : kKeepAgainMs;
  } catch (const Stops&) {
    return WorkerThread::kWhenWoken;
  }
}

Result<bool> Archiving::keep() {
  const store::SegmentWriter* writer = begun_;
  if (writer == nullptr || writer->next() == 0 || writer->has_ended()) return false;
  COFFER_TRY(const auto archive, open_());
  COFFER_TRY_VOID(store::check_segment(*archive, writer->next() - 1));
  return keep_one(*archive);
}

Result<bool> Archiving::keep_one(store::Archive& archive) {
  const Timestamp now = context_.clock.now();
  const std::int64_t next = begun_.load()->next();
  std::optional<Pace> pace{std::in_place};
  const auto progress = [&](const Progress& at) {
    if (stopping_()) throw Stops();
    // A live copy has a pace of its own, whose rests are not work.
    at.what == "copying" ? static_cast<void>(pace.emplace()) : pace->rest();
  };
  COFFER_TRY(const auto snapshots, store::list_snapshots(archive));
  const bool is_due = snapshots.empty() || snapshots.back().segment <= begun_.load()->base() ||
                      now.ms - snapshots.back().at.ms >= config_.archive_snapshot_every_h * kHourMs;
  if (is_due) {
    COFFER_TRY(const auto made, flows::archive_snapshot(context_, archive, next,
                                                        config_.disk_floor_bytes(), progress));
    log_info("archive", "snapshot complete",
             {{"snapshot", made.name.text()}, {"bytes", made.bytes}, {"parts", made.parts}});
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
  COFFER_TRY(const auto proof,
             flows::prove_archive(context_, archive, config_.disk_floor_bytes(), progress));
  proof.fault.empty()
      ? log_info("archive", "a restore is proven", {{"restoredTo", proof.restored_to.to_string()}})
      : log_error("archive", "a restore from the archive failed", {{"problem", proof.fault}});
  return true;
}

void Archiving::add_facts(store::Connection& db, ConditionFacts& facts) const {
  const store::SegmentWriter* writer = begun_;
  const Timestamp until = writer != nullptr ? writer->until() : Timestamp();
  facts.archived_until = std::max(until, began_at_);
  facts.archive_failed = keep_failed_ || (writer != nullptr && writer->has_ended());
  facts.prove_every_ms = config_.archive_prove_every_h * kHourMs;
  const auto proof = flows::last_proof(db);
  facts.archiving_since = began_at_;
  if (proof && proof->proven_at.ms > 0) facts.proven_at = proof->proven_at;
  facts.proof_failed = proof && !proof->fault.empty();
}

std::int64_t Archiving::bytes() const {
  const store::SegmentWriter* writer = begun_;
  return writer != nullptr ? writer->bytes() : 0;
}

flows::CheckpointRounds::Keep Archiving::head_keeper() const {
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
    COFFER_TRY(const auto archive, open_());
    COFFER_TRY_VOID(archive->put(store::head_name(at), line));
    return {};
  };
}

}  // namespace coffer
