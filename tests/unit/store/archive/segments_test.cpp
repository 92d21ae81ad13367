// The writer of an archive, on stores that do not behave.
#include "store/archive/segments.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "store/replication/spool_log.h"
#include "unit/store/replication/replicated_files.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace segments_test {
namespace {

/// What all stores at one place have.
struct Objects {
  std::map<std::string, std::string> all;
  bool replaces = false;        // ignores the condition of a put
  bool loses_response = false;  // of the next put, which it has stored
  bool is_reachable = true;
};

class MemoryStore final : public ObjectStore {
 public:
  explicit MemoryStore(Objects& objects) : objects_(objects) {}
  Result<PutResult> put(const std::string& name, std::string_view bytes) override {
    if (!objects_.is_reachable) return unexpected(Slug::unexpected_error, "no connection");
    if (!objects_.replaces && objects_.all.contains(name)) return PutResult::exists;
    objects_.all[name] = bytes;
    if (std::exchange(objects_.loses_response, false)) {
      return unexpected(Slug::unexpected_error, "no response");
    }
    return PutResult::stored;
  }
  Result<std::string> get(const std::string& name, std::size_t) override {
    const auto found = objects_.all.find(name);
    if (found != objects_.all.end()) return found->second;
    return unexpected(Slug::not_found, "missing");
  }
  Result<std::vector<StoredObject>> list(const std::string& prefix,
                                         const std::string& after) override {
    std::vector<StoredObject> out;
    for (auto at = objects_.all.upper_bound(after); at != objects_.all.end(); ++at) {
      if (at->first.starts_with(prefix) && out.size() < 3) out.push_back({at->first, 1});
    }
    return out;
  }
  Result<void> remove(const std::string& name) override {
    objects_.all.erase(name);
    return {};
  }

 private:
  Objects& objects_;
};

/// A log of which a read returns few entries.
class ShortLog final : public ReplicaLog {
 public:
  std::size_t entries_max = 1'000;
  std::function<void()> before_read = [] {};

  Appended append(std::span<const LogEntry> entries,
                  const std::function<void()>& meanwhile) override {
    return log_.append(entries, meanwhile);
  }
  Result<std::vector<LogEntry>> read_from(std::int64_t seq, std::size_t bytes_max) override {
    before_read();
    auto out = log_.read_from(seq, bytes_max);
    if (out && out->size() > entries_max) out->resize(entries_max);
    return out;
  }
  Result<LogTail> tail() override { return log_.tail(); }
  Result<void> truncate(std::int64_t seq) override { return log_.truncate(seq); }

 private:
  SpoolLog log_;
};

struct World {
  Objects objects;
  OsRandom random;
  ManualClock clock;
  ShortLog log;
  EntryChain chain{shared_keys(), {}};
  std::unique_ptr<Archive> archive = open();
  std::unique_ptr<SegmentWriter> writer =
      std::make_unique<SegmentWriter>(*archive, log, random, clock);

  std::unique_ptr<Archive> open() {
    return std::make_unique<Archive>(std::make_unique<MemoryStore>(objects),
                                     Secret(std::string(32, 'k')), Secret(std::string(32, 'a')),
                                     random);
  }
  void append(EntryKind kind = EntryKind::data) {
    const LogEntry entry = chain.append(kind, "x", random);
    log.append({&entry, 1}, [] {});
  }
  std::vector<std::int64_t> untils_ms() {
    std::vector<std::int64_t> out;
    for (const std::int64_t number : segments()) {
      out.push_back(get_segment(*archive, number)->until.ms);
    }
    return out;
  }
  std::vector<std::int64_t> segments() {
    std::vector<std::int64_t> out;
    REQUIRE(list_segments(*archive, 0, [&](std::int64_t number) {
      out.push_back(number);
      return Result<bool>(true);
    }));
    return out;
  }
};

}  // namespace

TEST_CASE("segments: a store that replaces objects is not used") {
  World world;
  world.objects.replaces = true;
  world.append();
  const auto done = world.writer->step(true);
  REQUIRE_FALSE(done);
  CHECK(done.error().detail.find("replaces objects") != std::string::npos);
  CHECK(world.writer->has_ended());
  CHECK_FALSE(world.writer->step(true));
}

TEST_CASE("segments: a lost response leads to no second segment, and to no missing entry") {
  World world;
  world.append();
  REQUIRE(world.writer->step(true));
  world.append();
  world.objects.loses_response = true;
  CHECK_FALSE(world.writer->step(true));
  world.append();  // after the segment that was stored
  REQUIRE(world.writer->step(true));
  std::int64_t next = 2;  // the first entry was there before the archive began
  for (const std::int64_t number : world.segments()) {
    const Segment segment = get_segment(*world.archive, number).value();
    for (const LogEntry& entry : segment.entries) CHECK(entry.at.seq == next++);
  }
  CHECK(next == 4);
}

TEST_CASE("segments: entries that change nothing wait, until there are many or the end comes") {
  World world;
  REQUIRE(world.writer->step(false));
  const std::size_t begun = world.segments().size();
  world.append(EntryKind::heartbeat);
  REQUIRE(world.writer->step(false));
  CHECK(world.segments().size() == begun);
  world.clock.advance_ms(1'000);
  REQUIRE(world.writer->step(false));
  CHECK(world.writer->until() == world.clock.now());
  for (int i = 0; i < 600; ++i) world.append(EntryKind::heartbeat);
  REQUIRE(world.writer->step(false));
  CHECK(world.segments().size() == begun + 1);
  world.append(EntryKind::heartbeat);
  REQUIRE(world.writer->step(true));
  CHECK(world.segments().size() == begun + 2);
}

TEST_CASE("segments: what is archived is only up to date at the end of the log") {
  World world;
  REQUIRE(world.writer->step(true));
  const std::int64_t begun = world.clock.now().ms;
  const EntryKind kind = GENERATE(EntryKind::data, EntryKind::heartbeat);
  for (int i = 0; i < 5; ++i) world.append(kind);
  world.clock.advance_ms(1'000);
  const std::int64_t now = world.clock.now().ms;
  world.log.entries_max = 2;
  SECTION("all is stored at once") {
    REQUIRE(world.writer->step(true));
    CHECK(world.untils_ms() == std::vector{begun, begun, begun, now});
    CHECK(world.writer->until().ms == now);
  }
  SECTION("the store fails after the first part") {
    const auto objects = world.objects.all.size();
    world.log.before_read = [&] {
      world.objects.is_reachable = world.objects.all.size() == objects;
    };
    CHECK_FALSE(world.writer->step(true));
    CHECK(world.untils_ms() == std::vector{begun, begun});
    CHECK(world.writer->until().ms == begun);
  }
  SECTION("the log grows meanwhile") {
    world.log.entries_max = 3;
    world.log.before_read = [&] {
      if (world.chain.tail().at.seq < 8) world.append(kind);
    };
    REQUIRE(world.writer->step(true));
    CHECK(world.untils_ms().back() == now);
    CHECK(world.writer->until().ms == now);
  }
}

TEST_CASE("segments: entries that the log has dropped need a new snapshot") {
  World world;
  world.append();
  REQUIRE(world.writer->step(true));
  const std::int64_t base = world.writer->base();
  world.append();
  REQUIRE(world.log.truncate(100));
  world.append();
  REQUIRE(world.writer->step(true));
  CHECK(world.writer->base() > base);
}

TEST_CASE("segments: another process continues where the log does, and not where it does not") {
  World world;
  world.append();
  REQUIRE(world.writer->step(true));
  const std::int64_t base = world.writer->base();
  const auto second = world.open();
  world.append();
  SegmentWriter continued(*second, world.log, world.random, world.clock);
  REQUIRE(continued.step(true));
  CHECK(continued.base() == base);
  SpoolLog other;
  EntryChain chain(shared_keys(), {});
  for (int i = 0; i < 10; ++i) {
    const LogEntry entry = chain.append(EntryKind::data, "y", world.random);
    other.append({&entry, 1}, [] {});
  }
  const auto third = world.open();
  SegmentWriter begun(*third, other, world.random, world.clock);
  REQUIRE(begun.step(true));
  CHECK(begun.base() > base);
  CHECK(continued.step(true));  // nothing to store
  world.append();
  CHECK(continued.step(true).error().slug == Slug::conflict);
}

}  // namespace segments_test
