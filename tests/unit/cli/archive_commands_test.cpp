// coffer archive, and coffer restore --from (docs/operating.md#archive).
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files/durable_file.h"
#include "base/platform/exit_code.h"
#include "base/thread.h"
#include "flows/operations/checkpoint_rounds.h"
#include "support/receiver.h"
#include "unit/cli/own_command.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::Folder;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::cli::test::run_own;

namespace archive_commands_test {
namespace {

namespace fs = std::filesystem;
using coffer::cli::test::content_of;
using coffer::cli::test::put;

struct Archived {
  Folder folder;
  std::string url = "file://" + folder.file("archive");
  OpenFile file{[this](Config& config) {
    std::filesystem::create_directory(folder.file("archive"));
    config.archive = url;
  }};

  Archived() {
    REQUIRE(file.run("association create", {{"NAME", "Acme"}}).code == 0);
    REQUIRE(file.app().background().archiving().write(true));
    REQUIRE(file.app().background().archiving().keep().value());
    REQUIRE(file.app().background().archiving().write(true));
  }
  Archiving& archiving() { return file.app().background().archiving(); }
  void sign_head() {
    const auto line = flows::make_checkpoint(file.app().flows(), [] { return true; });
    REQUIRE(line);
    REQUIRE(archiving().write(true));
    REQUIRE(archiving().head_keeper()(file.app().flows().clock.now(), *line));
  }
  Ran restore(std::map<std::string, std::string> values, const std::string& name = "restored.db",
              ConfigFlags flags = {}) {
    values.emplace("from", url);
    flags.emplace("db", folder.file(name));
    flags.emplace("master_key_file", file.app().config().master_key_file);
    return run_own("restore", values, flags);
  }
  /// The last object of a kind.
  std::string object(const std::string& kind) const {
    std::string out;
    for (const auto& at : fs::recursive_directory_iterator(folder.file("archive"))) {
      const std::string path = at.path();
      if (at.is_regular_file() && path.find(kind) != std::string::npos) out = std::max(out, path);
    }
    REQUIRE_FALSE(out.empty());
    return out;
  }
};

void damage(const std::string& path) { put(path, content_of(path) + "x"); }

}  // namespace

TEST_CASE("archive commands: the state and a proof, with 3 if the archive is damaged", "[cli]") {
  Archived world;
  const auto state = world.file.run("archive status").json();
  CHECK(state.at("archive") == world.url);
  CHECK(state.at("snapshots") == 1);
  CHECK(state.at("behindSeconds") == 0);
  CHECK(state.at("oldestMoment") == "2026-01-01T00:00:00.000Z");
  CHECK(state.at("provenAt").is_null());
  CHECK(state.at("problem").is_null());
  const Ran proof = world.file.run("archive prove");
  CHECK(proof.code == 0);
  CHECK(proof.json().at("provenAt") == "2026-01-01T00:00:00.000Z");
  std::filesystem::remove_all(world.folder.file("archive"));
  const Ran failed = world.file.run("archive prove");
  CHECK(failed.code == exit_code::kFault);
  CHECK(failed.out.find("does not exist") != std::string::npos);
  CHECK(world.file.run("overview").out.find("restore_unproven") != std::string::npos);
}

TEST_CASE("archive commands: without an archive, they name the setting", "[cli]") {
  OpenFile file;
  const Ran state = file.run("archive status");
  CHECK(state.code != 0);
  CHECK(state.err.find("Set archive") != std::string::npos);
  CHECK(state.err.find("Set archive") == state.err.rfind("Set archive"));
}

TEST_CASE("restore --from: the last state or a moment, and only with sensible arguments", "[cli]") {
  Archived world;
  const Ran whole = world.restore({});
  INFO(whole.err);
  REQUIRE(whole.code == 0);
  CHECK(whole.json().at("restoredTo") == "2026-01-01T00:00:00.000Z");
  CHECK(whole.json().at("checked") == "all invariants hold");
  CHECK(std::filesystem::exists(world.folder.file("restored.db")));
  const Ran again = world.restore({});
  CHECK(again.code == exit_code::kCannotCreate);
  const Ran before = world.restore({{"at", "2025-12-31T00:00:00Z"}}, "before.db");
  CHECK(before.err.find("nothing before 2025-12-31T00:00:00.000Z") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(world.folder.file("before.db")));
  CHECK(world.restore({{"at", "soon"}}, "before.db").err.find("is not a date or time") !=
        std::string::npos);
  CHECK(world.restore({{"BACKUP", "x.db"}}, "before.db").err.find("--from URL") !=
        std::string::npos);
  const Ran at_only = run_own("restore", {{"BACKUP", "x.db"}, {"at", "2026-01-01"}},
                              {{"db", world.folder.file("before.db")}});
  CHECK(at_only.err.find("--from URL") != std::string::npos);
  CHECK(run_own("restore", {}).err.find("--from URL") != std::string::npos);
}

TEST_CASE("archive commands: the exit code says what is wrong with an archive", "[cli]") {
  struct Row {
    const char* cause;
    void (*change)(Archived&);
    int restored;
    int proven;
    int verified;
  };
  using namespace exit_code;
  const Row rows[] = {
      {"nothing", [](Archived&) {}, kDone, kDone, kDone},
      {"a damaged part", [](Archived& world) { damage(world.object("/parts/")); }, kFault, kFault,
       kDone},
      {"a damaged snapshot", [](Archived& world) { damage(world.object("/snapshots/")); }, kFault,
       kFault, kDone},
      {"a damaged segment", [](Archived& world) { damage(world.object("/log/")); }, kFault, kFault,
       kFault},
      {"a damaged head", [](Archived& world) { damage(world.object("/heads/")); }, kFault, kFault,
       kFault},
      {"a missing part", [](Archived& world) { fs::remove(world.object("/parts/")); }, kFault,
       kFault, kDone},
      {"another master key",
       [](Archived& world) {
         const std::string ledger = fs::path(world.object("/heads/")).parent_path().parent_path();
         fs::rename(ledger, fs::path(ledger).parent_path() / std::string(32, 'f'));
       },
       kPermission, kFault, kDone},
      {"an empty archive",
       [](Archived& world) {
         fs::remove_all(world.folder.file("archive"));
         fs::create_directory(world.folder.file("archive"));
       },
       kFailed, kFault, kDone},
      {"no folder", [](Archived& world) { fs::remove_all(world.folder.file("archive")); },
       kUnreachable, kFault, kDone},
  };
  for (const Row& row : rows) {
    INFO(row.cause);
    Archived world;
    world.sign_head();
    row.change(world);
    const Ran restored = world.restore({});
    INFO(restored.err);
    CHECK(restored.code == row.restored);
    CHECK(fs::exists(world.folder.file("restored.db")) == (row.restored == kDone));
    CHECK(world.file.run("verify").code == row.verified);
    CHECK(world.file.run("archive prove").code == row.proven);
  }
  Archived world;
  CHECK(world.restore({{"at", "2025-12-31T00:00:00Z"}}).code == kFailed);
  put(world.folder.file("secret"), "secret");
  coffer::test::Receiver store;
  store.otherwise({.status = 403, .body = "<Error><Code>AccessDenied</Code></Error>"});
  const auto from_bucket = [&](int port) {
    return world.restore({{"from", "s3://bucket"}}, "restored.db",
                         {{"archive_endpoint", "http://127.0.0.1:" + std::to_string(port)},
                          {"archive_access_key", "KEY"},
                          {"archive_secret_key_file", world.folder.file("secret")}});
  };
  CHECK(from_bucket(store.port()).code == kPermission);
  CHECK(from_bucket(1).code == kUnreachable);
}

TEST_CASE("archive commands: verify says what it has compared the file with", "[cli]") {
  Archived world;
  const auto said = [&] { return world.file.run("verify", {}, false).out; };
  CHECK(said().find("the archive has none") != std::string::npos);
  CHECK(world.file.run("verify").json().at("checkpoint") == false);
  world.sign_head();
  CHECK(said().find("the file is not older than the archive knows") != std::string::npos);
  CHECK(said().find("would not be detected") == std::string::npos);
  CHECK(world.file.run("verify").json().at("checkpoint") == true);
  REQUIRE(world.file.run("archive prove").code == 0);
  fs::rename(world.folder.file("archive"), world.folder.file("away"));
  CHECK(said().find("not compared with the archive: The folder") != std::string::npos);
  fs::create_directory(world.folder.file("archive"));
  CHECK(said().find("The archive has no snapshot") != std::string::npos);
  const auto state = world.file.run("archive status").json();
  CHECK(std::string(state.at("problem")).find("The archive has no snapshot") == 0);
}

TEST_CASE("archive commands: a restored backup is compared with the archive", "[cli]") {
  Archived world;
  const std::string backup = world.folder.file("backup.db");
  REQUIRE(world.file.run("backup", {{"FILE", backup}}).code == 0);
  const auto said = [&](const std::string& name) {
    return run_own("restore", {{"BACKUP", backup}},
                   {{"db", world.folder.file(name)},
                    {"archive", world.url},
                    {"master_key_file", world.file.app().config().master_key_file}},
                   false)
        .err;
  };
  CHECK(said("a.db").find("The archive has no newer checkpoint.") != std::string::npos);
  REQUIRE(world.file.run("association create", {{"NAME", "Later"}}).code == 0);
  world.sign_head();
  CHECK(said("b.db").find("Use coffer restore --from " + world.url) != std::string::npos);
  fs::remove_all(world.folder.file("archive"));
  CHECK(said("c.db").find("was not compared with the archive: The folder") != std::string::npos);
}

TEST_CASE("archive commands: a proof waits for the one that runs", "[cli]") {
  Archived world;
  std::optional<PartialFile> running;
  running.emplace(*PartialFile::create(world.file.app().config().db + ".copy-proof"));
  const Thread other("other", [&] {
    rest(700);
    running.reset();
  });
  CHECK(world.file.run("archive prove").code == 0);
}

}  // namespace archive_commands_test
