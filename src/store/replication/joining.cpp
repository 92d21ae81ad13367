#include "store/replication/joining.h"

#include <utility>

#include "base/platform/lease.h"
#include "base/telemetry/log.h"
#include "base/thread.h"
#include "store/file/foreign_file.h"
#include "store/replication/file_position.h"
#include "store/replication/follower.h"

namespace coffer::store {
namespace {

bool cannot_follow(const Problem& problem) {
  return problem.slug == Slug::conflict || problem.slug == Slug::not_found ||
         problem.slug == Slug::validation_failed;
}

/// Waits until the log can be read.
Result<std::unique_ptr<Follower>> join(const std::string& path, const Replication& with) {
  for (bool logged = false;; rest(with.poll_ms)) {
    auto follower = Follower::join(path, with.log, with.keys);
    if (follower || cannot_follow(follower.error())) return follower;
    if (!std::exchange(logged, true)) {
      log_warning("replication", "the log cannot be read", {{"problem", follower.error().detail}});
    }
    if (with.follow({}) == FollowNext::stop) return unexpected(overloaded(follower.error().detail));
  }
}

/// Follows while another machine leads.
class Candidate {
 public:
  Candidate(Follower& follower, const Replication& with) : follower_(follower), with_(with) {}

  /// Returns when this machine may lead, or with a Problem.
  Result<void> wait() {
    for (;;) {
      COFFER_TRY(const bool grew, step());
      const std::int64_t idle_ms = boot_ms() - grown_ms_;
      measure(grew);
      const FollowNext next =
          with_.follow({follower_.tail().at, follower_.leader(), idle_ms, current_ms_});
      if (next == FollowNext::stop) {
        return unexpected(overloaded("Another machine leads this ledger" +
                                     (follower_.leader().empty() ? "" : ": " + follower_.leader()) +
                                     "."));
      }
      is_promoted_ = next == FollowNext::lead;
      if (is_promoted_ && was_reachable_) return {};
      if (idle_ms >= with_.patience_ms || (was_reachable_ && !grew && is_free())) return {};
      if (!grew) rest(with_.poll_ms);
    }
  }
  void note_growth() { grown_ms_ = boot_ms(); }
  /// Whether another machine may hold a lease.
  bool is_promoted() const { return is_promoted_; }

 private:
  /// Whether no machine leads at the end of the log: it is empty, or its leader was this machine.
  /// If another candidate is as fast, the log takes only one of them.
  bool is_free() const { return follower_.tail().at == LogPosition() || follower_.was_leader(); }

  /// While the log cannot be read, it may grow.
  Result<bool> step() {
    auto grew = follower_.step();
    if (!grew && cannot_follow(grew.error())) return grew;
    const bool is_reachable = grew.has_value();
    if (is_reachable != was_reachable_) {
      is_reachable ? log_info("replication", "the log can be read again")
                   : log_warning("replication", "the log cannot be read",
                                 {{"problem", grew.error().detail}});
    }
    was_reachable_ = is_reachable;
    if (!is_reachable || *grew) note_growth();
    return is_reachable && *grew;
  }

  /// A log that always grows has no end at which the file arrives, so its end is remembered until
  /// the file has it.
  void measure(bool grew) {
    constexpr std::int64_t kLookEveryMs = 1'000;
    const std::int64_t now = boot_ms();
    if (was_reachable_ && !grew) {
      current_ms_ = looked_ms_ = now;
      goal_ = 0;
    } else if (goal_ != 0 && follower_.tail().at.seq >= goal_) {
      current_ms_ = looked_ms_;
      goal_ = 0;
    }
    if (goal_ != 0 || now - looked_ms_ < kLookEveryMs) return;
    const auto tail = with_.log.tail();
    if (tail) goal_ = tail->at.seq;
    looked_ms_ = now;
  }

  Follower& follower_;
  const Replication& with_;
  std::int64_t current_ms_ = 0;  // when the file had everything that the log had; 0: not yet
  std::int64_t goal_ = 0;        // the end of the log at `looked_ms_`; 0: unknown
  std::int64_t looked_ms_ = 0;
  std::int64_t grown_ms_ = boot_ms();
  bool was_reachable_ = true;
  bool is_promoted_ = false;
};

}  // namespace

Result<std::unique_ptr<Leader>> lead(const std::string& path, const Replication& with,
                                     const std::function<Result<void>()>& may_lead) {
  const bool is_new = !holds_tables(path);
  COFFER_TRY(const auto follower, join(path, with));
  Candidate candidate(*follower, with);
  for (;;) {
    COFFER_TRY_VOID(candidate.wait());
    COFFER_TRY_VOID(may_lead());
    EntryChain chain(with.keys, follower->tail());
    const LogEntry entry = chain.append(EntryKind::takeover,
                                        takeover_content(is_new, with.leader.address), with.random);
    const std::int64_t sent_ms = boot_ms();
    const Appended out = with.log.append({&entry, 1});
    if (out.result == AppendResult::stored) {
      log_info("replication", "this machine leads",
               {{"epoch", entry.at.epoch}, {"entry", entry.at.seq}});
      LeaderOptions options = with.leader;
      options.marked = path;
      auto leader = std::make_unique<Leader>(with.log, with.keys, with.random, chain.tail(),
                                             sent_ms, std::move(options));
      if (candidate.is_promoted()) rest(with.leader.lease_ms);
      return leader;
    }
    if (out.result == AppendResult::fenced) COFFER_TRY_VOID(follower->check_end());
    // If it was stored after all, the next candidate follows it.
    log_info("replication", "another machine was faster, or the log did not respond",
             {{"reason", out.why}});
    candidate.note_growth();
  }
}

std::unique_ptr<Leader> lead_alone(const std::string& path, const Replication& with) {
  const auto position = read_closed_position(path);
  const LogPosition committed = position ? position->at : LogPosition();
  // Without the mark of the last commit, its digest is unknown.
  const LogTail tail = LoggedMark(path).tail_at(committed).value_or(LogTail{committed, {}});
  EntryChain chain(with.keys, tail);
  const LogEntry entry =
      chain.append(EntryKind::takeover, takeover_content(false, {}), with.random);
  (void)with.log.append({&entry, 1});
  LeaderOptions options = with.leader;
  options.marked = path;
  options.committed = committed;
  return std::make_unique<Leader>(with.log, with.keys, with.random, chain.tail(), 0,
                                  std::move(options));
}

bool needs_log(Connection& db) {
  try {
    const auto position = read_position(db);
    return position && !position->alone;
  } catch (const SqlError&) {  // a new file, or one of another program
    return false;
  }
}

}  // namespace coffer::store
