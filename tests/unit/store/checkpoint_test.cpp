// The write-ahead log stays small, and giving its space back never makes a payment wait.
#include <catch2/catch.hpp>
#include <string>

#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;

/// About `mib` of WAL in as many commits.
void write_mebibytes(OpenedFile& file, int mib) {
  for (int i = 0; i < mib; ++i) {
    REQUIRE(file.write([&](WriteTx& tx) -> Result<void> {
      tx.db().execute("INSERT OR REPLACE INTO meta VALUES ('bulk" + std::to_string(i % 4) +
                      "', randomblob(1048576))");
      return {};
    }));
  }
}

}  // namespace

TEST_CASE("checkpoint: without readers the log is used again and again") {
  OpenedFile file;
  write_mebibytes(file, 60);
  CHECK(file.database->wal_bytes() < 24 * kMiB);
}

TEST_CASE("checkpoint: a reader that stays makes the log grow, and its end gives the space back") {
  const SystemClock clock;
  OpenedFile file;
  std::int64_t waited = 0;
  {
    const Reader stuck = file.database->reader().value();
    CHECK(number(stuck.db(), "SELECT count(*) FROM meta") == 0);
    write_mebibytes(file, 70);
    CHECK(file.database->wal_bytes() > 64 * kMiB);
    // Past the size at which the log is to be cut, with the reader in the way.
    const std::int64_t start = clock.monotonic_ms();
    write_mebibytes(file, 1);
    waited = clock.monotonic_ms() - start;
    CHECK(number(stuck.db(), "SELECT count(*) FROM meta") == 0);
  }
  CHECK(waited < 4'500);  // not the busy timeout
  write_mebibytes(file, 2);
  CHECK(file.database->wal_bytes() < 8 * kMiB);
  CHECK(file.verify().empty());
}

TEST_CASE("checkpoint: a clean end leaves no log behind") {
  OpenedFile file;
  write_mebibytes(file, 1);
  const std::string path = file.database->path();
  CHECK(std::filesystem::exists(path + "-wal"));
  file.close();
  CHECK_FALSE(std::filesystem::exists(path + "-wal"));
  CHECK_FALSE(std::filesystem::exists(path + "-shm"));
}
