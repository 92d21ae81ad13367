// Checkpoints that are kept in files and at URLs.
#include "outbound/operations/witness.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/listener.h"
#include "support/receiver.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::outbound;
using namespace coffer::test;

namespace witness_test {
namespace {

using Folder = store::test::TemporaryFolder;

std::string content_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

struct World {
  http::Client client{""};
  CaresResolver resolver;
  TargetGuard guard{resolver, AllowedTargets::parse({"127.0.0.1"}).value()};

  std::vector<std::string> write(std::vector<std::string> targets, const std::string& line) {
    return Witnesses(std::move(targets), client, resolver).write(line);
  }
};

}  // namespace

TEST_CASE("witness: a file gets each line once, and only its owner can read it") {
  World world;
  const Folder folder;
  const std::string path = folder.file("points");
  CHECK(world.write({path}, "one").empty());
  CHECK(world.write({path}, "two").empty());
  CHECK(content_of(path) == "one\ntwo\n");
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
}

TEST_CASE("witness: a URL gets the line as text") {
  World world;
  Receiver receiver;
  CHECK(world.write({receiver.url("/points")}, "one").empty());
  const auto received = receiver.received();
  REQUIRE(received.size() == 1);
  CHECK(received[0].target == "/points");
  CHECK(received[0].header("Content-Type") == "text/plain");
  CHECK(received[0].body == "one\n");
}

TEST_CASE("witness: each failed target is named, and the others have the line") {
  World world;
  const Folder folder;
  Receiver receiver;
  receiver.otherwise({.status = 500});
  const std::string link = folder.file("link");
  std::filesystem::create_symlink(folder.file("elsewhere"), link);
  const std::string missing = folder.path() + "/missing/points";
  const std::string good = folder.file("points");
  const auto faults =
      world.write({missing, link, folder.path(), "/dev/full", receiver.url(), good}, "one");
  REQUIRE(faults.size() == 5);
  CHECK(faults[0] == missing + ": No such file or directory");
  CHECK(faults[1].starts_with(link + ": "));
  CHECK(faults[2] == folder.path() + ": Is a directory");
  CHECK(faults[3] == "/dev/full: No space left on device");
  CHECK(faults[4] == receiver.url() + ": the response has status 500");
  CHECK(content_of(good) == "one\n");
  CHECK_FALSE(std::filesystem::exists(folder.file("elsewhere")));
}

TEST_CASE("witness: a target is an absolute path, or a URL of a verified host") {
  for (const char* good : {"/mnt/other/points", "https://witness.example/points",
                           "http://127.0.0.1:9/points", "http://localhost/points"}) {
    CHECK(check_witness(good).empty());
  }
  for (const char* bad : {"points", "http://witness.example/points", "https://", "ftp://x/y"}) {
    INFO(bad);
    CHECK_FALSE(check_witness(bad).empty());
  }
}

TEST_CASE("witness: text at a URL is fetched completely or not at all") {
  World world;
  Receiver receiver;
  receiver.otherwise({.body = "a\nb\n"});
  CHECK(fetch_text(receiver.url(), world.client, world.guard).value() == "a\nb\n");
  const TargetGuard strict(world.resolver, AllowedTargets::parse({}).value());
  const auto refused = fetch_text(receiver.url(), world.client, strict);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().slug == Slug::webhook_target_refused);
  CHECK(receiver.received().size() == 1);
  for (const Behaviour& bad :
       {Behaviour{.status = 404}, Behaviour{.kind = Behaviour::Kind::close_early},
        Behaviour{.body = std::string(1'100'000, 'x')},
        Behaviour{.kind = Behaviour::Kind::reset}}) {
    receiver.script({bad});
    CHECK_FALSE(fetch_text(receiver.url(), world.client, world.guard));
  }
}

}  // namespace witness_test
