// Files of several machines that share a log, and what tests compare.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files/side_files.h"
#include "store/file/connection.h"
#include "store/replication/folder_log.h"
#include "store/replication/follower.h"
#include "store/replication/joining.h"
#include "unit/store/ledger_fixture.h"

namespace coffer::store::test {

/// All pages of a file, without the bytes of page 1 that SQLite writes into each file alone.
inline std::vector<std::string> pages_of(const std::string& path) {
  Connection db(path, OpenMode::read_only);
  Query query(db, "SELECT data FROM sqlite_dbpage");
  std::vector<std::string> out;
  while (query.step()) out.push_back(query.blob(0));
  if (!out.empty()) {
    out[0].replace(24, 4, 4, '\0');
    out[0].replace(92, 8, 8, '\0');
  }
  return out;
}

/// The files of a database as a killed process leaves them.
inline void copy_files(const std::string& from, const std::string& to) {
  for (const char* ending : {"", kLogEnding}) {
    std::filesystem::remove(to + ending);
    if (std::filesystem::exists(from + ending)) {
      std::filesystem::copy_file(from + ending, to + ending);
    }
  }
  std::filesystem::remove(to + kLogIndexEnding);
}

/// A log on whose way entries can get lost, with the folder of another machine.
class UncertainLog final : public ReplicaLog {
 public:
  explicit UncertainLog(const std::string& folder)
      : log_(FolderLog::open(folder, random_).value()) {}

  bool is_reachable = true;
  enum class Next { works, lost_on_the_way, lost_on_the_way_back, only_the_first };
  Next next = Next::works;
  bool is_synchronised = true;  // false: the disk of this machine loses what is written now
  std::size_t entries_in_last = 0;

  Appended append(std::span<const LogEntry> entries,
                  const std::function<void()>& meanwhile) override {
    entries_in_last = entries.size();
    const auto here = is_synchronised ? meanwhile : std::function<void()>([] {});
    const Appended unknown{AppendResult::unknown, "the connection is lost"};
    switch (next) {
      case Next::works:
        return log_->append(entries, here);
      case Next::lost_on_the_way:
        here();
        return unknown;
      case Next::lost_on_the_way_back:
        REQUIRE(log_->append(entries, here).result == AppendResult::stored);
        return unknown;
      case Next::only_the_first:
        REQUIRE(log_->append(entries.first(1), here).result == AppendResult::stored);
        return unknown;
    }
    return unknown;
  }
  Result<std::vector<LogEntry>> read_from(std::int64_t seq, std::size_t bytes_max) override {
    if (!is_reachable) return unexpected(Slug::unexpected_error, "no connection");
    return log_->read_from(seq, bytes_max);
  }
  Result<LogTail> tail() override { return log_->tail(); }
  Result<void> truncate(std::int64_t seq) override { return log_->truncate(seq); }

 private:
  OsRandom random_;
  std::unique_ptr<ReplicaLog> log_;
};

constexpr std::int64_t kNoEnd = std::int64_t{1} << 40;  // a lease that outlasts every test

inline const EntryKeys& shared_keys() {
  static const EntryKeys keys(Secret(std::string(32, 'k')));
  return keys;
}

/// Appends a takeover after the end of the log.
inline LogTail take_over(ReplicaLog& log, Random& random) {
  EntryChain chain(shared_keys(), log.tail().value());
  const LogEntry entry =
      chain.append(EntryKind::takeover, takeover_content(true, "other:1"), random);
  REQUIRE(log.append({&entry, 1}).result == AppendResult::stored);
  return chain.tail();
}

/// What a machine with a log needs to open its database.
struct LogOfMachine {
  explicit LogOfMachine(const std::string& folder) : log(folder) {}

  DatabaseOptions options() const {
    DatabaseOptions out;
    out.replication = &replication;
    return out;
  }

  UncertainLog log;
  OsRandom random;
  std::vector<Appended> ends;  // why the process would have ended
  std::function<void()> on_end = [] {};
  Replication replication{log,
                          shared_keys(),
                          random,
                          {.address = "here:1",
                           .end =
                               [this](const Appended& why) {
                                 ends.push_back(why);
                                 on_end();
                               },
                           .base_bytes = std::size_t{1} << 20,
                           .lease_ms = kNoEnd,
                           .heartbeat_ms = 0},
                          0,  // no other machine leads
                          0};
};

}  // namespace coffer::store::test
