// Connections that read, after ten seconds without use.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "store/database.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

TEST_CASE("database: readers that are not used are closed, and open again") {
  OpenedFile file;
  CHECK(file.count("payments") == 0);
  CHECK(file.database->close_idle_readers() == 0);
  file.clock.advance_ms(10'001);
  {
    const Reader lease = file.database->reader().value();  // the only connection that was open
    CHECK(file.database->close_idle_readers() == 0);
    file.clock.advance_ms(10'001);
    CHECK(file.database->close_idle_readers() == 0);
  }
  CHECK(file.database->close_idle_readers() == 1);
  CHECK(file.database->close_idle_readers() == 0);
  CHECK(file.count("payments") == 0);
}

TEST_CASE("database: only the readers for payments and probes stay open while they are idle") {
  OpenedFile file;
  for (const ReadersKind& kind : kReaders) {
    const ReadersScope scope(kind.pool);
    CHECK(file.database->reader());
  }
  file.clock.advance_ms(10'001);
  CHECK(file.database->close_idle_readers() == kReaders.size() - 2);
  for (const Readers pool : {Readers::money, Readers::system}) {
    const ReadersScope scope(pool);
    CHECK(file.database->reader());
  }
  file.clock.advance_ms(10'001);
  CHECK(file.database->close_idle_readers() == 0);
}

TEST_CASE("database: a reader of a moved file states that the file was moved") {
  OpenedFile file;
  file.clock.advance_ms(10'001);
  REQUIRE(file.database->close_idle_readers() == 1);
  const std::string path = file.folder.file();
  std::filesystem::rename(path, path + ".aside");
  const auto rejected = file.database->reader();
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().slug == Slug::overloaded);
  CHECK(rejected.error().detail == "The database file was moved, deleted or replaced.");
  std::filesystem::rename(path + ".aside", path);
  CHECK(file.database->reader());
}
