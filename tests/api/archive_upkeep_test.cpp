// What a server does for its archive beside the log: retention, restore tests, what it says of
// faults, and its end (docs/operating.md#archive).
#include "api/archive_world.h"

namespace coffer::test::archive_test {
namespace {

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

}  // namespace

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
  const Timestamp before = world.begin_with_payment();
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
  const Timestamp before = world.begin_with_payment();
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

}  // namespace coffer::test::archive_test
