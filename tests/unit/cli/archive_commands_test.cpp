// coffer archive, and coffer restore --from (docs/operating.md#archive).
#include <catch2/catch.hpp>
#include <filesystem>

#include "base/platform/exit_code.h"
#include "unit/cli/own_command.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::Folder;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::cli::test::run_own;

namespace archive_commands_test {
namespace {

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
  Ran restore(std::map<std::string, std::string> values, const std::string& name = "restored.db") {
    values.emplace("from", url);
    return run_own(
        "restore", values,
        {{"db", folder.file(name)}, {"master_key_file", file.app().config().master_key_file}});
  }
};

}  // namespace

TEST_CASE("archive commands: the state and a proof, with 3 if the archive is damaged", "[cli]") {
  Archived world;
  const auto state = world.file.run("archive status").json();
  CHECK(state.at("archive") == world.url);
  CHECK(state.at("snapshots") == 1);
  CHECK(state.at("behindSeconds") == 0);
  CHECK(state.at("oldestMoment") == "2026-01-01T00:00:00.000Z");
  CHECK(state.at("provenAt").is_null());
  const Ran proof = world.file.run("archive prove");
  CHECK(proof.code == 0);
  CHECK(proof.json().at("provenAt") == "2026-01-01T00:00:00.000Z");
  std::filesystem::remove_all(world.folder.file("archive"));
  const Ran failed = world.file.run("archive prove");
  CHECK(failed.code == exit_code::kFault);
  CHECK(failed.out.find("empty") != std::string::npos);
  CHECK(world.file.run("overview").out.find("restore_unproven") != std::string::npos);
}

TEST_CASE("archive commands: without an archive, they name the setting", "[cli]") {
  OpenFile file;
  const Ran state = file.run("archive status");
  CHECK(state.code != 0);
  CHECK(state.err.find("Set archive") != std::string::npos);
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

}  // namespace archive_commands_test
