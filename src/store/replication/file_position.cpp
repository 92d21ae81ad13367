#include "store/replication/file_position.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "base/files/descriptor.h"
#include "base/files/folders.h"
#include "base/files/readable_file.h"
#include "base/files/side_files.h"
#include "base/numbers.h"
#include "base/platform/durable.h"
#include "store/file/foreign_file.h"
#include "store/replication/log_frames.h"

namespace coffer::store {
namespace {

constexpr const char* kRead = "SELECT value FROM meta WHERE name = ?";
constexpr const char* kWrite =
    "INSERT INTO meta (name, value) VALUES (?, ?)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value";
constexpr const char* kForget = "DELETE FROM meta WHERE name IN ('log_position', 'log_end')";
constexpr std::string_view kPosition = "log_position";  // place in the log, digest before it
constexpr std::string_view kEnd = "log_end";            // entry, time in milliseconds
constexpr std::size_t kPositionBytes = 8 + 8 + 32;
#if defined(__linux__)
constexpr const char* kStartFile = "/proc/sys/kernel/random/boot_id";  // another at each start
#else
constexpr const char* kStartFile = "";
#endif
constexpr ssize_t kNotedBytes = kPositionBytes + 16;  // of a mark, before its claim
constexpr char kAlone = 'a';  // after the position of a file whose log no other machine has
constexpr const char* kLeaveAlone =
    "DELETE FROM meta WHERE name = 'log_position' AND length(value) > ?";

/// Empty without this row.
std::string read_row(Connection& db, std::string_view name) {
  Query query(db, kRead, name);
  return query.step() ? query.blob(0) : std::string();
}

/// Follows the checksums of a log, which are valid up to its end.
class ClosedLog {
 public:
  /// Reads the head. False if this is not a log.
  bool begin(std::string_view head) {
    if (head.size() < kLogHeadBytes) return false;
    const std::uint32_t magic = log_number_at(head, 0);
    constexpr std::uint32_t kMagic = 0x377f0682;  // +1: checksums of big-endian words
    is_big_endian_ = magic == kMagic + 1;
    page_size_ = log_number_at(head, 8);
    salt_ = head.substr(16, 8);
    if (magic != kMagic && !is_big_endian_) return false;
    add(head.substr(0, 24));
    return sums_[0] == log_number_at(head, 24) && sums_[1] == log_number_at(head, 28);
  }
  std::size_t frame_bytes() const { return kFrameHeadBytes + page_size_; }
  /// False if the frame is not valid, so the log ends before it.
  bool next(std::string_view frame) {
    if (frame.size() < frame_bytes() || frame.substr(8, 8) != salt_) return false;
    add(frame.substr(0, 8));
    add(frame.substr(kFrameHeadBytes, page_size_));
    return sums_[0] == log_number_at(frame, 16) && sums_[1] == log_number_at(frame, 20);
  }

 private:
  void add(std::string_view bytes) {
    const auto word = [&](std::size_t at) {
      const std::uint32_t big = log_number_at(bytes, at);
      return is_big_endian_ ? big : __builtin_bswap32(big);
    };
    for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      sums_[0] += word(at) + sums_[1];
      sums_[1] += word(at + 4) + sums_[0];
    }
  }

  bool is_big_endian_ = false;
  std::size_t page_size_ = 0;
  std::string salt_;
  std::uint32_t sums_[2] = {0, 0};
};

/// Where the last and the last but one commit of a log end; the latter is the end of the head if
/// there is only one. Zero without a commit.
struct CommitEnds {
  std::size_t before = 0;
  std::size_t last = 0;
};

Result<CommitEnds> commit_ends(const std::string& log) {
  ClosedLog reader;
  CommitEnds out;
  std::string held;
  std::size_t read_to = 0;  // of the log, before `held`
  bool begun = false;
  bool ended = false;
  COFFER_TRY(const ReadableFile file, ReadableFile::open(log));
  COFFER_TRY_VOID(file.read([&](std::string_view piece) -> Result<void> {
    if (ended) return {};
    held += piece;
    std::size_t at = 0;
    if (!begun && held.size() >= kLogHeadBytes) {
      ended = !reader.begin(held);
      begun = true;
      at = out.last = kLogHeadBytes;
    }
    const std::string_view all(held);
    for (; begun && !ended && all.size() - at >= reader.frame_bytes(); at += reader.frame_bytes()) {
      const std::string_view frame = all.substr(at, reader.frame_bytes());
      ended = !reader.next(frame);
      if (!ended && log_number_at(frame, kFileSizeAt) != 0) {
        out = {out.last, read_to + at + reader.frame_bytes()};
      }
    }
    held.erase(0, at);
    read_to += at;
    return {};
  }));
  return out;
}

int open_mark(const std::string& path) {
  bool is_created = false;
  const int file = open_or_create(path + kLoggedEnding, is_created);
  if (is_created && sync_file(file)) (void)sync_directory(directory_of(path));
  return file;
}

/// Of an open file, since the machine was started; empty where the system does not tell.
std::string identity_of(int file) {
  constexpr std::size_t kIdBytesMax = 64;
  const auto start = read_small_file(kStartFile, kIdBytesMax);
  struct stat status {};
  if (!start || ::fstat(file, &status) != 0) return {};
  const std::string place = std::to_string(status.st_dev) + ' ' + std::to_string(status.st_ino);
  return std::string(as_text(sha256(*start + place)));
}

}  // namespace

std::optional<FilePosition> read_position(Connection& db) {
  const std::string value = read_row(db, kPosition);
  const bool alone = value.size() == kPositionBytes + 1 && value.back() == kAlone;
  if (value.size() != kPositionBytes && !alone) return {};
  return FilePosition{position_from(value), *sha256_from(value.substr(16, 32)), alone};
}

void write_position(Connection& db, const FilePosition& position) {
  std::string value = to_bytes(position.at) + std::string(as_text(position.before));
  if (position.alone) value += kAlone;
  db.run(kWrite, kPosition, Blob{value});
}

void leave_alone_log(Connection& db) { db.run(kLeaveAlone, kPositionBytes); }

void forget_position(Connection& db, const std::string& path) {
  db.run(kForget);
  (void)::unlink((path + kLoggedEnding).c_str());
}

std::int64_t remember_end(Connection& db, std::int64_t seq, Timestamp now, std::int64_t keep_ms) {
  const std::string before = read_row(db, kEnd);
  if (before.size() == 16 && now.ms - number_at(before, 8) < keep_ms) return 0;
  db.run(kWrite, kEnd, Blob{to_bytes(LogPosition{seq, now.ms})});
  return before.size() == 16 ? number_at(before, 0) : 0;
}

std::optional<FilePosition> read_closed_position(const std::string& path) {
  std::optional<FilePosition> out;
  if (holds_tables(path)) {
    read_foreign_file(path, [&](Connection& db) { out = read_position(db); });
  }
  return out;
}

std::optional<FilePosition> read_shared_position(const std::string& path) {
  auto out = read_closed_position(path);
  if (out && out->alone) out.reset();
  return out;
}

LoggedMark::LoggedMark(const std::string& path)
    : file_(open_mark(path)), identity_(identity_of(file_.get())) {}

void LoggedMark::note(const LogTail& tail, const LogPosition& commit) const {
  const std::string text = to_bytes(tail.at) + std::string(as_text(tail.digest)) + to_bytes(commit);
  // Without the mark, a file is still safe unless the engine loses exactly its last commit.
  (void)!::pwrite(file_.get(), text.data(), text.size(), 0);
}

/// Zeros if nothing was noted.
std::string LoggedMark::read() const {
  std::string text(kNotedBytes, '\0');
  const auto size = ::pread(file_.get(), text.data(), text.size(), 0);
  return size == static_cast<ssize_t>(text.size()) ? text : std::string(text.size(), '\0');
}

bool LoggedMark::covers(const LogPosition& at) const {
  const LogPosition noted = position_from(read());
  return noted.epoch > at.epoch || (noted.epoch == at.epoch && noted.seq >= at.seq);
}

std::optional<LogTail> LoggedMark::tail_at(const LogPosition& commit) const {
  const std::string text = read();
  const std::string_view all(text);
  if (position_from(all.substr(kPositionBytes)) != commit) return {};
  return LogTail{position_from(all), *sha256_from(all.substr(16, 32))};
}

void LoggedMark::claim(std::int64_t epoch) const {
  const std::string text = eight_bytes(epoch) + identity_;
  if (!identity_.empty()) (void)!::pwrite(file_.get(), text.data(), text.size(), kNotedBytes);
}

bool LoggedMark::has_claimed(std::int64_t epoch) const {
  const std::string wanted = eight_bytes(epoch) + identity_;
  std::string text(wanted.size(), '\0');
  return !identity_.empty() && ::pread(file_.get(), text.data(), text.size(), kNotedBytes) > 0 &&
         text == wanted;
}

Result<bool> cut_last_commit(const std::string& path) {
  const std::string log = path + kLogEnding;
  const auto ends = commit_ends(log);
  if (!ends && ends.error().slug == Slug::not_found) return false;
  if (!ends) return unexpected(ends.error());
  if (ends->before == 0) return false;
  const Descriptor file(::open(log.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (file.is_open() && ::ftruncate(file.get(), static_cast<off_t>(ends->before)) == 0 &&
      sync_file(file.get())) {
    return true;
  }
  return unexpected(system_problem("cannot cut the last commit off " + log));
}

}  // namespace coffer::store
