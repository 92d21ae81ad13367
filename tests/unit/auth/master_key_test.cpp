#include "auth/master_key.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>

#include "base/digest.h"

using namespace coffer;
using namespace coffer::auth;
namespace fs = std::filesystem;

namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "coffer-key-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryDirectory() { fs::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string counting_bytes() {
  std::string bytes(MasterKey::kBytes, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  return bytes;
}

MasterKey counting_key() { return *parse_master_key(counting_bytes(), "the test"); }

void write(const fs::path& path, const std::string& text, mode_t mode) {
  std::ofstream(path, std::ios::binary) << text;
  REQUIRE(::chmod(path.c_str(), mode) == 0);
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

}  // namespace

TEST_CASE("master key: derived keys and check value equal an independent computation") {
  // HKDF-SHA256 of Python's cryptography, and hmac; key 00..1f.
  CHECK(to_hex(counting_key().derive(kTokenLabel).reveal()) ==
        "bed25c551d9d2d627e92082285c4fb1895cf8e68c72e644fa99f05999ba92bf8");
  CHECK(to_hex(counting_key().derive(kSealLabel).reveal()) ==
        "a39f0a930971b0089bb6b0a3e750b91b28cd1a1ea3456dbe3d9b1f753008bb74");
  CHECK(counting_key().fingerprint() == "022a4665d6603230");
}

TEST_CASE("master key: hex in either case, with white space around, or raw bytes") {
  const std::string hex = to_hex(counting_bytes());
  std::string upper = hex;
  for (char& c : upper) {
    if (c >= 'a') c = static_cast<char>(c - 'a' + 'A');
  }
  for (const std::string& text : {hex, upper, hex + "\n", "  " + hex + "\r\n", counting_bytes()}) {
    const auto key = parse_master_key(text, "the test");
    REQUIRE(key);
    CHECK(key->fingerprint() == "022a4665d6603230");
  }
  CHECK(counting_key().to_hex().reveal() == hex);
}

TEST_CASE("master key: an invalid key is rejected with its source but without its text") {
  const std::string hex = to_hex(counting_bytes());
  for (const std::string& text :
       {std::string(), std::string("\n"), hex.substr(1), hex + "0", hex.substr(0, 32),
        std::string("correct horse battery staple ok!"), std::string(64, 'g'),
        counting_bytes() + "\n", std::string(100'000, '0')}) {
    INFO(text);
    const auto key = parse_master_key(text, "COFFER_MASTER_KEY");
    REQUIRE_FALSE(key);
    CHECK(key.error().slug == Slug::validation_failed);
    CHECK(key.error().detail.find("COFFER_MASTER_KEY") != std::string::npos);
    if (text.size() > 8) CHECK(key.error().detail.find(text.substr(0, 8)) == std::string::npos);
  }
}

TEST_CASE("master key file: created once, private, and never changed") {
  const TemporaryDirectory directory;
  SeededRandom random(5);
  const fs::path path = directory.path() / "new" / "deeper" / "master.key";
  const mode_t before = ::umask(0);  // the mode must not depend on the umask
  const auto created = load_or_create_master_key(path, random, MissingKey::create);
  ::umask(before);
  REQUIRE(created);
  CHECK(mode_of(path) == 0600);
  CHECK(mode_of(path.parent_path()) == 0700);
  CHECK(mode_of(path.parent_path().parent_path()) == 0700);
  CHECK(read(path) == created->to_hex().reveal() + "\n");
  CHECK(std::distance(fs::directory_iterator(path.parent_path()), {}) == 1);

  for (const MissingKey missing : {MissingKey::create, MissingKey::refuse}) {
    const auto loaded = load_or_create_master_key(path, random, missing);
    REQUIRE(loaded);
    CHECK(loaded->fingerprint() == created->fingerprint());
  }
}

TEST_CASE("master key file: concurrent creators all get the same key") {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "new" / "master.key";
  constexpr int kProcesses = 8;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child != 0) continue;
    OsRandom random;
    const auto key = load_or_create_master_key(path, random, MissingKey::create);
    if (key) write(directory.path() / std::to_string(i), key->fingerprint(), 0600);
    ::_exit(key ? 0 : 1);
  }
  for (int i = 0; i < kProcesses; ++i) {
    int status = -1;
    REQUIRE(::wait(&status) > 0);
    CHECK(status == 0);
  }
  SeededRandom random(5);
  const auto key = load_or_create_master_key(path, random, MissingKey::refuse);
  REQUIRE(key);
  for (int i = 0; i < kProcesses; ++i) {
    CHECK(read(directory.path() / std::to_string(i)) == key->fingerprint());
  }
  CHECK(std::distance(fs::directory_iterator(path.parent_path()), {}) == 1);
}

TEST_CASE("master key file: what killed processes left is removed, and nothing else") {
  const TemporaryDirectory directory;
  SeededRandom random(5);
  const fs::path path = directory.path() / "new.key";
  const auto file = [&](const char* name) { return directory.path() / name; };
  const std::string content = to_hex(counting_bytes());
  const fs::path live = file("new.key.0123456789abcdef.new");
  const std::vector<fs::path> left = {file("new.key.fedcba9876543210.new"),
                                      file("new.key.00000000000000ff.new")};
  const std::vector<fs::path> others = {
      file("old.key.fedcba9876543210.new"), file("new.key.fedcba9876543210"),
      file("new.key.fedcba987654321x.new"), file("new.key.new"), file("new.key.old")};
  write(live, content.substr(0, 20), 0600);
  for (const auto& paths : {left, others}) {
    for (const fs::path& one : paths) write(one, content.substr(0, 20), 0600);
  }
  const int alive = ::open(live.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::flock(alive, LOCK_EX) == 0);  // as the process that is writing it
  // A key that exists is used; nothing is created, so nothing is removed.
  write(path, content, 0600);
  REQUIRE(load_or_create_master_key(path, random, MissingKey::create));
  for (const fs::path& one : left) CHECK(fs::exists(one));
  fs::remove(path);
  REQUIRE(load_or_create_master_key(path, random, MissingKey::create));
  for (const fs::path& one : left) CHECK_FALSE(fs::exists(one));
  for (const fs::path& one : others) CHECK(fs::exists(one));
  CHECK(fs::exists(live));
  ::close(alive);
}

TEST_CASE("master key file: a raw key of 32 bytes is read") {
  const TemporaryDirectory directory;
  SeededRandom random(5);
  write(directory.path() / "raw", counting_bytes(), 0400);
  const auto key = load_or_create_master_key(directory.path() / "raw", random, MissingKey::refuse);
  REQUIRE(key);
  CHECK(key->fingerprint() == "022a4665d6603230");
}

TEST_CASE("master key file: a missing file is only created if permitted") {
  const TemporaryDirectory directory;
  SeededRandom random(5);
  const fs::path path = directory.path() / "absent" / "master.key";
  const auto key = load_or_create_master_key(path, random, MissingKey::refuse);
  REQUIRE_FALSE(key);
  CHECK(key.error().slug == Slug::not_found);
  CHECK(key.error().detail.find(path.string()) != std::string::npos);
  CHECK_FALSE(fs::exists(path.parent_path()));
}

TEST_CASE("master key file: a file that others can access is rejected and unchanged") {
  const TemporaryDirectory directory;
  SeededRandom random(5);
  const fs::path path = directory.path() / "master.key";
  for (const mode_t mode : {0640, 0604, 0620, 0601, 0644, 0666}) {
    INFO(mode);
    write(path, to_hex(counting_bytes()), mode);
    const auto key = load_or_create_master_key(path, random, MissingKey::create);
    REQUIRE_FALSE(key);
    CHECK(key.error().slug == Slug::forbidden);
    CHECK(key.error().detail.find("chmod 600 " + path.string()) != std::string::npos);
    CHECK(mode_of(path) == mode);
    CHECK(read(path) == to_hex(counting_bytes()));
  }
}

TEST_CASE("master key file: a damaged file is rejected, never overwritten") {
  const TemporaryDirectory directory;
  SeededRandom random(5);
  const fs::path path = directory.path() / "master.key";
  for (const std::string& text : {std::string(), std::string("abc"), std::string(5000, 'a')}) {
    write(path, text, 0600);
    const auto key = load_or_create_master_key(path, random, MissingKey::create);
    REQUIRE_FALSE(key);
    CHECK(key.error().slug == Slug::validation_failed);
    CHECK(key.error().detail.find(path.string()) != std::string::npos);
    CHECK(read(path) == text);
  }
}

TEST_CASE("master key file: a directory, a FIFO and a dangling link are not key files") {
  const TemporaryDirectory directory;
  SeededRandom random(5);
  const fs::path path = directory.path() / "master.key";
  SECTION("directory") { fs::create_directory(path); }
  SECTION("FIFO") { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }
  SECTION("dangling link") { fs::create_symlink(directory.path() / "nowhere", path); }
  CHECK_FALSE(load_or_create_master_key(path, random, MissingKey::create));
  // No incomplete file is left.
  CHECK(std::distance(fs::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE("master key file: the error names a parent that is not a folder") {
  const TemporaryDirectory directory;
  SeededRandom random(5);
  write(directory.path() / "file", "", 0600);
  const fs::path path = directory.path() / "file" / "master.key";
  const auto key = load_or_create_master_key(path, random, MissingKey::create);
  REQUIRE_FALSE(key);
  CHECK(key.error().slug == Slug::unexpected_error);
  CHECK(key.error().detail.find(path.string()) != std::string::npos);
}
