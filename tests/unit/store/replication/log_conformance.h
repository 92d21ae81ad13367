// What every driver of the shared log must do: cases on one log that two machines have open.
#pragma once

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "store/replication/replica_log.h"

namespace coffer::store::test {

/// One machine: its view of the chain, and its connection to the log.
struct LogMachine {
  explicit LogMachine(ReplicaLog& to) : log(to) {}

  AppendResult append(EntryKind kind, const std::string& plain = "x") {
    return append_all({kind}, plain);
  }
  AppendResult append_all(const std::vector<EntryKind>& kinds, const std::string& plain = "x") {
    const LogTail before = chain.tail();
    std::vector<LogEntry> entries;
    for (const EntryKind kind : kinds) entries.push_back(chain.append(kind, plain, random));
    int calls = 0;
    const Appended out = log.append(entries, [&] { ++calls; });
    CHECK(calls == 1);
    CHECK(out.why.empty() == (out.result == AppendResult::stored));
    if (out.result != AppendResult::stored) chain = EntryChain(keys, before);
    return out.result;
  }
  /// Reads and verifies what it has not seen. Returns the contents.
  std::vector<std::string> follow(std::size_t bytes_max = 1 << 20) {
    const auto found = log.read_from(chain.tail().at.seq + 1, bytes_max);
    REQUIRE(found);
    std::vector<std::string> out;
    for (const LogEntry& entry : *found) {
      const auto plain = chain.read(entry);
      REQUIRE(plain);
      out.push_back(*plain);
    }
    return out;
  }
  std::int64_t end() const {
    const auto tail = log.tail();
    REQUIRE(tail);
    return tail->at.seq;
  }

  ReplicaLog& log;
  EntryKeys keys{Secret(std::string(32, 'k'))};
  OsRandom random;
  EntryChain chain{keys, {}};
};

/// A read goes on until its entries reach the limit, unless it ends earlier, and only the end of
/// the log has none.
inline void check_reads(LogMachine& a, LogMachine& b, std::size_t count) {
  for (std::size_t appended = 0; appended < count;) {
    std::vector<EntryKind> kinds(std::min<std::size_t>(count - appended, 1'000), EntryKind::data);
    if (appended == 0) kinds[0] = EntryKind::takeover;
    REQUIRE(a.append_all(kinds) == AppendResult::stored);
    appended += kinds.size();
  }
  constexpr std::size_t kLimit = 1 << 20;
  std::size_t read = 0;
  for (;;) {
    const auto found = b.log.read_from(static_cast<std::int64_t>(read) + 1, kLimit);
    REQUIRE(found);
    std::size_t bytes = 0;
    for (const LogEntry& entry : *found) {
      CHECK(bytes < kLimit);
      bytes += entry.payload.size();
      CHECK(entry.at.seq == static_cast<std::int64_t>(++read));
    }
    if (found->empty()) break;
  }
  CHECK(read == count);
  CHECK(b.end() == static_cast<std::int64_t>(count));
}

struct LogCase {
  const char* name;
  void (*run)(LogMachine& a, LogMachine& b);
};

inline constexpr std::array kLogCases{
    LogCase{"an empty log",
            [](LogMachine& a, LogMachine&) {
              CHECK(a.log.tail().value() == LogTail{});
              CHECK(a.follow().empty());
              CHECK(a.log.truncate(5));
              CHECK(a.append(EntryKind::data) == AppendResult::fenced);
              CHECK(a.append(EntryKind::heartbeat) == AppendResult::fenced);
              CHECK(a.end() == 0);
            }},
    LogCase{"a leader and a follower",
            [](LogMachine& a, LogMachine& b) {
              CHECK(a.append(EntryKind::takeover, "address") == AppendResult::stored);
              const std::string binary("\0\n'\\\xff", 5);
              CHECK(a.append(EntryKind::data, binary) == AppendResult::stored);
              CHECK(a.append(EntryKind::heartbeat, "") == AppendResult::stored);
              CHECK(b.follow() == std::vector<std::string>{"address", binary, ""});
              CHECK(b.chain.tail() == a.chain.tail());
              CHECK(b.log.tail().value() == a.chain.tail());
              CHECK(b.follow().empty());
              CHECK(a.append(EntryKind::data, "next") == AppendResult::stored);
              CHECK(b.follow() == std::vector<std::string>{"next"});
            }},
    LogCase{"entries of nearly 1 MB, several in one call",
            [](LogMachine& a, LogMachine& b) {
              CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
              const std::string large(999'900, 'l');
              CHECK(a.append_all({EntryKind::data, EntryKind::data, EntryKind::data}, large) ==
                    AppendResult::stored);
              CHECK(b.follow(1).size() == 1);
              CHECK(b.follow(1'500'000) == std::vector<std::string>{large, large});
              CHECK(b.follow() == std::vector<std::string>{large});
              CHECK(b.follow().empty());
            }},
    LogCase{"a read ends with the entry that reaches the limit; the log ends with none",
            [](LogMachine& a, LogMachine& b) {
              check_reads(a, b, 20);
              const std::size_t size = b.log.read_from(1, 1).value()[0].payload.size();
              CHECK(b.log.read_from(1, 2 * size - 1).value().size() == 2);
              CHECK(b.log.read_from(1, 2 * size).value().size() == 2);
              CHECK(b.log.read_from(1, 2 * size + 1).value().size() == 3);
            }},
    LogCase{"a takeover fences the leader before it",
            [](LogMachine& a, LogMachine& b) {
              CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
              CHECK(a.append(EntryKind::data) == AppendResult::stored);
              b.follow();
              CHECK(b.append(EntryKind::takeover) == AppendResult::stored);
              for (const EntryKind kind : {EntryKind::data, EntryKind::heartbeat}) {
                CHECK(a.append(kind) == AppendResult::fenced);
              }
              CHECK(b.append(EntryKind::data) == AppendResult::stored);
              CHECK(a.append(EntryKind::data) == AppendResult::fenced);
              CHECK(a.append(EntryKind::takeover) == AppendResult::fenced);
              CHECK(a.follow().size() == 2);
              CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
              CHECK(b.append(EntryKind::data) == AppendResult::fenced);
              CHECK(a.end() == 5);
            }},
    LogCase{"of two candidates, one wins",
            [](LogMachine& a, LogMachine& b) {
              CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
              CHECK(b.append(EntryKind::takeover) == AppendResult::fenced);
              b.follow();
              LogMachine c(b.log);
              c.follow();
              CHECK(c.append(EntryKind::takeover) == AppendResult::stored);
              CHECK(b.append(EntryKind::takeover) == AppendResult::fenced);
            }},
    LogCase{"a leader that missed a takeover does not continue at a place that is free again",
            [](LogMachine& a, LogMachine& b) {
              CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
              b.follow();
              CHECK(b.append(EntryKind::takeover) == AppendResult::stored);
              for (int i = 0; i < 3; ++i) {
                CHECK(b.append(EntryKind::data) == AppendResult::stored);
              }
              CHECK(b.log.truncate(4));
              CHECK(a.append(EntryKind::data) == AppendResult::fenced);
              CHECK(a.append(EntryKind::takeover) == AppendResult::fenced);
              CHECK(b.append(EntryKind::data) == AppendResult::stored);
              CHECK(b.end() == 6);
            }},
    LogCase{"an entry of another epoch does not follow",
            [](LogMachine& a, LogMachine& b) {
              CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
              b.follow();
              CHECK(b.append(EntryKind::takeover) == AppendResult::stored);
              // Continues at the right place in the wrong epoch, as a program with a bug would.
              a.chain = EntryChain(a.keys, {{2, 1}, b.chain.tail().digest});
              CHECK(a.append(EntryKind::data) == AppendResult::fenced);
              a.chain = EntryChain(a.keys, {{2, 3}, b.chain.tail().digest});
              CHECK(a.append(EntryKind::data) == AppendResult::fenced);
              a.chain = EntryChain(a.keys, {{2, 1}, b.chain.tail().digest});
              CHECK(a.append(EntryKind::takeover) == AppendResult::fenced);
              a.chain = EntryChain(a.keys, {{9, 7}, b.chain.tail().digest});
              CHECK(a.append(EntryKind::takeover) == AppendResult::fenced);
              CHECK(a.end() == 2);
            }},
    LogCase{"a truncated log begins later and keeps its last entry",
            [](LogMachine& a, LogMachine& b) {
              CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
              for (int i = 0; i < 4; ++i) {
                CHECK(a.append(EntryKind::data) == AppendResult::stored);
              }
              CHECK(a.log.truncate(3));
              CHECK(a.log.truncate(2));  // nothing is left to drop
              const auto missed = b.log.read_from(2, 1);
              REQUIRE_FALSE(missed);
              CHECK(missed.error().slug == Slug::not_found);
              CHECK(b.log.read_from(3, 1 << 20).value().size() == 3);
              CHECK(a.log.truncate(100));
              CHECK(a.end() == 5);
              CHECK(b.log.read_from(5, 1 << 20).value().size() == 1);
              CHECK(a.append(EntryKind::data) == AppendResult::stored);
            }},
    LogCase{"a new log begins where the ledger is",
            [](LogMachine& a, LogMachine& b) {
              a.chain = EntryChain(a.keys, {{41, 7}, Sha256{1}});
              b.chain = a.chain;
              LogMachine c(b.log);
              CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
              CHECK(c.append(EntryKind::takeover) == AppendResult::fenced);
              CHECK(b.follow().size() == 1);
              CHECK(b.chain.tail().at == LogPosition{42, 8});
              CHECK(a.append(EntryKind::data) == AppendResult::stored);
            }},
};

}  // namespace coffer::store::test
