#include "store/replication/leader.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "base/fault.h"
#include "base/platform/lease.h"
#include "base/telemetry/log.h"
#include "base/telemetry/metrics.h"
#include "store/file/connection.h"
#include "store/replication/follower.h"

namespace coffer::store {

Leader::Leader(ReplicaLog& log, const EntryKeys& keys, Random& random, const LogTail& tail,
               std::int64_t sent_ms, LeaderOptions options)
    : log_(log),
      random_(random),
      options_(std::move(options)),
      encoder_(options_.base_bytes),
      chain_(keys, tail),
      stored_(options_.committed),
      seq_(tail.at.seq),
      epoch_(tail.at.epoch),
      sent_ms_(sent_ms) {
  if (!options_.marked.empty()) mark_.emplace(options_.marked);
  if (options_.alone) return;
  if (mark_) mark_->claim(epoch_);
  hold_lease_until(sent_ms_ + options_.lease_ms);
  constexpr std::int64_t kLookEveryMs = 50;
  // Without this, a leader whose log does not respond would go on until its next response.
  watch_ = Thread("lease", [this] {
    repeat(kLookEveryMs, [this] {
      if (lease_holds()) return true;
      options_.end({AppendResult::unknown, "the log has not responded during the lease"});
      return false;
    });
  });
  if (options_.heartbeat_ms == 0) return;
  beat_ = Thread("heartbeat", [this] {
    repeat(options_.heartbeat_ms / 2, [this] {
      heartbeat(options_.heartbeat_ms);
      return true;
    });
  });
}

Leader::~Leader() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    stopped_.notify_all();
  }
  watch_.join();
  beat_.join();
  if (!options_.alone) end_lease();
  if (writer_ == nullptr) return;
  writer_->commit_through({});
  tap_log(writer_->handle(), nullptr);
}

void Leader::follow(Connection& writer) {
  writer_ = &writer;
  tap_log(writer.handle(), this);
  writer.commit_through([this](const std::function<void()>& own) { commit(own); });
}

void Leader::commit(const std::function<void()>& commit) {
  const Lock lock(appending_);
  const LogTail& tail = chain_.tail();
  stored_ = {tail.at.seq + 1, tail.at.epoch};
  write_position(*writer_, {stored_, tail.digest, options_.alone});
  commit();
}

void Leader::repeat(std::int64_t every_ms, const std::function<bool()>& work) {
  for (;;) {
    {
      const Lock lock(mutex_);
      if (!stopping_) stopped_.wait_for_ms(mutex_, every_ms);
      if (stopping_) return;
    }
    if (!work()) return;
  }
}

void Leader::heartbeat(std::int64_t idle_ms) {
  const Lock lock(appending_);
  if (boot_ms() - sent_ms_ < idle_ms) return;
  const LogEntry entry = chain_.append(EntryKind::heartbeat, options_.address, random_);
  append({&entry, 1}, [] {});
}

bool Leader::was_slow() const {
  constexpr std::int64_t kRecentMs = 300'000;
  return slow_ms_ != 0 && boot_ms() - slow_ms_ < kRecentMs;
}

int Leader::synchronise(const std::function<int()>& synchronise) {
  if (!frames_.holds_commit()) return synchronise();
  std::string fault;
  if (!frames_.is_complete()) fault = "another program has written to the database";
  if (stored_.seq != chain_.tail().at.seq + 1) fault = "a commit does not contain its position";
  if (!fault.empty()) return reject(fault, synchronise);
  std::vector<LogEntry> entries;
  CommitPages pages = frames_.commit();
  if (options_.clock != nullptr) last_at_ = std::max(last_at_, options_.clock->now());
  pages.at = last_at_;
  for (const std::string& part : encoder_.encode(pages)) {
    entries.push_back(chain_.append(EntryKind::data, part, random_));
  }
  int code = SQLITE_IOERR_FSYNC;
  COFFER_FAULT("log.before");
  const bool stored = append(entries, [&] {
    COFFER_FAULT("log.sent");
    code = synchronise();
  });
  COFFER_FAULT("log.after");
  if (!stored) return SQLITE_IOERR_FSYNC;
  frames_.begin_next();
  return code;
}

int Leader::reject(const std::string& fault, const std::function<int()>& synchronise) {
  if (!options_.alone) {
    options_.end({AppendResult::unknown, fault});
    return SQLITE_IOERR_FSYNC;
  }
  log_warning("archive", "a commit is not in the log, so the archive begins again",
              {{"reason", fault}});
  frames_ = LogFrames();
  encoder_ = PageEncoder(options_.base_bytes);
  const LogEntry entry = chain_.append(EntryKind::takeover, takeover_content(false, {}), random_);
  (void)log_.truncate(entry.at.seq);
  return append({&entry, 1}, [] {}) ? synchronise() : SQLITE_IOERR_FSYNC;
}

bool Leader::append(std::span<const LogEntry> entries, const std::function<void()>& meanwhile) {
  sent_ms_ = boot_ms();
  const Stopwatch watch;
  const Appended out = log_.append(entries, meanwhile);
  if (options_.took) options_.took(watch.elapsed_us());
  if (const std::int64_t now = boot_ms();
      !options_.alone && now - sent_ms_ >= options_.lease_ms / 2)
    slow_ms_ = now;
  if (out.result != AppendResult::stored) {
    options_.end(out);
    return false;
  }
  if (!options_.alone) hold_lease_until(sent_ms_ + options_.lease_ms);
  seq_ = entries.back().at.seq;
  if (mark_) mark_->note(chain_.tail(), stored_);
  return true;
}

}  // namespace coffer::store
