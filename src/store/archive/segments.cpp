#include "store/archive/segments.h"

#include <algorithm>
#include <utility>

#include "base/fault.h"
#include "base/numbers.h"
#include "base/telemetry/log.h"
#include "base/text/whole_number.h"
#include "store/archive/snapshots.h"

namespace coffer::store {
namespace {

constexpr std::string_view kLogPrefix = "log/";
constexpr std::size_t kSegmentBytes = std::size_t{4} << 20;
constexpr std::size_t kRunBytes = 16;
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kSegmentHeadBytes = kRunBytes + 8 + 16 + kDigestBytes + 8;
/// Heartbeats of five minutes.
constexpr std::size_t kIdleEntries = 600;

std::string to_bytes(const Segment& segment) {
  std::string out = segment.run + eight_bytes(segment.base) + to_bytes(segment.before.at) +
                    std::string(as_text(segment.before.digest)) + eight_bytes(segment.until.ms);
  for (const LogEntry& entry : segment.entries) {
    const std::string bytes = to_bytes(entry);
    out += to_big_endian(bytes.size(), 4) + bytes;
  }
  return out;
}

/// The content is authentic, so its form is what a writer has made.
std::optional<Segment> segment_from(std::string_view bytes) {
  if (bytes.size() < kSegmentHeadBytes) return {};
  Segment out;
  out.run = bytes.substr(0, kRunBytes);
  out.base = number_at(bytes, kRunBytes);
  out.before = {position_from(bytes.substr(kRunBytes + 8)),
                *sha256_from(bytes.substr(kRunBytes + 24, kDigestBytes))};
  out.until.ms = number_at(bytes, kSegmentHeadBytes - 8);
  bytes.remove_prefix(kSegmentHeadBytes);
  while (bytes.size() > 4) {
    const std::size_t size = from_big_endian(bytes.substr(0, 4));
    auto entry = entry_from(bytes.substr(4, size));
    if (!entry || size > bytes.size() - 4) return {};
    out.entries.push_back(*std::move(entry));
    bytes.remove_prefix(4 + size);
  }
  return out;
}

bool has_data(const std::vector<LogEntry>& entries) {
  return std::ranges::any_of(entries,
                             [](const LogEntry& entry) { return entry.kind == EntryKind::data; });
}

}  // namespace

std::string run_name(const std::string& run) { return to_hex(run).substr(0, 8); }

/// A thousand in a folder.
std::string segment_name(std::int64_t number) {
  return std::string(kLogPrefix) + zero_padded(number / 1'000, 9) + '/' +
         zero_padded(number % 1'000, 3);
}

Result<Segment> get_segment(Archive& archive, std::int64_t number) {
  COFFER_TRY(const std::string bytes, archive.get(segment_name(number)));
  auto segment = segment_from(bytes);
  if (segment) return *std::move(segment);
  return unexpected(not_intact(Slug::validation_failed, "The object " + segment_name(number) +
                                                            " of the archive is not a segment."));
}

Result<void> list_segments(Archive& archive, std::int64_t from,
                           const std::function<Result<bool>(std::int64_t number)>& take) {
  const std::string after = from > 0 ? segment_name(from - 1) : std::string();
  return archive.list(std::string(kLogPrefix), after, [&](std::string name) -> Result<bool> {
    std::erase_if(name, [](char c) { return c < '0' || c > '9'; });
    return take(whole_number<std::int64_t>(name).value_or(0));
  });
}

Result<void> check_segment(Archive& archive, std::int64_t number) {
  bool is_there = false;
  COFFER_TRY_VOID(list_segments(archive, number, [&](std::int64_t first) {
    is_there = first == number;
    return Result<bool>(false);
  }));
  if (is_there) return {};
  return unexpected(Slug::not_found,
                    "The archive has lost the object " + segment_name(number) +
                        ". Mount its disk or put its objects back. If they are lost, "
                        "restart the server: it begins again with a snapshot.");
}

Result<LastSegment> last_segment(Archive& archive) {
  COFFER_TRY(const auto snapshots, list_snapshots(archive));
  LastSegment out;
  if (!snapshots.empty()) {
    out.until = snapshots.back().at;
    out.snapshot = snapshots.back().segment;
  }
  COFFER_TRY_VOID(
      list_segments(archive, std::max<std::int64_t>(0, out.snapshot - 1), [&](std::int64_t number) {
        out.number = number;
        return Result<bool>(true);
      }));
  if (out.number > 0) {
    COFFER_TRY(out.segment, get_segment(archive, out.number));
    out.until = std::max(out.until, out.segment.until);
  }
  return out;
}

Result<Timestamp> end_before(Archive& archive, std::int64_t base) {
  if (base <= 1) return Timestamp();
  const auto last = get_segment(archive, base - 1);
  if (last) return last->until;
  return last.error().slug == Slug::not_found ? Result(Timestamp()) : unexpected(last.error());
}

std::string gap_text(Timestamp from) {
  return from.ms > 0 ? "Moments after " + from.to_string() +
                           " can be restored once a new snapshot is complete."
                     : "A moment can be restored once the first snapshot is complete.";
}

SegmentWriter::SegmentWriter(Archive& archive, ReplicaLog& log, Random& random, const Clock& clock)
    : archive_(archive), log_(log), clock_(clock), run_(random.bytes(kRunBytes)) {}

Unexpected SegmentWriter::end(std::string why) {
  ended_ = true;
  end_why_ = std::move(why);
  return unexpected(Slug::conflict, end_why_);
}

/// Whether the log has what comes after `tail`.
Result<bool> SegmentWriter::continues(const LogTail& tail) {
  COFFER_TRY(const LogTail end, log_.tail());
  if (end == tail) return true;
  if (end.at.seq <= tail.at.seq) return false;
  const auto next = log_.read_from(tail.at.seq + 1, 1);
  if (!next && next.error().slug == Slug::not_found) return false;
  if (!next) return unexpected(next.error());
  return !next->empty() &&
         archive_.keys().digest(tail.digest, next->front()) == next->front().digest;
}

void SegmentWriter::note(const Segment& segment) {
  tail_ = segment.tail();
  base_ = segment.base;
  until_ms_ = segment.until.ms;
  bytes_ = archive_.bytes_put();
}

Result<void> SegmentWriter::begin() {
  COFFER_TRY(const LastSegment last, last_segment(archive_));
  // Also after the snapshots of a log that is gone: they do not belong to the next entries.
  const std::int64_t number = std::max(last.number + 1, last.snapshot);
  Segment first{run_, number, {}, clock_.now()};
  bool goes_on = false;
  if (last.number > 0) {
    const LogTail tail = last.segment.tail();
    COFFER_TRY(goes_on, continues(tail));
    if (goes_on) first = {run_, last.segment.base, tail, last.segment.until};
  }
  Timestamp gap_from = last.until;
  if (goes_on) {
    COFFER_TRY(gap_from, end_before(archive_, first.base));
  } else {
    COFFER_TRY(first.before, log_.tail());
  }
  COFFER_TRY_VOID(begin_at(number, std::move(first)));
  gap_from_ms_ = gap_from.ms;
  began_anew_ = !goes_on;
  if (goes_on || gap_from.ms == 0) {
    log_info("archive", goes_on ? "the archive continues" : "the archive begins with a snapshot",
             {{"segment", number}, {"run", run_name(run_)}});
  } else {
    log_warning("archive",
                "the log does not continue the archive, which has a gap until the next "
                "snapshot",
                {{"from", gap_from.to_string()}, {"segment", number}, {"run", run_name(run_)}});
  }
  return {};
}

/// The same name twice shows whether the store protects objects.
Result<void> SegmentWriter::begin_at(std::int64_t number, Segment first) {
  const std::string content = to_bytes(first);
  COFFER_TRY(const PutResult stored, archive_.put(segment_name(number), content));
  if (stored == PutResult::exists) {
    return unexpected(overloaded("Another process has just written to the archive."));
  }
  COFFER_TRY(const PutResult again, archive_.put(segment_name(number), content));
  if (again != PutResult::exists) {
    return end(
        "The store of the archive replaces objects, so two servers could destroy each other's "
        "archive. Choose a store that knows If-None-Match.");
  }
  note(first);
  next_ = number + 1;
  return {};
}

Result<void> SegmentWriter::put(const Segment& segment) {
  const std::string name = segment_name(next_);
  COFFER_TRY_VOID(check_segment(archive_, next_ - 1));
  COFFER_FAULT("archive.before");
  COFFER_TRY(const PutResult result, archive_.put(name, to_bytes(segment)));
  COFFER_FAULT("archive.after");
  if (result == PutResult::exists) {
    // It may be ours: the response to an earlier call was lost.
    COFFER_TRY(const Segment there, get_segment(archive_, next_));
    if (there.run != run_) {
      return end("Another server writes to the archive: it has stored " + name +
                 ". Only one may use it. Stop the other one, and start this one again.");
    }
    note(there);
  } else {
    note(segment);
  }
  ++next_;
  return {};
}

Result<void> SegmentWriter::step(bool all) {
  if (ended_) return unexpected(Slug::conflict, end_why_);
  if (next_ == 0) COFFER_TRY_VOID(begin());
  for (;;) {
    const Timestamp now = clock_.now();
    COFFER_TRY(const LogTail end, log_.tail());
    auto entries = log_.read_from(tail_.at.seq + 1, kSegmentBytes);
    if (!entries && entries.error().slug == Slug::not_found) {
      log_warning("archive",
                  "entries are missing, so the archive has a gap until the next snapshot",
                  {{"from", until().to_string()}, {"reason", entries.error().detail}});
      const Timestamp gap_from = until();
      COFFER_TRY_VOID(put({run_, next_, end, now}));
      gap_from_ms_ = gap_from.ms;
      continue;
    }
    if (!entries) return unexpected(std::move(entries).error());
    // What the log had at this time.
    const bool is_end = entries->empty() || entries->back().at.seq >= end.at.seq;
    if (entries->empty() ||
        (is_end && !all && !has_data(*entries) && entries->size() < kIdleEntries)) {
      until_ms_ = now.ms;
      return {};
    }
    const LogPosition last = entries->back().at;
    COFFER_TRY_VOID(put({run_, base_, tail_, is_end ? now : until(), *std::move(entries)}));
    if (is_end && tail_.at == last) return {};
  }
}

}  // namespace coffer::store
