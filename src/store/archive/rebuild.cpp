#include "store/archive/rebuild.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/files/side_files.h"
#include "store/archive/segments.h"
#include "store/archive/snapshots.h"
#include "store/file/copy_file.h"
#include "store/replication/commit_pages.h"
#include "store/replication/follower_file.h"

namespace coffer::store {
namespace {

Problem no_snapshot(const RebuildRequest& request, const std::vector<SnapshotName>& all) {
  if (all.empty()) return Problem(Slug::not_found, "The archive has no snapshot yet.");
  const Timestamp before =
      std::min(request.at.value_or(all.back().at), request.snapshot_before.value_or(all.back().at));
  return Problem(Slug::not_found, "The archive has nothing before " + before.to_string() +
                                      ". Its oldest moment is " + all.front().at.to_string() + ".");
}

bool may_begin(const RebuildRequest& request, const SnapshotName& snapshot) {
  return (!request.at || snapshot.at <= *request.at) &&
         (!request.snapshot_before || snapshot.at < *request.snapshot_before);
}

/// What is damaged or missing is in this snapshot.
Problem with_remedy(Problem problem, const SnapshotName& snapshot, bool has_earlier) {
  if (has_earlier && (problem.slug == Slug::validation_failed || problem.slug == Slug::not_found)) {
    problem.detail += " The snapshot before it may be intact: add --snapshot-before " +
                      snapshot.at.to_string() + ".";
  }
  return problem;
}

/// Removes the files that SQLite leaves beside the rebuilt one.
struct SideFiles {
  const std::string& path;
  ~SideFiles() {
    for (const char* ending : kSqliteEndings) ::unlink((path + ending).c_str());
  }
};

/// Applies the log after a snapshot.
class Replay {
 public:
  Replay(Archive& archive, const Snapshot& from, const std::string& path,
         std::optional<Timestamp> at)
      : archive_(archive),
        from_(from.position),
        at_(at),
        file_(path),
        chain_(archive.keys(), {{from_.at.seq - 1, from_.at.epoch}, from_.before}) {
    out.snapshot_at = from.name.at;
    out.last_commit = out.until = from.complete_to;
  }

  /// Returns false when the moment is reached, or before a gap.
  Result<bool> take(std::int64_t number) {
    const auto missing = next_ != 0 && number != next_ ? segment_name(next_) : std::string();
    if (!missing.empty()) {
      return unexpected(not_intact(
          Slug::not_found,
          "The object " + missing + " is missing in the archive, and later ones exist."));
    }
    next_ = number + 1;
    COFFER_TRY(const Segment segment, get_segment(archive_, number));
    // A gap. A log that has begun again may also repeat the numbers of entries.
    if (segment.base == number) {
      gap_end = segment.until;
      return false;
    }
    base = segment.base;
    for (const LogEntry& entry : segment.entries) {
      COFFER_TRY(const bool goes_on, apply(entry, number));
      if (!goes_on) return false;
    }
    out.until = std::max({out.until, out.last_commit, segment.until});
    return true;
  }

  Rebuilt out;
  std::optional<Timestamp> gap_end;
  std::int64_t base = 0;  // of the last segment that was taken; 0 without one

 private:
  Result<bool> apply(const LogEntry& entry, std::int64_t number) {
    if (entry.at.seq < from_.at.seq) return true;
    auto content = chain_.read(entry);
    if (!content) {
      Problem problem = std::move(content).error();
      return unexpected(not_intact(problem.slug, "The object " + segment_name(number) +
                                                     " does not continue the archive. " +
                                                     problem.detail));
    }
    const auto head =
        entry.kind == EntryKind::data ? read_part_head(*content) : std::optional<PartHead>();
    if (is_in_snapshot_) {
      is_in_snapshot_ = head && !head->is_last;
      if (head) out.last_commit = head->at;
      return true;
    }
    if (head && at_ && head->at > *at_) {
      out.until = *at_;
      return false;
    }
    COFFER_TRY_VOID(file_.apply(entry, *std::move(content)));
    if (head && head->is_last) {
      out.last_commit = head->at;
      ++out.commits;
    }
    return true;
  }

  Archive& archive_;
  const FilePosition from_;
  const std::optional<Timestamp> at_;
  FollowerFile file_;
  EntryChain chain_;
  std::int64_t next_ = 0;
  bool is_in_snapshot_ = true;  // the entries of its last commit
};

/// Why the moment cannot be restored, if it lies after the entries that were read.
Result<void> check_gap(const Replay& replay, const RebuildRequest& request,
                       const SnapshotName* next) {
  if (!replay.gap_end || !request.at || *request.at <= replay.out.until) return {};
  const Timestamp end = next != nullptr ? next->at : *replay.gap_end;
  return unexpected(Slug::not_found, "The archive has a gap from " + replay.out.until.to_string() +
                                         " to " + end.to_string() +
                                         ". Choose a moment before or after it.");
}

/// Finds segments before `base` that the later ones do not follow from. What cannot be read there
/// is not needed for this file.
void find_other(Archive& archive, std::int64_t base, Rebuilt& out) {
  while (base > 1) {
    const auto last = get_segment(archive, base - 1);
    const auto next = get_segment(archive, base);
    if (!last || !next) return;
    if (next->before.at.seq <= last->tail().at.seq) {
      out.other_run = run_name(last->run);
      out.other_until = last->until;
      return;
    }
    base = last->base;
  }
}

}  // namespace

Result<Rebuilt> rebuild(Archive& archive, const RebuildRequest& request, PartialFile& to,
                        const ProgressFunction& progress) {
  COFFER_TRY_VOID(archive.check_key());
  COFFER_TRY(const auto all, list_snapshots(archive));
  auto next = all.begin();
  while (next != all.end() && may_begin(request, *next)) ++next;
  if (next == all.begin()) return unexpected(no_snapshot(request, all));
  const SnapshotName& first = *std::prev(next);
  const bool has_earlier = std::prev(next) != all.begin();
  auto found = get_snapshot(archive, first);
  if (!found) return unexpected(with_remedy(std::move(found).error(), first, has_earlier));
  const Snapshot& snapshot = *found;
  if (request.check_size) COFFER_TRY_VOID(request.check_size(snapshot.bytes));
  const SideFiles left{to.path()};
  drop_left_logs(to.path());
  if (auto fetched = fetch_snapshot(archive, snapshot, to, progress); !fetched) {
    return unexpected(with_remedy(std::move(fetched).error(), first, has_earlier));
  }
  Rebuilt out;
  {
    Replay replay(archive, snapshot, to.path(), request.at);
    std::int64_t done = 0;
    COFFER_TRY_VOID(list_segments(archive, snapshot.name.segment, [&](std::int64_t number) {
      progress({"replaying", ++done, 0, Progress::Unit::steps});
      return replay.take(number);
    }));
    COFFER_TRY_VOID(check_gap(replay, request, next == all.end() ? nullptr : &*next));
    out = replay.out;
    out.ends_early = replay.gap_end && (next == all.end() || !request.at);
    const auto before = get_segment(archive, snapshot.name.segment - 1);
    find_other(archive, replay.base == 0 && before ? before->base : replay.base, out);
  }
  leave_wal(to.path());
  return out;
}

}  // namespace coffer::store
