#include "store/replication/folder_log.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/files/durable_file.h"
#include "base/files/folders.h"
#include "base/files/readable_file.h"
#include "base/numbers.h"
#include "base/platform/durable.h"
#include "base/text/whole_number.h"

namespace coffer::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntryBytesMax = std::size_t{2} << 20;
constexpr std::size_t kNameDigits = 19;

}  // namespace

Result<std::unique_ptr<ReplicaLog>> FolderLog::open(const std::string& folder, Random& random) {
  COFFER_TRY_VOID(make_private_folder(folder));
  return std::unique_ptr<ReplicaLog>(new FolderLog(folder, random));
}

std::string FolderLog::path_of(std::int64_t seq) const {
  return folder_ + '/' + zero_padded(seq, kNameDigits);
}

Result<LogEntry> FolderLog::read_entry(std::int64_t seq) const {
  COFFER_TRY(const std::string content, read_small_file(path_of(seq), kEntryBytesMax));
  auto entry = entry_from(content);
  if (entry && entry->at.seq == seq) return *std::move(entry);
  return unexpected(Slug::validation_failed, path_of(seq) + " is not an entry of a log.");
}

/// The places that have a file, in order.
Result<std::vector<std::int64_t>> FolderLog::names() const {
  std::vector<std::int64_t> out;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.size() != kNameDigits) continue;
    if (const auto seq = whole_number<std::int64_t>(name)) out.push_back(*seq);
  }
  if (error) {
    errno = error.value();
    return unexpected(system_problem("cannot read " + folder_));
  }
  std::ranges::sort(out);
  return out;
}

/// The places of the log. A truncation that a crash interrupts leaves a gap, after which the log
/// begins.
Result<std::vector<std::int64_t>> FolderLog::places() const {
  COFFER_TRY(auto all, names());
  auto first = all.end();
  while (first != all.begin() && (first == all.end() || *std::prev(first) == *first - 1)) --first;
  all.erase(all.begin(), first);
  return all;
}

/// Whether the fence lets the entry pass.
Result<bool> FolderLog::may_append(const LogEntry& entry) const {
  if (entry.kind == EntryKind::takeover) {
    COFFER_TRY(const auto all, names());
    // A place before the last one may be free after a crash during a truncation.
    if (!all.empty() && all.back() > entry.at.seq) return false;
    if (all.empty()) return true;
  }
  const auto predecessor = read_entry(entry.at.seq - 1);
  if (predecessor) return may_follow(predecessor->at, entry);
  if (predecessor.error().slug == Slug::not_found) return false;
  return unexpected(predecessor.error());
}

/// Whether the place of an entry that is in the log now was never taken before. A truncation
/// removes the lowest place first, so it was not if the place before it is still taken. By the time
/// of this check, another machine may have continued after the entry.
Result<bool> FolderLog::still_follows(const LogEntry& entry) const {
  const auto predecessor = read_entry(entry.at.seq - 1);
  if (predecessor) return true;
  if (predecessor.error().slug != Slug::not_found) return unexpected(predecessor.error());
  if (entry.kind != EntryKind::takeover) return false;
  // The first entry. Another machine may have begun the log at another place.
  COFFER_TRY(const auto all, names());
  return !all.empty() && all.front() == entry.at.seq &&
         all.back() - all.front() + 1 == static_cast<std::int64_t>(all.size());
}

Appended FolderLog::append_one(const LogEntry& entry, const std::function<void()>& meanwhile) {
  const auto unknown = [](const Problem& problem) {
    return Appended{AppendResult::unknown, problem.detail};
  };
  const Appended fenced{AppendResult::fenced, "entry " + std::to_string(entry.at.seq) +
                                                  " of epoch " + std::to_string(entry.at.epoch) +
                                                  " does not continue the log"};
  const std::string path = path_of(entry.at.seq);
  auto file = PartialFile::create(path + '.' + to_hex(random_.bytes(8)));
  Result<void> done = file ? file->append(to_bytes(entry)) : unexpected(file.error());
  meanwhile();
  if (done) done = file->flush();
  if (!done) return unknown(done.error());
  const auto before = may_append(entry);
  if (!before) return unknown(before.error());
  if (!*before) return fenced;
  if (!rename_exclusively(file->path(), path)) {
    return errno == EEXIST ? fenced : unknown(system_problem("cannot name " + path));
  }
  const auto after = still_follows(entry);
  if (after && !*after) {
    ::unlink(path.c_str());
    return fenced;
  }
  if (!after) return unknown(after.error());
  if (!sync_directory(folder_)) return unknown(system_problem("cannot synchronise " + folder_));
  return {};
}

Appended FolderLog::append(std::span<const LogEntry> entries,
                           const std::function<void()>& meanwhile) {
  bool called = false;
  const auto once = [&] {
    if (!std::exchange(called, true)) meanwhile();
  };
  for (const LogEntry& entry : entries) {
    if (Appended out = append_one(entry, once); out.result != AppendResult::stored) return out;
  }
  return {};
}

/// Without listing the folder, unless the log was truncated.
Result<std::vector<LogEntry>> FolderLog::read_from(std::int64_t seq, std::size_t bytes_max) {
  std::vector<LogEntry> out;
  for (std::size_t bytes = 0; bytes < bytes_max; ++seq) {
    auto entry = read_entry(seq);
    if (!entry && entry.error().slug == Slug::not_found) break;
    if (!entry) return unexpected(std::move(entry).error());
    bytes += entry->payload.size();
    out.push_back(*std::move(entry));
  }
  if (!out.empty() || read_entry(seq - 1)) return out;
  COFFER_TRY(const auto all, places());
  if (all.empty() || seq > all.back()) return out;
  return unexpected(Slug::not_found, "The log begins with entry " + std::to_string(all.front()) +
                                         "; entry " + std::to_string(seq) + " was truncated.");
}

Result<LogTail> FolderLog::tail() {
  COFFER_TRY(const auto all, places());
  if (all.empty()) return LogTail{};
  COFFER_TRY(const LogEntry last, read_entry(all.back()));
  return LogTail{last.at, last.digest};
}

Result<void> FolderLog::truncate(std::int64_t seq) {
  COFFER_TRY(const auto all, places());
  const std::int64_t end = all.empty() ? seq : std::min(seq, all.back());
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error), last; !error && at != last; at.increment(error)) {
    // With the unnamed files that killed processes have left.
    const auto place =
        whole_number<std::int64_t>(at->path().filename().string().substr(0, kNameDigits));
    if (place && *place < end) out.push_back(at->path());
  }
  std::ranges::sort(out);
  for (const fs::path& path : out) {
    if (!error) fs::remove(path, error);
  }
  if (!error && sync_directory(folder_)) return {};
  if (error) errno = error.value();
  return unexpected(system_problem("cannot truncate the log in " + folder_));
}

}  // namespace coffer::store
