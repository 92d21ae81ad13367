// The folder as an object store, and what holds for every store.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files/durable_file.h"
#include "store/archive/folder_store.h"
#include "unit/store/archive/object_store_conformance.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace object_store_test {
namespace {

namespace fs = std::filesystem;

int mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return static_cast<int>(status.st_mode & 07777);
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) out.push_back(entry.path());
  }
  return out;
}

}  // namespace

TEST_CASE("folder store: conforms") {
  for (const StoreCase& one : kStoreCases) {
    INFO(one.name);
    const TemporaryFolder folder;
    fs::create_directories(folder.path() + "/archive/of ledger");
    FolderStore a(folder.path() + "/archive/of ledger");
    FolderStore b(folder.path() + "/archive/of ledger");
    one.run(a, b);
  }
}

TEST_CASE("folder store: a list in several answers") {
  const TemporaryFolder folder;
  FolderStore store(folder.path());
  check_pages(store, 2'005);
  CHECK(store.list("n/", "")->size() == 1'000);
}

TEST_CASE("folder store: files are private, and folders that are empty go") {
  const TemporaryFolder folder;
  const std::string root = folder.path() + "/archive";
  FolderStore store(root);
  const auto missing = store.put("a/b/c", "x");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().detail == "The folder " + root +
                                      " of the archive does not exist. Create it, or mount its "
                                      "disk.");
  CHECK_FALSE(fs::exists(root));
  fs::create_directory(root);
  REQUIRE(store.put("a/b/c", "x"));
  CHECK(mode_of(root + "/a/b") == 0700);
  CHECK(mode_of(root + "/a/b/c") == 0600);
  CHECK(files_in(root).size() == 1);
  REQUIRE(store.put("a/d", "x"));
  REQUIRE(store.remove("a/b/c"));
  CHECK_FALSE(fs::exists(root + "/a/b"));
  CHECK(fs::exists(root + "/a"));
  REQUIRE(store.remove("a/d"));
  CHECK_FALSE(fs::exists(root + "/a"));
  CHECK(fs::exists(root));
}

TEST_CASE("folder store: a folder that does not exist is not an empty store") {
  const TemporaryFolder folder;
  FolderStore store(folder.path() + "/other");
  const auto listed = store.list("", "");
  REQUIRE_FALSE(listed);
  CHECK(listed.error().slug == Slug::provider_unavailable);
  CHECK(listed.error().detail.find("does not exist") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.path() + "/other"));
}

TEST_CASE("folder store: what is not an object is not listed") {
  const TemporaryFolder folder;
  FolderStore store(folder.path());
  REQUIRE(store.put("a", "x"));
  std::ofstream(folder.path() + "/.put1.coffer.partial") << "left by a killed process";
  std::ofstream(folder.path() + "/with space") << "foreign";
  fs::create_symlink(folder.path(), folder.path() + "/again");
  const auto listed = store.list("", "");
  REQUIRE(listed);
  REQUIRE(listed->size() == 1);
  CHECK(listed->front().name == "a");
  REQUIRE(store.put("b", "y"));
  CHECK_FALSE(fs::exists(folder.path() + "/.put1.coffer.partial"));
}

TEST_CASE("folder store: a name that is being written does not stop others") {
  const TemporaryFolder folder;
  FolderStore store(folder.path());
  std::vector<PartialFile> others;
  for (int place = 1; place <= 16; ++place) {
    if (place == 16) CHECK(store.put("a", "x"));
    auto other = PartialFile::create(folder.path() + "/.put" + std::to_string(place));
    REQUIRE(other);
    others.push_back(*std::move(other));
  }
  const auto refused = store.put("b", "x");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().slug == Slug::overloaded);
}

TEST_CASE("folder store: a second name of an object, left by a kill, is no place to write to") {
  const TemporaryFolder folder;
  FolderStore store(folder.path());
  REQUIRE(store.put("a", "content"));
  REQUIRE(::link((folder.path() + "/a").c_str(),
                 (folder.path() + "/.put1.coffer.partial").c_str()) == 0);
  REQUIRE(store.put("b", "other"));
  CHECK(store.get("a", 100).value() == "content");
  CHECK(store.get("b", 100).value() == "other");
}

TEST_CASE("folder store: of many writers of one name, one stores") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() + "/archive");
  for (int round = 0; round < 20; ++round) {
    const std::string name = "round/" + std::to_string(round);
    std::atomic<int> stored{0};
    std::atomic<int> existing{0};
    std::vector<std::thread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([&, writer] {
        FolderStore store(folder.path() + "/archive");
        const auto done = store.put(name, std::string(10'000, static_cast<char>('a' + writer)));
        if (done) ++(*done == PutResult::stored ? stored : existing);
      });
    }
    for (std::thread& writer : writers) writer.join();
    CHECK(stored == 1);
    CHECK(existing == 3);
    FolderStore store(folder.path() + "/archive");
    const auto content = store.get(name, 10'000);
    REQUIRE(content);
    CHECK(*content == std::string(10'000, content->front()));
  }
}

}  // namespace object_store_test
