#include "store/file/checkpointer.h"

#include <algorithm>
#include <utility>

#include "base/telemetry/metrics.h"
#include "store/file/connection.h"
#include "store/file/reader_pools.h"

namespace coffer::store {
namespace {

// 4 MiB of log since the last checkpoint, also if a reader blocked it. A longer log is copied for
// longer (measured: p99 of payments at 64 connections 6.1 ms with 8 MiB, 5.3 ms with 4 and 2 MiB).
constexpr int kEveryFrames = 2'000;
// 16 MiB if at most a few commands share a commit: then fewer than one payment in a hundred waits
// for a copy.
constexpr int kEveryFramesOfFew = 8'000;
constexpr std::size_t kFewCommands = 4;
// 32 MiB: overlapping readers have prevented a restart of the log.
constexpr int kPauseFrames = 16'000;
constexpr int kTruncateFrames = 32'000;   // 64 MiB: returns the space to the disk
constexpr int kInterruptFrames = 40'000;  // 80 MiB: interrupts long statements
constexpr std::int64_t kPauseMs = 20;
constexpr std::int64_t kPauseMaxMs = 160;

std::int64_t now_ms() { return SystemClock().monotonic_ms(); }

}  // namespace

Checkpointer::Checkpointer(Connection& writer, ReaderPools& readers, Metrics* metrics)
    : writer_(writer), readers_(readers) {
  if (metrics != nullptr) {
    constexpr std::string_view kName = "coffer_checkpoints_total";
    constexpr std::string_view kHelp =
        "Copies of the write-ahead log into the database file; a partial one was blocked by a "
        "reader.";
    completed_ = &metrics->counter(kName, kHelp, {{"result", "complete"}});
    blocked_ = &metrics->counter(kName, kHelp, {{"result", "partial"}});
    paused_ = &metrics->counter("coffer_reader_pauses_total",
                                "Pauses of new readers, so that the write-ahead log can restart.");
    times_ = &metrics->histogram("coffer_checkpoint_duration_seconds",
                                 "Copying the write-ahead log into the database file, in seconds.",
                                 kWorkBuckets);
  }
  note_frames(0);
  writer_.on_commit([this](int frames) { note_frames(frames); });
}

Checkpointer::~Checkpointer() {
  writer_.on_commit({});
  open_gate();
}

void Checkpointer::note_frames(int frames) {
  if (frames < frames_ || frames_ == 0) {  // the log was restarted
    try_at_ = kEveryFrames;
    pause_at_ = kPauseFrames;
    pause_ms_ = kPauseMs;
  }
  frames_ = frames;
  log_frames_ = static_cast<std::uint64_t>(frames);
}

void Checkpointer::run_when_due(std::size_t commands) {
  if (gate_until_ms_ != 0) {
    if (readers_.drained()) {
      checkpoint();
      open_gate();
      pause_at_ = frames_ + kEveryFrames;  // unless the log restarts
    } else if (now_ms() >= gate_until_ms_) {
      if (frames_ >= kInterruptFrames) readers_.interrupt_long();
      open_gate();
      pause_at_ = frames_ + kEveryFrames;
      pause_ms_ = std::min(2 * pause_ms_, kPauseMaxMs);
    }
    return;
  }
  const bool may_wait = commands <= kFewCommands && frames_ < kEveryFramesOfFew;
  if (frames_ >= try_at_ && !may_wait) checkpoint();
  if (frames_ >= pause_at_) pause_readers();
}

/// After a complete copy, the next commit restarts the log if no reader uses it.
void Checkpointer::checkpoint() {
  // TRUNCATE would wait for readers up to the busy timeout, and all payments with it.
  writer_.set_busy_wait(0);
  const Stopwatch watch;
  const CheckpointedLog log = writer_.checkpoint(frames_ >= kTruncateFrames);
  writer_.set_busy_wait(kBusyWaitMs);
  if (times_ != nullptr) times_->observe(watch.elapsed_us());
  // A negative count means that another program is checkpointing.
  const bool complete = log.frames >= 0 && log.copied >= log.frames;
  try_at_ = frames_ + kEveryFrames;
  ++(complete ? complete_ : partial_);
  if (Counter* counter = complete ? completed_ : blocked_) counter->add();
}

void Checkpointer::pause_readers() {
  ++pauses_;
  if (paused_ != nullptr) paused_->add();
  gate_until_ms_ = now_ms() + pause_ms_;
  readers_.close_gate(gate_until_ms_);
}

void Checkpointer::open_gate() {
  gate_until_ms_ = 0;
  readers_.open_gate();
}

CheckpointStats Checkpointer::stats() const { return {complete_, partial_, pauses_, log_frames_}; }

}  // namespace coffer::store
