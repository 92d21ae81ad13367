// What can be restored from the archive of a file (docs/operating.md#archive).
#include "flows/operations/archive.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>

#include "app/archiving.h"
#include "base/digest.h"
#include "base/thread.h"
#include "flows/operations/backups.h"
#include "flows/operations/file_keys.h"
#include "flows/operations/restore.h"
#include "store/archive/folder_store.h"
#include "store/archive/segments.h"
#include "store/replication/replica.h"
#include "store/replication/spool_log.h"
#include "support/receiver.h"
#include "support/test_app.h"
#include "unit/store/replication/replicated_files.h"

using namespace coffer;
using namespace coffer::test;
namespace fs = std::filesystem;

namespace archive_test {
namespace {

/// The pages of a file; a restored one is not in WAL mode.
std::vector<std::string> pages(const std::string& path) {
  auto out = store::test::pages_of(path);
  out.at(0).replace(18, 2, 2, '\0');
  out.at(0).replace(40, 4, 4, '\0');  // the cookie of the schema, as in every backup
  return out;
}

std::int64_t payments(const std::string& path, Timestamp after = {}) {
  store::Connection db(path, store::OpenMode::read_only);
  store::Query query(db, "SELECT count(*) FROM payments WHERE created_at > ?", after);
  return query.step() ? query.integer(0) : -1;
}

struct World {
  explicit World(const std::function<void(Config&)>& change = {})
      : app([&](Config& config) {
          fs::create_directory(place.path() + "/archive");
          config.archive = "file://" + place.path() + "/archive";
          if (change) change(config);
        }) {}

  store::test::TemporaryFolder place;
  TestApp app;
  int restores = 0;

  Archiving& archiving() { return app.core().background().archiving(); }
  void write() {
    const auto done = archiving().write(true);
    INFO((done ? "" : done.error().detail));
    REQUIRE(done);
  }
  /// All due tasks.
  void keep() {
    for (;;) {
      const auto done = archiving().keep();
      INFO((done ? "" : done.error().detail));
      REQUIRE(done);
      if (!*done) return;
    }
  }
  void begin() {
    write();
    keep();
  }
  std::unique_ptr<store::Archive> archive() {
    return app.core().background().archiving().open().value();
  }
  std::size_t snapshots() { return store::list_snapshots(*archive())->size(); }

  std::string pay() {
    const Client me(app, app.me().credentials());  // with a new token
    if (from.empty()) {
      from = me.wallet("USDC", "1000");
      to = me.wallet("USDC");
    }
    const std::string id = me.transfer(from, to, "1");
    app.settle();
    return id;
  }
  std::string from;
  std::string to;

  std::string target() const { return place.file("restored-" + std::to_string(restores) + ".db"); }
  /// To target(), as the file of the ledger it is from, which is not changed.
  Result<flows::Restored> restore(std::optional<Timestamp> at = {}, bool alone = false,
                                  std::optional<Timestamp> snapshot_before = {}) {
    ++restores;
    flows::FileChecks checks;
    checks.key = std::make_unique<flows::KeyCandidate>(
        configured_key(app.config(), app.random, auth::MissingKey::refuse).value());
    const flows::ArchiveRestore wanted{at, snapshot_before, !alone};
    return flows::restore_archive(
        *archive(), wanted, target(), [](auto&&...) {}, checks);
  }
  void restored(std::optional<Timestamp> at = {}) {
    const auto done = restore(at);
    INFO((done ? "" : done.error().detail));
    REQUIRE(done);
    REQUIRE(done->verdict.violations.empty());
    CHECK(done->verdict.keyed);
  }
  std::string why_not(std::optional<Timestamp> at = {}) {
    const auto done = restore(at);
    CHECK_FALSE(fs::exists(target()));
    CHECK_FALSE(fs::exists(target() + ".coffer.partial"));
    CHECK_FALSE(fs::exists(target() + ".coffer.partial-wal"));
    if (!done) return done.error().detail;
    return done->verdict.violations.empty() ? "restored" : done->verdict.violations[0].detail;
  }
  void check_equal() {
    restored();
    const auto found = pages(target());
    const auto expected = pages(app.config().db);
    CHECK(found.size() == expected.size());
    for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
      INFO("page " << i + 1);
      CHECK(to_hex(found[i]) == to_hex(expected[i]));
    }
  }
  /// The objects whose names contain `part`, in order.
  std::vector<std::string> objects(const std::string& part) const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(place.path() + "/archive")) {
      const std::string path = entry.path();
      if (entry.is_regular_file() && path.find(part) != std::string::npos) out.push_back(path);
    }
    std::ranges::sort(out);
    return out;
  }
  ConditionFacts facts() {
    ConditionFacts facts;
    facts.clock_synchronised = true;
    app.flows()
        .read([&](store::Connection& db) -> Result<void> {
          archiving().add_facts(db, facts);
          return {};
        })
        .value();
    return facts;
  }
  std::vector<AlertCondition> conditions() {
    std::vector<AlertCondition> out;
    for (const Finding& found : find_conditions(facts(), app.clock.now())) {
      out.push_back(found.condition);
    }
    return out;
  }
  std::string folder() const { return place.path() + "/archive"; }
  /// Restarts the server, and changes the archive in between.
  void restart_after(const std::function<void()>& change) {
    const std::string url = app.config().archive;
    app.restart([](Config& config) { config.archive.clear(); });
    change();
    app.restart([&](Config& config) { config.archive = url; });
  }
  flows::Proof proof() { return app.flows().read(flows::last_proof).value().value(); }
};

bool has(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

void flip(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto at = static_cast<std::streamoff>(fs::file_size(path) / 2);
  file.seekg(at);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(at);
  file.put(byte);
}

/// A folder whose objects cannot be fetched for a time, as in an outage of a bucket.
class OutOfReach final : public ObjectStore {
 public:
  OutOfReach(std::string folder, const bool& is_out) : is_out_(is_out), objects_(folder) {}
  Result<PutResult> put(const std::string& name, std::string_view bytes) override {
    return objects_.put(name, bytes);
  }
  Result<std::string> get(const std::string& name, std::size_t bytes_max) override {
    if (is_out_) return unexpected(Slug::provider_error, "no connection");
    return objects_.get(name, bytes_max);
  }
  Result<std::vector<StoredObject>> list(const std::string& prefix,
                                         const std::string& after) override {
    return objects_.list(prefix, after);
  }
  Result<void> remove(const std::string& name) override { return objects_.remove(name); }

 private:
  const bool& is_out_;
  store::FolderStore objects_;
};

using Conditions = std::vector<AlertCondition>;

}  // namespace

TEST_CASE("archive: a restored file equals the served one") {
  World world;
  CHECK(world.why_not().find("empty") != std::string::npos);
  world.begin();
  CHECK(world.snapshots() == 1);
  world.write();
  world.check_equal();
  for (int i = 0; i < 5; ++i) world.pay();
  world.write();
  world.check_equal();
  // A commit of several entries, across segments.
  for (const std::int64_t bytes : {9'000'000, 1}) {
    world.app.flows()
        .write([&](store::WriteTx& tx) {
          tx.db().run("INSERT OR REPLACE INTO meta VALUES ('last_checkpoint', randomblob(?))",
                      bytes);
        })
        .value();
  }
  world.pay();
  world.write();
  world.check_equal();
}

TEST_CASE("archive: twenty moments have the payments that were made before, and no others") {
  World world;
  world.begin();
  SeededRandom dice(7);
  struct Moment {
    Timestamp at;
    std::int64_t payments;
  };
  std::vector<Moment> moments;
  for (int i = 0; i < 60; ++i) {
    world.app.clock.advance_ms(1 + static_cast<std::int64_t>(dice.next_u64() % 3'600'000));
    world.pay();
    world.app.clock.advance_ms(1);
    moments.push_back({world.app.clock.now(), payments(world.app.config().db)});
    if (dice.next_u64() % 3 == 0) world.write();
    if (dice.next_u64() % 10 == 0) world.keep();
    if (dice.next_u64() % 20 == 0) world.app.restart();
  }
  world.write();
  CHECK(world.snapshots() > 1);
  for (int i = 0; i < 20; ++i) {
    const Moment& moment = moments[dice.next_u64() % moments.size()];
    INFO(moment.at.to_string());
    world.restored(moment.at);
    CHECK(payments(world.target()) == moment.payments);
    CHECK(payments(world.target(), moment.at) == 0);
  }
  CHECK(world.why_not({{1'000}}).find("nothing before 1970-01-01T00:00:01.000Z") !=
        std::string::npos);
}

TEST_CASE("archive: a clean stop needs no new snapshot, and the archive continues") {
  World world;
  world.begin();
  world.pay();
  world.app.restart();
  world.pay();
  world.write();
  world.keep();
  CHECK(world.snapshots() == 1);
  world.check_equal();
}

TEST_CASE("archive: commits that it does not have lead to a new snapshot, and to a gap") {
  World world;
  world.begin();
  world.pay();
  world.write();
  const Timestamp before = world.app.clock.now();
  world.app.clock.advance_ms(1'000);
  SECTION("a command on the closed file") {
    world.app.restart([](Config& config) { config.archive.clear(); });
    world.app.register_association();
    world.app.clock.advance_ms(1'000);
    world.app.restart(
        [&](Config& config) { config.archive = "file://" + world.place.path() + "/archive"; });
  }
  SECTION("a crash before the last entries were stored") {
    fs::rename(world.place.path() + "/archive", world.place.path() + "/kept");
    world.pay();
    world.app.restart();
    fs::remove_all(world.place.path() + "/archive");
    fs::rename(world.place.path() + "/kept", world.place.path() + "/archive");
  }
  const Timestamp inside = world.app.clock.now();
  world.app.clock.advance_ms(1'000);
  world.write();
  CHECK(world.why_not(inside).find("gap from " + before.to_string()) != std::string::npos);
  world.archiving().keep().value();
  CHECK(world.snapshots() == 2);
  world.keep();
  world.pay();
  world.write();
  world.check_equal();
  CHECK(world.why_not(inside).find("gap from " + before.to_string()) != std::string::npos);
  world.restored(before);
}

TEST_CASE("archive: of a snapshot that a gap follows, only what it has is promised") {
  World world;
  world.begin();
  world.pay();
  world.app.clock.advance_ms(1'000);
  const Timestamp begun = world.app.clock.now();
  const std::int64_t next = store::last_segment(*world.archive())->number + 1;
  const auto made = flows::archive_snapshot(world.app.flows(), *world.archive(), next, 0,
                                            [&](const Progress& at) {
                                              if (at.what == "copying")
                                                world.app.clock.advance_ms(1'000);
                                            });
  REQUIRE(made);
  REQUIRE(made->name.at > begun);
  const std::int64_t before = payments(world.app.config().db);
  // The server is killed, and a command on its file begins another log.
  const std::string place = world.place.path() + "/archive";
  fs::rename(place, place + "-kept");
  world.app.restart([](Config& config) { config.archive.clear(); });
  world.app.register_association();
  fs::rename(place + "-kept", place);
  world.app.restart([&](Config& config) { config.archive = "file://" + place; });
  world.write();
  world.app.clock.advance_ms(1'000);
  for (int i = 0; i < 3; ++i) world.pay();
  world.write();
  const auto done = world.restore();
  INFO((done ? "" : done.error().detail));
  REQUIRE(done);
  CHECK(done->verdict.violations.empty());
  CHECK(payments(world.target()) == before);
  CHECK(done->rebuilt->until == begun);
  CHECK(done->rebuilt->ends_early);
  CHECK(world.why_not(made->name.at).find("gap from " + begun.to_string()) != std::string::npos);
}

TEST_CASE("archive: nothing is written where a disk is not mounted, and all is caught up") {
  World world;
  world.begin();
  world.pay();
  world.write();
  const std::string place = world.place.path() + "/archive";
  fs::rename(place, place + "-kept");
  const bool is_mount_point = GENERATE(false, true);
  if (is_mount_point) fs::create_directory(place);
  world.pay();
  const auto lost = world.archiving().write(true);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().detail.find(is_mount_point ? "has lost the object log/" : "") !=
        std::string::npos);
  world.app.clock.advance_ms(2 * kDayMs);
  CHECK_FALSE(world.archiving().keep());
  if (is_mount_point) CHECK(fs::is_empty(place));
  CHECK(fs::exists(place) == is_mount_point);
  fs::remove(place);
  fs::rename(place + "-kept", place);
  world.write();
  world.check_equal();
}

TEST_CASE("archive: a log that is cut off before its newest head is not restored") {
  World world;
  world.begin();
  for (int i = 0; i < 3; ++i) {
    world.pay();
    world.write();
  }
  const auto all = world.objects("/log/");
  const std::string head = flows::make_checkpoint(world.app.flows(), [] { return true; }).value();
  world.app.clock.advance_ms(1);
  world.write();
  REQUIRE(world.archiving().head_keeper()(world.app.clock.now(), head));
  world.restored();
  for (const std::string& path : world.objects("/log/")) {
    if (path >= all.back()) fs::remove(path);
  }
  CHECK(world.why_not().find("at the checkpoint") != std::string::npos);
}

TEST_CASE("archive: a file that is older than its archive writes nothing into it") {
  World world;
  world.begin();
  const std::string old = world.place.file("old.db");
  world.restored();
  fs::copy_file(world.target(), old);
  world.pay();
  const std::string head = flows::make_checkpoint(world.app.flows(), [] { return true; }).value();
  world.app.clock.advance_ms(1);
  world.write();
  REQUIRE(world.archiving().head_keeper()(world.app.clock.now(), head));
  const auto before = world.objects("");
  const std::string served = world.app.config().db;
  world.app.restart([&](Config& config) { config.db = old; });
  const auto refused = world.archiving().write(true);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().slug == Slug::conflict);
  CHECK(world.objects("") == before);
  world.app.restart([&](Config& config) { config.db = served; });
}

TEST_CASE("archive: the snapshot before a damaged one serves as well") {
  World world;
  world.begin();
  world.pay();
  world.write();
  for (int days = 0; world.snapshots() < 2; ++days) {
    REQUIRE(days < 3);
    world.app.clock.advance_ms(kDayMs);
    world.pay();
    world.write();
    world.keep();
  }
  world.pay();
  world.write();
  const Timestamp last = store::list_snapshots(*world.archive())->back().at;
  for (const char* kind : {"/snapshots/", "/parts/"}) {
    const std::string path = world.objects(kind).back();
    INFO(path);
    flip(path);
    CHECK(world.why_not().find("add --snapshot-before " + last.to_string()) != std::string::npos);
    const auto done = world.restore({}, false, last);
    INFO((done ? "" : done.error().detail));
    REQUIRE(done);
    CHECK(done->verdict.violations.empty());
    CHECK(payments(world.target()) == payments(world.app.config().db));
    flip(path);
  }
  CHECK(world.restore({}, false, Timestamp{1'000}).error().slug == Slug::not_found);
}

TEST_CASE("archive: a damaged or missing object is named") {
  World world;
  world.begin();
  world.pay();
  world.write();
  world.pay();
  world.write();
  REQUIRE(world.app.core().background().settle_once() == 0);
  const std::string head =
      world.app.flows()
          .read([&](store::Connection& db) {
            return flows::sign_checkpoint(world.app.flows().sealer, db, world.app.clock.now());
          })
          .value();
  REQUIRE(world.archive()->put(store::head_name(world.app.clock.now()), head));
  world.check_equal();
  for (const char* kind : {"/log/", "/snapshots/", "/parts/", "/heads/"}) {
    const auto all = world.objects(kind);
    REQUIRE_FALSE(all.empty());
    // The first segment is not after the snapshot.
    const std::string& path = all.back();
    const std::string name = path.substr(path.find(kind) + 1);
    INFO(name);
    flip(path);
    CHECK(world.why_not().find(name + " of the archive is damaged") != std::string::npos);
    flip(path);
    world.restored();
  }
  const auto segments = world.objects("/log/");
  const std::string& missing = segments[segments.size() - 2];
  fs::rename(missing, missing + "x");
  const std::string why = world.why_not();
  CHECK(why.find("log/") != std::string::npos);
  CHECK(why.find("is missing") != std::string::npos);
  fs::rename(missing + "x", missing);
  fs::rename(world.objects("/parts/").front(), world.place.file("part"));
  CHECK(world.why_not().find("/parts/") != std::string::npos);
}

TEST_CASE("archive: another master key opens nothing, and the problem says so") {
  World world;
  world.begin();
  OsRandom random;
  std::ofstream(world.app.config().master_key_file)
      << auth::MasterKey::generate(random).to_hex().reveal();
  const auto key = configured_key(world.app.config(), random, auth::MissingKey::refuse).value();
  outbound::ArchiveLink link("", world.app.clock);
  const auto archive =
      archive_at(world.app.config().archive, world.app.config(), key, random)(link);
  store::test::TemporaryFolder folder;
  auto file = PartialFile::create(folder.file());
  const auto done = store::rebuild(**archive, {}, *file, [](auto&&...) {});
  REQUIRE_FALSE(done);
  CHECK(has(done.error().detail, "no objects of this master key"));
  CHECK(done.error().exit_code == exit_code::kPermission);
}

TEST_CASE("archive: of two writers one finds the other, stops and does not overwrite") {
  World world;
  world.begin();
  world.pay();
  world.write();
  const auto other = world.archive();
  store::SpoolLog log;
  OsRandom random;
  store::SegmentWriter writer(*other, log, random, world.app.clock);
  REQUIRE(writer.step(true));
  world.pay();
  const auto done = world.archiving().write(true);
  REQUIRE_FALSE(done);
  CHECK(done.error().slug == Slug::conflict);
  CHECK(done.error().detail.find("Another server writes to the archive") != std::string::npos);
  CHECK(world.conditions() == Conditions{AlertCondition::archive_behind});
  CHECK(has(world.facts().archive_problem, "Another server writes to the archive"));
  world.pay();  // payments continue
}

TEST_CASE(
    "archive: a place that cannot be written delays nothing, opens an alert, and is caught up") {
  World world;
  world.begin();
  const std::string place = world.place.path() + "/archive";
  fs::rename(place, place + "-kept");
  std::ofstream(place) << "not a folder";
  for (int i = 0; i < 3; ++i) world.pay();
  CHECK_FALSE(world.archiving().write(true));
  CHECK(world.conditions().empty());
  world.app.clock.advance_ms(kArchiveBehindMs + 1);
  CHECK_FALSE(world.archiving().write(true));
  CHECK(world.conditions() == Conditions{AlertCondition::archive_behind});
  CHECK(has(world.facts().archive_problem, "archive"));
  fs::remove(place);
  fs::rename(place + "-kept", place);
  world.write();
  CHECK(world.conditions().empty());
  CHECK(world.facts().archive_problem.empty());
  world.keep();
  CHECK(world.snapshots() == 1);
  world.write();
  world.check_equal();
}

TEST_CASE("archive: any moment of the last days stays, and older objects go") {
  World world([](Config& config) {
    config.archive_keep_days = 3;
    config.archive_prove_every_h = 0;
  });
  world.begin();
  std::vector<std::pair<Timestamp, std::int64_t>> moments;
  for (int day = 0; day < 10; ++day) {
    for (int i = 0; i < 4; ++i) {
      world.app.clock.advance_ms(6 * kHourMs);
      world.pay();
      world.write();
      world.app.clock.advance_ms(1);
      moments.emplace_back(world.app.clock.now(), payments(world.app.config().db));
      world.keep();
    }
  }
  world.write();
  const Timestamp first = world.app.clock.now().plus_ms(-3 * kDayMs);
  for (const auto& [at, number] : moments) {
    if (at < first) continue;
    world.restored(at);
    CHECK(payments(world.target()) == number);
  }
  CHECK(world.snapshots() <= 5);
  CHECK(world.objects("/parts/").size() == world.snapshots());
  CHECK(world.why_not(moments.front().first).find("Its oldest moment is") != std::string::npos);
  // Even if nothing was written for longer than the days, the last snapshot stays.
  world.app.clock.advance_ms(100 * kDayMs);
  OsRandom random;
  REQUIRE(store::drop_before(*world.archive(), world.app.clock.now(), [] {}));
  CHECK(world.snapshots() == 1);
  world.check_equal();
}

TEST_CASE("archive: a removal that ends after any object leaves all that is to stay") {
  World world([](Config& config) { config.archive_prove_every_h = 0; });
  world.begin();
  std::vector<std::pair<Timestamp, std::int64_t>> moments;
  for (int day = 0; day < 4; ++day) {
    world.app.clock.advance_ms(kDayMs);
    world.pay();
    world.write();
    moments.emplace_back(world.app.clock.now(), payments(world.app.config().db));
    world.keep();
  }
  const auto& [from, number] = moments[2];
  struct Killed {};
  int removed = 0;
  for (bool ended = false; !ended;) {
    try {
      ended = store::drop_before(*world.archive(), from, [] { throw Killed(); }).has_value();
      REQUIRE(ended);
    } catch (const Killed&) {
      ++removed;
    }
    world.restored(from);
    CHECK(payments(world.target()) == number);
  }
  CHECK(removed >= 6);
  world.write();
  world.check_equal();
}

TEST_CASE("archive: an outage during a trial is no result, and another trial follows soon") {
  World world;
  world.begin();
  const auto proof = [&] { return world.app.flows().read(flows::last_proof).value().value(); };
  const Timestamp first = proof().proven_at;
  bool is_out = false;
  const auto key =
      configured_key(world.app.config(), world.app.random, auth::MissingKey::refuse).value();
  const auto open = [&](outbound::ArchiveLink&) -> Result<std::unique_ptr<store::Archive>> {
    return std::make_unique<store::Archive>(
        std::make_unique<OutOfReach>(world.place.path() + "/archive", is_out),
        key.derive("coffer replicated log v1"), key.derive("coffer archive v1"), world.app.random);
  };
  const auto log = store::Replica::alone(key.derive("coffer replicated log v1"), world.app.random);
  Archiving archiving(world.app.config(), world.app.flows(), log.get(), open);
  const auto keep = [&]() -> Result<void> {
    for (;;) {
      COFFER_TRY(const bool more, archiving.keep());
      if (!more) return {};
    }
  };
  world.app.clock.advance_ms(kDayMs);
  REQUIRE(archiving.write(true));
  is_out = true;
  const auto failed = keep();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().slug == Slug::provider_error);
  CHECK(proof().failed_at.ms == 0);
  CHECK(proof().proven_at == first);
  REQUIRE(keep());  // which fetches nothing for a while
  is_out = false;
  world.app.clock.advance_ms(kHourMs);
  REQUIRE(keep());
  CHECK(proof().proven_at == world.app.clock.now());
}

TEST_CASE("archive: what SQLite rejects is a failed restore, and a full disk is not") {
  World world;
  world.begin();
  world.pay();
  world.write();
  world.restored();
  {
    std::fstream file(world.target(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(18).put('\3');  // a version that this SQLite may only read
  }
  world.app.clock.advance_ms(1'000);
  const Timestamp now = world.app.clock.now();
  const auto archive = world.archive();
  const std::int64_t segment = store::last_segment(*archive)->number;
  REQUIRE(store::put_snapshot(*archive, {segment, now}, now, world.target(), [](auto&&...) {}));
  world.pay();
  world.write();
  const auto full = flows::prove_archive(world.app.flows(), *archive, 0, [](const Progress& at) {
    if (at.what == "fetching") throw store::SqlError("the disk is full", 13, 13);
  });
  REQUIRE_FALSE(full);
  CHECK(full.error().slug == Slug::storage_full);
  const auto failed = flows::prove_archive(world.app.flows(), *archive, 0, [](auto&&...) {});
  REQUIRE(failed);
  CHECK(failed->failed_at == now);
  CHECK(failed->fault.find("sqlite_file") != std::string::npos);
  CHECK(world.conditions() == Conditions{AlertCondition::restore_unproven});
  CHECK(world.why_not().find("cannot restore into") != std::string::npos);
}

TEST_CASE("archive: a restore is proven on schedule, and a damaged archive is found") {
  World world;
  world.begin();
  const auto proof = [&] { return world.proof(); };
  CHECK(proof().proven_at == world.app.clock.now());
  CHECK(proof().fault.empty());
  CHECK_FALSE(fs::exists(world.app.config().db + ".copy-proof.coffer.partial"));
  world.pay();
  world.write();
  flip(world.objects("/log/").back());
  world.app.clock.advance_ms(kDayMs - kHourMs);
  world.keep();
  CHECK(proof().fault.empty());
  world.app.clock.advance_ms(kHourMs);
  world.write();
  world.keep();
  // The new snapshot does not need the damaged segment.
  CHECK(proof().fault.empty());
  world.pay();
  world.write();
  flip(world.objects("/log/").back());
  const auto failed =
      flows::prove_archive(world.app.flows(), *world.archive(), 0, [](auto&&...) {});
  REQUIRE(failed);
  CHECK(failed->fault.find("is damaged") != std::string::npos);
  CHECK(proof().proven_at.ms > 0);
  CHECK(world.conditions() == Conditions{AlertCondition::restore_unproven});
  world.app.restart();  // remembered
  CHECK(proof().fault == failed->fault);
}

TEST_CASE("archive: a file that was replaced by an older one contradicts the newest head") {
  World world;
  world.begin();
  world.pay();
  world.write();
  const Timestamp before = world.app.clock.now();
  world.app.clock.advance_ms(1'000);
  world.pay();
  world.write();
  const auto keep = world.archiving().head_keeper();
  const std::string head = flows::make_checkpoint(world.app.flows(), [] { return true; }).value();
  world.app.clock.advance_ms(1);
  world.write();
  REQUIRE(keep(world.app.clock.now(), head));
  const auto mismatch = [&](const std::string& path) {
    store::Connection db(path, store::OpenMode::read_only);
    return flows::archive_mismatch(*world.archive(), world.app.flows().sealer, db).value();
  };
  CHECK(mismatch(world.app.config().db).empty());
  world.restored(before);
  CHECK(mismatch(world.target()).find("at the checkpoint") != std::string::npos);
  // A restore on purpose is accepted, until there is a newer head.
  const auto done = world.restore(before, true);
  REQUIRE(done);
  CHECK(mismatch(world.target()).empty());
  store::Connection db(world.target(), store::OpenMode::read_only);
  const flows::Checkpoints heads{flows::parse_checkpoint(head).value()};
  CHECK_FALSE(flows::mismatch_with(world.app.flows().sealer, db, heads).empty());
}

TEST_CASE("archive: what was lost before a start is said, until a restore is proven again") {
  World world;
  world.begin();
  world.pay();
  world.write();
  fs::copy(world.folder(), world.place.file("old"), fs::copy_options::recursive);
  const Timestamp copied = world.app.clock.now();
  world.app.clock.advance_ms(2 * kDayMs);
  world.pay();
  world.write();
  world.keep();
  const Timestamp until = world.proof().restored_to;
  REQUIRE(until > copied);
  constexpr int emptied = 0;
  constexpr int older = 1;
  constexpr int no_log = 2;
  const int lost = GENERATE(0, 1, 2);
  CAPTURE(lost);
  world.restart_after([&] {
    if (lost == no_log) {
      for (const std::string& path : world.objects("/log/")) fs::remove(path);
      return;
    }
    fs::remove_all(world.folder());
    if (lost == older) fs::rename(world.place.file("old"), world.folder());
    if (lost == emptied) fs::create_directory(world.folder());
  });
  world.app.clock.advance_ms(1'000);
  world.write();
  const std::string said = world.facts().proof_fault;
  if (lost == no_log) {
    CHECK(said.empty());  // the last snapshot has it
  } else {
    CHECK(has(said, lost == older ? "ends at " + copied.to_string() : "has no snapshot"));
    CHECK(has(said, "until " + until.to_string()));
    CHECK(world.conditions().back() == AlertCondition::restore_unproven);
  }
  if (lost != emptied) CHECK(world.facts().archive_problem.empty());  // not known yet
  REQUIRE(world.archiving().keep().value());
  CHECK(world.facts().archive_problem.empty());
  world.app.restart();
  world.write();
  CHECK(world.facts().proof_fault == said);
  world.keep();
  const auto proven =
      flows::prove_archive(world.app.flows(), *world.archive(), 0, [](auto&&...) {});
  REQUIRE(proven);
  CHECK(world.conditions().empty());
  world.write();
  world.check_equal();
}

TEST_CASE("archive: after a gap, it says from when on nothing can be restored") {
  World world;
  world.begin();
  world.pay();
  world.write();
  const Timestamp before = world.app.clock.now();
  world.app.clock.advance_ms(1'000);
  world.restart_after([&] { world.app.register_association(); });
  world.pay();
  world.archiving().start([] { return true; });  // no snapshot gets complete
  const std::string expected = store::gap_text(before);
  CHECK(has(expected, "Moments after " + before.to_string()));
  for (int tried = 0; tried < 1'000 && world.facts().archive_problem.empty(); ++tried) rest(10);
  CHECK(world.facts().archive_problem == expected);
  CHECK(world.conditions() == Conditions{AlertCondition::archive_behind});
  world.app.restart();
  world.begin();
  CHECK(world.facts().archive_problem.empty());
  CHECK(world.conditions().empty());
}

TEST_CASE("archive: of two histories, a restore names the one that it leaves out") {
  World world;
  world.begin();
  world.pay();
  world.write();
  const std::string copy = world.place.file("copy.db");
  world.restored();
  fs::copy_file(world.target(), copy);
  world.app.clock.advance_ms(1'000);
  world.pay();
  world.write();
  const Timestamp end = world.app.clock.now();
  const std::int64_t number = payments(world.app.config().db);
  world.app.clock.advance_ms(1'000);
  const std::string served = world.app.config().db;
  world.app.restart([&](Config& config) { config.db = copy; });
  world.begin();
  const auto done = world.restore();
  REQUIRE(done);
  CHECK(payments(world.target()) == number - 1);
  CHECK(done->rebuilt->other_until == end);
  CHECK(done->rebuilt->other_run.size() == 8);
  world.restored(end);
  CHECK(payments(world.target()) == number);
  world.app.restart([&](Config& config) { config.db = served; });
}

TEST_CASE("archive: files of other programs are left alone") {
  World world;
  world.begin();
  for (int day = 0; day < 3; ++day) {
    world.pay();
    world.write();
    world.app.clock.advance_ms(kDayMs);
    world.keep();
  }
  const std::string ledger = fs::directory_iterator(world.folder())->path();
  std::vector<std::string> strays;
  for (const char* name :
       {"/foo", "/log/foo", "/log/000000000/foo", "/log/000000000/1", "/log/000000000/0001",
        "/log/0/001", "/log/7", "/snapshots/foo", "/snapshots/1-2", "/snapshots/000000000001",
        "/snapshots/999999999999-999999999999x", "/parts/foo/000000", "/parts/000000000001-1/0",
        "/heads/foo", "/heads/1", "/heads/999999999999x"}) {
    fs::create_directories(fs::path(ledger + name).parent_path());
    std::ofstream(ledger + name) << "foreign";
    strays.push_back(ledger + name);
  }
  std::ofstream(world.folder() + "/README") << "foreign";
  world.pay();
  world.write();
  world.check_equal();
  world.app.restart();
  world.pay();
  world.write();
  world.app.clock.advance_ms(kDayMs);
  world.keep();
  world.write();
  world.check_equal();
  REQUIRE(store::drop_before(*world.archive(), world.app.clock.now(), [] {}));
  world.write();
  world.check_equal();
  for (const std::string& path : strays) CHECK(fs::exists(path));
}

TEST_CASE("archive: a stop does not wait for a store that does not respond") {
  Receiver store;
  store.otherwise({.kind = Behaviour::Kind::silent});
  World world([&](Config& config) {
    config.archive = "s3://bucket";
    config.archive_endpoint = "http://127.0.0.1:" + std::to_string(store.port());
    config.archive_access_key = "KEY";
    config.archive_secret_key = Secret("secret");
  });
  world.archiving().start([] { return false; });
  REQUIRE(store.wait_for(1));
  Background& background = world.app.core().background();
  const SystemClock clock;
  Result<void> kept;
  std::int64_t kept_ms = 0;
  const Thread other("other", [&] {  // as a proof, a snapshot, a head or a command does
    kept = world.archive()->check_key();
    kept_ms = clock.monotonic_ms();
  });
  REQUIRE(store.wait_for(2));
  const std::int64_t began_ms = clock.monotonic_ms();
  background.drain();
  world.archiving().stop();
  world.archiving().finish();
  CHECK(clock.monotonic_ms() - began_ms < 6'000);
  CHECK_FALSE(kept);
  CHECK(kept_ms - began_ms < 1'000);
}

TEST_CASE("archive: copies of killed processes are removed at a start, and no other files") {
  World world;
  const std::string database = world.app.config().db;
  const std::vector<std::string> left{database + ".copy-proof.coffer.partial",
                                      database + ".copy-archive.coffer.partial",
                                      database + ".copy-verify.coffer.partial"};
  const std::vector<std::string> kept{database + ".mine.coffer.partial",
                                      world.place.file("x.copy-proof.coffer.partial")};
  for (const auto& list : {left, kept}) {
    for (const std::string& path : list) std::ofstream(path) << "left";
  }
  std::ofstream(left.front() + "-wal") << "left";
  flows::drop_left_copies(world.app.flows());
  for (const std::string& path : left) CHECK_FALSE(fs::exists(path));
  CHECK_FALSE(fs::exists(left.front() + "-wal"));
  for (const std::string& path : kept) CHECK(fs::exists(path));
  fs::remove(kept.front());
}

}  // namespace archive_test
