// coffer sandbox: the clock of a demo (docs/sandbox.md#time).
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "base/platform/exit_code.h"
#include "cli/demo/demo_secrets.h"
#include "cli/demo/demo_seed.h"
#include "unit/cli/admin_browser.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;

namespace sandbox_test {
namespace {

using Values = std::map<std::string, std::string>;

struct DemoFile : OpenFile {
  DemoFile() {
    REQUIRE(claim_demo(path()));
    world = ensure_demo_world(app()).value();
  }
  Timestamp now() { return app().queue().now(); }

  DemoWorld world;
};

std::vector<std::pair<std::string, Values>> all_commands() {
  return {{"sandbox clock", {}}, {"sandbox advance", {{"DURATION", "1h"}}}};
}

}  // namespace

TEST_CASE("sandbox: every command rejects a file that coffer demo has not created", "[cli]") {
  OpenFile file;
  SECTION("a production file") {}
  SECTION("a production file beside the secrets of a demo") { REQUIRE(claim_demo(file.path())); }
  SECTION("a demo whose secrets are gone") {
    REQUIRE(claim_demo(file.path()));
    REQUIRE(ensure_demo_world(file.app()));
    std::filesystem::remove(demo_secrets_path(file.path()));
  }
  const Timestamp before = file.app().queue().now();
  const auto listed = all_commands();
  CHECK(std::count_if(commands().begin(), commands().end(), [](const Command& each) {
          return each.demo_only;
        }) == static_cast<std::ptrdiff_t>(listed.size()));
  for (const auto& [command, values] : listed) {
    INFO(command);
    const Ran ran = file.run(command, values);
    CHECK(ran.code == exit_code::kFailed);
    CHECK(ran.out.empty());
    CHECK(ran.err.find("is not a demo file and is unchanged") != std::string::npos);
  }
  CHECK(file.app().queue().now() == before);
}

TEST_CASE("sandbox advance: moves the time of the records by the given duration", "[cli]") {
  DemoFile demo;
  Timestamp expected = demo.now();
  for (const auto& [text, ms] : std::map<std::string, std::int64_t>{
           {"90s", 90'000}, {"15m", 900'000}, {"2h", 7'200'000}, {"3d", 3 * kDayMs}}) {
    INFO(text);
    expected = expected.plus_ms(ms);
    const Ran ran = demo.run("sandbox advance", {{"DURATION", text}});
    REQUIRE(ran.code == 0);
    CHECK(demo.now() == expected);
    CHECK(ran.json().at("now") == expected.to_string());
  }
  const auto shown = demo.run("sandbox clock").json();
  CHECK(shown.at("now") == expected.to_string());
  CHECK(shown.at("advancedMs") == 90'000 + 900'000 + 7'200'000 + 3 * kDayMs);
  CHECK(demo.run("verify").code == 0);
}

TEST_CASE("sandbox advance: rejects invalid and excessive durations", "[cli]") {
  DemoFile demo;
  const Timestamp before = demo.now();
  for (const char* text : {"", "2", "h", "-1h", "0s", "1.5h", "2H", "2hh", "1h30m", "367d", " 2h",
                           "99999999999999999999s", "9223372036854775807d"}) {
    INFO(text);
    CHECK(demo.run("sandbox advance", {{"DURATION", text}}).code != 0);
  }
  CHECK(demo.now() == before);
  for (int year = 0; year < 10; ++year) {
    REQUIRE(demo.run("sandbox advance", {{"DURATION", "366d"}}).code == 0);
  }
  const Ran rejected = demo.run("sandbox advance", {{"DURATION", "1s"}});
  CHECK(rejected.code == exit_code::kFailed);
  CHECK(rejected.err.find("3,660 days") != std::string::npos);
  CHECK(demo.now() == before.plus_ms(3'660 * kDayMs));
}

TEST_CASE("sandbox advance: a restart continues with the advanced time", "[cli]") {
  DemoFile demo;
  const Timestamp before = demo.now();
  REQUIRE(demo.run("sandbox advance", {{"DURATION", "30d"}}).code == 0);
  demo.reopen();
  CHECK(demo.now() == before.plus_ms(30 * kDayMs));
  CHECK(demo.app().background().health().details.empty());
  CHECK(demo.run("sandbox clock").json().at("advancedMs") == 30 * kDayMs);
}

TEST_CASE("admin: the page offers the sandbox commands only for a demo", "[cli][admin]") {
  cli::test::Site site;
  site.add("ada", OperatorRole::administrator);
  cli::test::Browser ada(site.site);
  REQUIRE(ada.sign_in("ada", cli::test::kPassword) == 204);
  const auto offers = [&] {
    return ada.get("/admin/api/commands").body.find("sandbox advance") != std::string::npos;
  };
  CHECK_FALSE(offers());
  CHECK(ada.post("/admin/api/run/sandbox/advance", {{"DURATION", "1h"}}).status == 409);
  CHECK(site.acts("sandbox advance", "done").empty());
  REQUIRE(claim_demo(site.file.path()));
  REQUIRE(ensure_demo_world(site.file.app()));
  CHECK(offers());
  CHECK(ada.post("/admin/api/run/sandbox/advance", {{"DURATION", "1h"}}).status == 200);
  CHECK(site.acts("sandbox advance", "done").size() == 1);
}

}  // namespace sandbox_test
