// Entries of the shared log: sealed, chained, and bound to their place.
#include "store/replication/entry.h"

#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace coffer;
using namespace coffer::store;

namespace entry_test {
namespace {

Secret root(char fill = 'k') { return Secret(std::string(32, fill)); }

struct Log {
  EntryKeys keys{root()};
  SeededRandom random{7};
  EntryChain writer{keys, {}};
  std::vector<LogEntry> entries;

  void append(EntryKind kind, const std::string& plain = {}) {
    entries.push_back(writer.append(kind, plain, random));
  }
  /// What a new follower with these keys reads, up to the first entry that it rejects.
  static std::vector<std::string> read(const EntryKeys& with, const std::vector<LogEntry>& all) {
    EntryChain reader(with, {});
    std::vector<std::string> out;
    for (const LogEntry& entry : all) {
      const LogTail before = reader.tail();
      const auto plain = reader.read(entry);
      if (!plain) {
        CHECK(plain.error().slug == Slug::validation_failed);
        CHECK(reader.tail() == before);
        break;
      }
      CHECK(reader.tail() == LogTail{entry.at, entry.digest});
      out.push_back(*plain);
    }
    return out;
  }
};

/// Two epochs with entries of every kind.
struct SampleLog : Log {
  SampleLog() {
    append(EntryKind::takeover, "10.0.0.1:8080");
    append(EntryKind::data, "first");
    append(EntryKind::heartbeat);
    append(EntryKind::takeover, "10.0.0.2:8080");
    append(EntryKind::data, std::string(1'000'000, 'x'));
  }
};

}  // namespace

TEST_CASE("entry: a reader with the same key reads what was appended, in order") {
  const SampleLog log;
  CHECK(Log::read(log.keys, log.entries) == std::vector<std::string>{"10.0.0.1:8080", "first", "",
                                                                     "10.0.0.2:8080",
                                                                     std::string(1'000'000, 'x')});
  CHECK(log.entries.front().at == LogPosition{1, 1});
  CHECK(log.entries.back().at == LogPosition{5, 2});
}

TEST_CASE("entry: every flipped bit is found") {
  Log log;
  log.append(EntryKind::takeover, "a");
  log.append(EntryKind::data, "some pages");
  log.append(EntryKind::data, "more pages");
  for (std::size_t bit = 0; bit < log.entries[1].payload.size() * 8; ++bit) {
    auto changed = log.entries;
    changed[1].payload[bit / 8] = static_cast<char>(changed[1].payload[bit / 8] ^ 1 << bit % 8);
    REQUIRE(Log::read(log.keys, changed).size() == 1);
  }
  for (std::size_t bit = 0; bit < 256; ++bit) {
    auto changed = log.entries;
    changed[1].digest[bit / 8] =
        static_cast<std::uint8_t>(changed[1].digest[bit / 8] ^ 1 << bit % 8);
    REQUIRE(Log::read(log.keys, changed).size() == 1);
  }
}

TEST_CASE("entry: a changed place or kind, a gap and another order are found") {
  const SampleLog log;
  using Change = std::function<void(std::vector<LogEntry>&)>;
  const std::vector<Change> changes{
      [](auto& all) { all[1].at.seq = 3; },
      [](auto& all) { all[1].at.epoch = 2; },
      [](auto& all) { all[1].kind = EntryKind::heartbeat; },
      [](auto& all) { all[1].kind = EntryKind::takeover; },
      [](auto& all) { all.erase(all.begin() + 1); },
      [](auto& all) { std::swap(all[1], all[2]); },
      [](auto& all) { all[1] = all[0]; },
      // Another entry at its place, with the digest that the reader has seen before.
      [](auto& all) { std::swap(all[1].payload, all[2].payload); },
  };
  for (const Change& change : changes) {
    auto changed = log.entries;
    change(changed);
    CHECK(Log::read(log.keys, changed).size() == 1);
  }
}

TEST_CASE("entry: a takeover begins a later epoch, and nothing else does") {
  Log log;
  log.append(EntryKind::data);  // without a takeover before it, in epoch 0
  CHECK(Log::read(log.keys, log.entries).size() == 1);
  // A leader that continues epoch 1 at the place after the takeover of epoch 2.
  SampleLog forked;
  EntryChain stale(forked.keys, {forked.entries[2].at, forked.entries[2].digest});
  forked.entries[4] = stale.append(EntryKind::data, "stale", forked.random);
  forked.entries[4].at.seq = 5;
  CHECK(Log::read(forked.keys, forked.entries).size() == 4);
  // A takeover may skip an epoch whose own takeover failed, but not repeat one.
  SampleLog repeated;
  repeated.entries.erase(repeated.entries.begin() + 3, repeated.entries.end());
  EntryChain early(repeated.keys, {{3, 0}, repeated.entries[2].digest});
  repeated.entries.push_back(early.append(EntryKind::takeover, {}, repeated.random));
  CHECK(Log::read(repeated.keys, repeated.entries).size() == 3);
}

TEST_CASE("entry: a log of another ledger is not read, and has another name") {
  const SampleLog log;
  const EntryKeys other(root('o'));
  CHECK(Log::read(other, log.entries).empty());
  CHECK(other.ledger() != log.keys.ledger());
  CHECK(log.keys.ledger() == EntryKeys(root()).ledger());
  CHECK(log.keys.ledger().size() == 32);
}

TEST_CASE("entry: equal contents have different payloads, also at the same place") {
  Log log;
  std::set<std::string> payloads;
  for (int i = 0; i < 20; ++i) {
    EntryChain candidate(log.keys, {});
    payloads.insert(candidate.append(EntryKind::takeover, "same", log.random).payload);
    log.append(EntryKind::data, "same");
    payloads.insert(log.entries.back().payload);
  }
  CHECK(payloads.size() == 40);
  for (const std::string& payload : payloads) CHECK(payload.find("same") == std::string::npos);
}

}  // namespace entry_test
