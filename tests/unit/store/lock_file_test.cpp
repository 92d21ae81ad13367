#include "store/file/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <catch2/catch.hpp>
#include <string>

#include "base/files/descriptor.h"
#include "store/database.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

TEST_CASE("lock file: a process that only looks at the lock delays the opening") {
  const TemporaryFolder folder;
  const std::string path = folder.file();
  LockState ended;
  REQUIRE(LockFile::take(path, "verify", ended));
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
