#include "store/replication/follower.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "store/file/foreign_file.h"
#include "store/replication/commit_pages.h"
#include "store/replication/file_position.h"

namespace coffer::store {
namespace {

// Content of a takeover: one of these, and the address of the leader. A heartbeat has the address.
constexpr char kComplete = 'c';
constexpr char kNeedsCopy = 's';
constexpr std::size_t kReadBytes = std::size_t{4} << 20;

std::string named(std::int64_t seq) { return "entry " + std::to_string(seq); }

Problem gone_apart(const std::string& path, const std::string& why) {
  return Problem(Slug::conflict,
                 path + " and the log have gone apart: " + why +
                     ". If the engine was restored to an older state, or a standby of it that "
                     "lagged was promoted, return to the most advanced one. If the file is old, "
                     "replace it by a copy of the leader's.");
}

/// Calls `take` with each entry from the tail of `chain` on and its content, until the log ends or
/// `take` returns false.
Result<void> read_on(ReplicaLog& log, EntryChain& chain,
                     const std::function<Result<bool>(const LogEntry&, std::string)>& take) {
  for (;;) {
    COFFER_TRY(const auto entries, log.read_from(chain.tail().at.seq + 1, kReadBytes));
    if (entries.empty()) return {};
    for (const LogEntry& entry : entries) {
      COFFER_TRY(std::string content, chain.read(entry));
      COFFER_TRY(const bool goes_on, take(entry, std::move(content)));
      if (!goes_on) return {};
    }
  }
}

/// The log no longer has what the file needs.
Problem behind(Problem problem) {
  if (problem.slug == Slug::not_found) {
    problem.detail +=
        " This machine cannot follow. Move its file away, and seed it with a backup of the "
        "leader: coffer replica seed --from BACKUP";
  }
  return problem;
}

/// The chain before the entry of a position.
EntryChain chain_before(const EntryKeys& keys, const FilePosition& position) {
  return {keys, {{position.at.seq - 1, position.at.epoch}, position.before}};
}

enum class Presence { complete, missing };

/// Whether the log contains the last commit of a file. `end` is the chain after it.
Result<Presence> presence(ReplicaLog& log, const EntryKeys& keys, const FilePosition& position,
                          EntryChain& end) {
  COFFER_TRY(const auto first, log.read_from(position.at.seq, 1));
  if (first.empty() || first[0].at.epoch != position.at.epoch) return Presence::missing;
  Presence out = Presence::missing;
  EntryChain chain = chain_before(keys, position);
  COFFER_TRY_VOID(
      read_on(log, chain, [&](const LogEntry& entry, const std::string& content) -> Result<bool> {
        if (entry.kind != EntryKind::data) return false;
        const auto head = read_part_head(content);
        if (!head || !head->is_last) return true;
        out = Presence::complete;
        return false;
      }));
  end = chain;
  return out;
}

/// Cuts a commit off that the log does not contain, if it directly continues the log.
Result<void> cut_unacknowledged(const std::string& path, ReplicaLog& log,
                                const FilePosition& position) {
  COFFER_TRY(const auto before, log.read_from(position.at.seq - 1, 1));
  if (before.empty() || before[0].digest != position.before) {
    return unexpected(gone_apart(path, "the last commit of the file is " + named(position.at.seq) +
                                           " of epoch " + std::to_string(position.at.epoch) +
                                           ", and the log does not have the entry before it"));
  }
  if (LoggedMark(path).covers(position.at)) {
    return unexpected(gone_apart(path, "the log has had " + named(position.at.seq) +
                                           ", the last commit of the file, and has lost it"));
  }
  COFFER_TRY(const bool cut, cut_last_commit(path));
  if (cut) return {};
  return unexpected(gone_apart(path,
                               "the last commit of the file is not in the log, and it was "
                               "already copied from the write-ahead log into the file"));
}

/// The chain at whose end a file without a position joins: no entry may have changed anything.
Result<EntryChain> join_unmarked(const std::string& path, ReplicaLog& log, const EntryKeys& keys) {
  EntryChain chain(keys, {});
  bool has_data = false;
  const auto read = read_on(log, chain, [&](const LogEntry& entry, const std::string&) {
    has_data = entry.kind == EntryKind::data;
    return Result<bool>(!has_data);
  });
  if (!read && read.error().slug != Slug::not_found) return unexpected(read.error());
  if (read && !has_data) return chain;
  return unexpected(gone_apart(path, "the log has the commits of another file"));
}

/// A file that does not exist begins with the first entry.
Result<EntryChain> join_new(ReplicaLog& log, const EntryKeys& keys) {
  COFFER_TRY(const auto first, log.read_from(1, 1));
  EntryChain chain(keys, {});
  if (first.empty()) return chain;
  COFFER_TRY(const std::string content, chain.read(first[0]));
  if (content.starts_with(kNeedsCopy)) {
    return unexpected(Slug::not_found,
                      "The log began with a file that already had content, so a new machine needs "
                      "a copy of the leader's file.");
  }
  return EntryChain(keys, {});
}

Result<EntryChain> join_with(const std::string& path, ReplicaLog& log, const EntryKeys& keys) {
  auto position = read_shared_position(path);
  if (!position) return holds_tables(path) ? join_unmarked(path, log, keys) : join_new(log, keys);
  EntryChain chain = chain_before(keys, *position);
  COFFER_TRY(Presence found, presence(log, keys, *position, chain));
  if (found == Presence::complete) return chain;
  COFFER_TRY_VOID(cut_unacknowledged(path, log, *position));
  position = read_shared_position(path);
  if (!position) return join_unmarked(path, log, keys);
  chain = chain_before(keys, *position);
  COFFER_TRY(found, presence(log, keys, *position, chain));
  if (found == Presence::complete) return chain;
  return unexpected(gone_apart(path, "the last two commits of the file are not in the log"));
}

}  // namespace

Result<std::unique_ptr<Follower>> Follower::join(const std::string& path, ReplicaLog& log,
                                                 const EntryKeys& keys) {
  const auto chain = join_with(path, log, keys);
  if (!chain) return unexpected(behind(chain.error()));
  return std::unique_ptr<Follower>(new Follower(path, log, *chain));
}

Result<bool> Follower::step() {
  const auto entries = log_.read_from(chain_.tail().at.seq + 1, kReadBytes);
  if (!entries) return unexpected(behind(entries.error()));
  for (const LogEntry& entry : *entries) {
    COFFER_TRY(std::string content, chain_.read(entry));
    if (entry.kind == EntryKind::takeover)
      leader_ = content.substr(std::min<std::size_t>(1, content.size()));
    if (entry.kind == EntryKind::heartbeat) leader_ = content;
    COFFER_TRY_VOID(file_.apply(entry, std::move(content)));
  }
  if (!entries->empty()) mark_.note(chain_.tail());
  return !entries->empty();
}

Result<void> check_seed(const std::string& path, ReplicaLog& log, const EntryKeys& keys) {
  const auto position = read_shared_position(path);
  if (!position) {
    return unexpected(Slug::conflict,
                      path + " is not part of the log. Make a backup of the leader.");
  }
  EntryChain end(keys, {});
  const auto found = presence(log, keys, *position, end);
  if (!found && found.error().slug != Slug::not_found) return unexpected(found.error());
  if (found && *found == Presence::complete) return {};
  return unexpected(Slug::conflict, "The log does not continue " + path + ", which ends with " +
                                        named(position->at.seq) +
                                        ". Make a new backup of the leader.");
}

Result<void> Follower::check_end() {
  const LogTail& own = chain_.tail();
  const auto tail = log_.tail();
  if (!tail || tail->at.seq > own.at.seq || *tail == own) return {};
  return unexpected(gone_apart(path_, "the file has " + named(own.at.seq) + " of epoch " +
                                          std::to_string(own.at.epoch) +
                                          ", and the log ends with " + named(tail->at.seq) +
                                          " of epoch " + std::to_string(tail->at.epoch)));
}

std::string takeover_content(bool is_complete, const std::string& address) {
  return (is_complete ? kComplete : kNeedsCopy) + address;
}

}  // namespace coffer::store
