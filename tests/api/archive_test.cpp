// What can be restored from the archive of a file (docs/operating.md#archive).
#include "api/archive_world.h"

namespace coffer::test::archive_test {

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
  const Timestamp before = world.begin_with_payment();
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

}  // namespace coffer::test::archive_test
