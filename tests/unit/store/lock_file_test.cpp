#include "store/file/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "base/files/descriptor.h"
#include "store/database.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

/// The number of a process that has ended.
int ended_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  return child;
}

}  // namespace

TEST_CASE("lock file: a process that has ended is not named as its holder") {
  const TemporaryFolder folder;
  const std::string path = folder.file();
  const std::string process = std::to_string(ended_process());
  std::ofstream(path + ".lock") << process << "\nholds a ledger\ncommand verify\n";
  const Descriptor other(::open((path + ".lock").c_str(), O_RDONLY));
  REQUIRE(::flock(other.get(), LOCK_EX) == 0);
  const LockState holder = lock_state(path);
  CHECK(holder.locked);
  CHECK(holder.process == 0);
  CHECK(holder.command.empty());
  const SystemClock clock;
  OpenError error;
  CHECK_FALSE(Database::open({.path = path}, clock, error));
  INFO(error.message);
  CHECK(error.fault == OpenFault::locked);
  CHECK(error.message.find(process) == std::string::npos);
  CHECK(error.message.find("verify") == std::string::npos);
  CHECK(error.message.find("fuser " + path + ".lock") != std::string::npos);
}

TEST_CASE("lock file: a link or a pipe in its place is not followed") {
  const TemporaryFolder folder;
  const std::string path = folder.file(), target = path + ".target";
  std::ofstream(target) << "of another user\n";
  const SystemClock clock;
  OpenError error;
  std::filesystem::create_symlink(target, path + ".lock");
  CHECK_FALSE(Database::open({.path = path}, clock, error));
  CHECK(error.message.find("symbolic link") != std::string::npos);
  CHECK_FALSE(lock_state(path).locked);
  CHECK_FALSE(last_close(path).ledger);
  std::ostringstream content;
  content << std::ifstream(target).rdbuf();
  CHECK(content.str() == "of another user\n");
  std::filesystem::remove(path + ".lock");
  REQUIRE(::mkfifo((path + ".lock").c_str(), 0600) == 0);
  CHECK_FALSE(Database::open({.path = path}, clock, error));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("lock file: without a ledger, a new one is removed, and an existing one stays") {
  const TemporaryFolder folder;
  const std::string path = folder.file();
  LockState holder;
  REQUIRE(LockFile::take(path, "restore", holder));
  CHECK_FALSE(std::filesystem::exists(path + ".lock"));
  REQUIRE(LockFile::take(path, "", holder)->write({.ledger = true}));
  REQUIRE(LockFile::take(path, "restore", holder));
  CHECK(last_close(path).ledger);
}

TEST_CASE("lock file: a process that only looks at the lock delays the opening") {
  const TemporaryFolder folder;
  const std::string path = folder.file();
  std::ofstream(path + ".lock") << ended_process() << "\ncommand verify\n";
  Descriptor looks(::open((path + ".lock").c_str(), O_RDONLY));
  REQUIRE(::flock(looks.get(), LOCK_SH) == 0);
  const SystemClock clock;
  OpenError error;
  int tries = 0;
  const auto waits = [&](const LockState&) {
    REQUIRE(::flock(looks.get(), LOCK_UN) == 0);
    return ++tries == 1;
  };
  CHECK(Database::open({.path = path, .waits = waits}, clock, error));
  CHECK(error.fault == OpenFault::none);
  CHECK(tries == 1);
}
