// The stores of an archive, with servers that others wrote: OpenStack Swift, and s3rver.
#include "flows/operations/archive_store.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>

#include "source_dir.h"
#include "store/archive/segments.h"
#include "store/replication/spool_log.h"
#include "unit/store/archive/object_store_conformance.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::flows;
using coffer::store::EntryChain;
using coffer::store::EntryKind;
using coffer::store::LogEntry;
using namespace coffer::store::test;

namespace archive_store_test {
namespace {

/// A server that prints its port and ends with its standard input.
class ForeignStore {
 public:
  ForeignStore(const std::string& command, const char* its_access_key, const char* its_secret_key)
      : access_key(its_access_key), secret_key(its_secret_key) {
    const std::string port = folder_.file("port");
    REQUIRE(::mkfifo(port.c_str(), 0600) == 0);
    const std::string line = "exec " + command + " > " + port;
    pipe_ = ::popen(line.c_str(), "we");
    REQUIRE(pipe_ != nullptr);
    std::ifstream(port) >> port_;
  }
  ~ForeignStore() { ::pclose(pipe_); }
  ForeignStore(const ForeignStore&) = delete;
  ForeignStore& operator=(const ForeignStore&) = delete;

  /// 0 if this machine does not have it.
  int port() const { return port_; }
  const std::string access_key;
  const std::string secret_key;
  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

  static std::string source(const std::string& path) {
    return std::string(COFFER_SOURCE_DIR) + "/tests/" + path;
  }

 private:
  const TemporaryFolder folder_;
  FILE* pipe_ = nullptr;
  int port_ = 0;
};

struct Swift : ForeignStore {
  explicit Swift(const TemporaryFolder& folder, const std::string& how = "")
      : ForeignStore(source("support/swift_store.py ") + folder.path() + ' ' + how, "test:tester",
                     "testing") {}
};
struct S3rver : ForeignStore {
  explicit S3rver(const TemporaryFolder& folder)
      : ForeignStore("node " + source("interop/s3rver_store.mjs ") + folder.path(), "S3RVER",
                     "S3RVER") {}
};

bool is_missing(const ForeignStore& store) {
  if (store.port() == 0) WARN("A store is not installed; run ./dev setup");
  return store.port() == 0;
}

struct World {
  outbound::ArchiveSettings settings(const ForeignStore& store, const std::string& prefix) const {
    return {.url = "s3://archive/" + prefix,
            .endpoint = store.endpoint(),
            .keys = {.access_key = store.access_key, .secret_key = Secret(store.secret_key)}};
  }
  std::unique_ptr<ObjectStore> open(const outbound::ArchiveSettings& settings) {
    auto opened = open_object_store(settings, {client, resolver, clock});
    INFO((opened ? "" : opened.error().detail));
    REQUIRE(opened);
    return *std::move(opened);
  }

  /// What a server says that begins to archive there.
  Result<void> begin(const outbound::ArchiveSettings& settings) {
    const Secret root(std::string(32, 'k'));
    store::Archive archive(open(settings), root, root, random);
    store::SpoolLog log;
    const LogEntry entry = EntryChain(archive.keys(), {}).append(EntryKind::takeover, "", random);
    log.append({&entry, 1}, [] {});
    return store::SegmentWriter(archive, log, random, clock).step(true);
  }

  SystemClock clock;
  OsRandom random;
  http::Client client{"", http::Client::Connections::keep};
  outbound::CaresResolver resolver;
};

}  // namespace

TEST_CASE("archive store: Swift conforms, and is accepted") {
  const TemporaryFolder folder;
  const Swift swift(folder, "conditional");
  if (is_missing(swift)) return;
  World world;
  int number = 0;
  for (const StoreCase& one : kStoreCases) {
    INFO(one.name);
    const auto settings = world.settings(swift, "case/" + std::to_string(++number));
    const auto first = world.open(settings);
    const auto second = world.open(settings);
    one.run(*first, *second);
  }
  check_pages(*world.open(world.settings(swift, "pages")), 45);
  for (int start = 0; start < 2; ++start) {
    const auto begun = world.begin(world.settings(swift, "archived"));
    INFO((begun ? "" : begun.error().detail));
    CHECK(begun);
  }

  auto wrong = world.settings(swift, "wrong");
  wrong.keys.secret_key = Secret("another");
  const auto refused = world.open(wrong)->put("a", "b");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().detail ==
        "s3://archive: PUT wrong/a: status 403 SignatureDoesNotMatch. Check archive_access_key and "
        "archive_secret_key.");
  auto other = world.settings(swift, "other");
  other.url = "s3://missing";
  const auto missing = world.open(other)->get("a", 10);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().detail ==
        "s3://missing: GET a: status 404 NoSuchBucket. Create the bucket.");
}

TEST_CASE("archive store: a clock that differs from that of the store") {
  const TemporaryFolder folder;
  const Swift swift(folder, "conditional");
  if (is_missing(swift)) return;
  World world;
  const ManualClock behind(world.clock.now().plus_ms(-kHourMs));
  const auto objects =
      open_object_store(world.settings(swift, "x"), {world.client, world.resolver, behind}).value();
  const auto refused = objects->put("a", "b");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().detail.find("RequestTimeTooSkewed. The clocks of this machine and of the "
                                    "store differ: set the clock.") != std::string::npos);
}

TEST_CASE("archive store: stores that replace objects are refused") {
  World world;
  const auto said_of = [&](const ForeignStore& store) {
    const auto begun = world.begin(world.settings(store, "ledger"));
    REQUIRE_FALSE(begun);
    return begun.error().detail;
  };
  const TemporaryFolder folder;
  const Swift swift(folder);
  if (!is_missing(swift)) {
    CHECK(said_of(swift).find("status 501 NotImplemented. The store cannot refuse to replace an "
                              "object: choose another one.") != std::string::npos);
  }
  const S3rver s3rver(folder);
  if (is_missing(s3rver)) return;
  CHECK(said_of(s3rver).find("replaces objects") != std::string::npos);
}

TEST_CASE("archive store: a folder is accepted, and needs no key") {
  World world;
  const TemporaryFolder folder;
  CHECK_FALSE(world.begin({.url = "file://" + folder.path() + "/archive"}));
  std::filesystem::create_directory(folder.path() + "/archive");
  for (int start = 0; start < 2; ++start) {
    CHECK(world.begin({.url = "file://" + folder.path() + "/archive"}));
  }
}

TEST_CASE("archive store: settings that name no place") {
  World world;
  for (const char* url : {"", "s3://b", "s3://bucket"}) {
    INFO(url);
    const auto opened =
        open_object_store({.url = url}, {world.client, world.resolver, world.clock});
    REQUIRE_FALSE(opened);
    CHECK(opened.error().slug == Slug::validation_failed);
  }
}

}  // namespace archive_store_test
