// The driver `folder` of the shared log.
#include "store/replication/folder_log.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "unit/store/ledger_fixture.h"
#include "unit/store/replication/log_conformance.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace folder_log_test {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<ReplicaLog> open_log(const TemporaryFolder& folder, Random& random) {
  auto log = FolderLog::open(folder.path() + "/log/ledger", random);
  REQUIRE(log);
  return *std::move(log);
}

std::vector<std::string> names_in(const TemporaryFolder& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(folder.path() + "/log/ledger")) {
    out.push_back(entry.path().filename());
  }
  std::ranges::sort(out);
  return out;
}

std::string name_of(int seq) {
  const std::string digits = std::to_string(seq);
  return std::string(19 - digits.size(), '0') + digits;
}

}  // namespace

TEST_CASE("folder log: conforms") {
  for (const LogCase& one : kLogCases) {
    INFO(one.name);
    const TemporaryFolder folder;
    OsRandom random;
    const auto first = open_log(folder, random);
    const auto second = open_log(folder, random);
    LogMachine a(*first);
    LogMachine b(*second);
    one.run(a, b);
  }
}

TEST_CASE("folder log: refused and interrupted appends leave no files behind a truncation") {
  const TemporaryFolder folder;
  OsRandom random;
  const auto log = open_log(folder, random);
  LogMachine a(*log);
  LogMachine b(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  CHECK(b.append(EntryKind::takeover) == AppendResult::fenced);
  CHECK(names_in(folder) == std::vector{name_of(1)});
  std::ofstream(folder.path() + "/log/ledger/" + name_of(1) + ".0123.coffer.partial") << "half";
  CHECK(a.append(EntryKind::data) == AppendResult::stored);
  CHECK(a.follow().empty());
  CHECK(log->truncate(2));
  CHECK(names_in(folder) == std::vector{name_of(2)});
}

TEST_CASE("folder log: a truncation that a crash interrupted leaves a log that begins later") {
  const TemporaryFolder folder;
  OsRandom random;
  const auto log = open_log(folder, random);
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  for (int i = 0; i < 5; ++i) CHECK(a.append(EntryKind::data) == AppendResult::stored);
  fs::remove(folder.path() + "/log/ledger/" + name_of(1));
  fs::remove(folder.path() + "/log/ledger/" + name_of(3));  // the order on disk may differ
  CHECK(log->read_from(1, 1).error().slug == Slug::not_found);
  CHECK(log->read_from(4, 1 << 20).value().size() == 3);
  CHECK(log->tail().value().at.seq == 6);
  // A machine that was at the gap takes it for the end of the log.
  LogMachine stale(*log);
  stale.chain = EntryChain(stale.keys, {{2, 1}, log->read_from(2, 1).value()[0].digest});
  CHECK(stale.append(EntryKind::takeover) == AppendResult::fenced);
  CHECK(a.append(EntryKind::data) == AppendResult::stored);
}

TEST_CASE("folder log: a file that is not an entry is reported, and stops an append") {
  const TemporaryFolder folder;
  OsRandom random;
  const auto log = open_log(folder, random);
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  const std::string content =
      GENERATE(as<std::string>(), "", "x", std::string(50, '\0'), std::string(60, '\1'));
  std::ofstream(folder.path() + "/log/ledger/" + name_of(1)) << content;
  CHECK(log->tail().error().slug == Slug::validation_failed);
  CHECK(log->read_from(1, 1).error().slug == Slug::validation_failed);
  CHECK(a.append(EntryKind::data) == AppendResult::unknown);
}

TEST_CASE("folder log: an append whose result cannot be known says so") {
  const TemporaryFolder folder;
  OsRandom random;
  const auto log = open_log(folder, random);
  LogMachine a(*log);
  CHECK(a.append(EntryKind::takeover) == AppendResult::stored);
  fs::remove_all(folder.path() + "/log");
  CHECK(a.append(EntryKind::data) == AppendResult::unknown);
  CHECK_FALSE(log->tail());
}

TEST_CASE("folder log: of many candidates at a time, one wins each epoch") {
  const TemporaryFolder folder;
  constexpr int kCandidates = 4;
  constexpr int kRounds = 25;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> won(kCandidates, 0);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kCandidates; ++i) {
        threads.emplace_back([&, i] {
          OsRandom random;
          auto log = FolderLog::open(folder.path() + "/log/ledger", random);
          const EntryKeys keys(Secret(std::string(32, 'k')));
          EntryChain chain(keys, (*log)->tail().value());
          const std::vector<LogEntry> entries{chain.append(EntryKind::takeover, "x", random),
                                              chain.append(EntryKind::data, "y", random)};
          won[static_cast<std::size_t>(i)] =
              (*log)->append(entries).result == AppendResult::stored ? 1 : 0;
        });
      }
    }
    // A candidate may begin after another one has ended, and take over from it.
    CHECK(std::ranges::count(won, 1) >= 1);
  }
  OsRandom random;
  const auto log = open_log(folder, random);
  LogMachine reader(*log);
  reader.follow(1 << 30);
  CHECK(reader.chain.tail() == log->tail().value());
}

}  // namespace folder_log_test
