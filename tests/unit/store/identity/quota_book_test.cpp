#include "store/commits/quota_book.h"

#include <catch2/catch.hpp>

#include "store/identity/quotas.h"
#include "store/invariants.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

class Quotas : public SmallLedger {
 public:
  explicit Quotas(const QuotaDefaults& defaults = {})
      : SmallLedger(CommitQueueOptions{.quotas = defaults}) {}

  std::int64_t used(Quota quota) {
    return read([&](Connection& db) {
      return quota_use(db, tenant, queue->now()).used.at(static_cast<std::size_t>(quota));
    });
  }
  template <class F>
  Result<void> change(F&& f) {
    return write([&](WriteTx& tx) -> Result<void> {
      f(tx);
      return {};
    });
  }
  Result<void> judge(Quota quota, std::int64_t more) {
    return write([&](WriteTx& tx) { return tx.check_quota(tenant, quota, more); });
  }
};

QuotaDefaults with(Quota quota, std::int64_t limit) {
  QuotaDefaults out;
  out.sandbox.limits.at(static_cast<std::size_t>(quota)) = limit;
  return out;
}

}  // namespace

TEST_CASE("quota book: counters are stored with their commit and read again after a start") {
  Quotas file;
  const std::int64_t before = file.used(Quota::destinations);
  REQUIRE(
      file.change([&](WriteTx& tx) { tx.quotas().add(file.tenant.key, Quota::destinations, 3); }));
  CHECK(file.used(Quota::destinations) == before + 3);
  file.close();
  file.open();
  REQUIRE(
      file.change([&](WriteTx& tx) { tx.quotas().add(file.tenant.key, Quota::destinations, -1); }));
  CHECK(file.used(Quota::destinations) == before + 2);
  REQUIRE(
      file.change([&](WriteTx& tx) { tx.quotas().add(file.tenant.key, Quota::destinations, -2); }));
}

TEST_CASE("quota book: a rolled-back command does not count") {
  Quotas file(with(Quota::destinations, 3));
  const auto rejected = file.write([&](WriteTx& tx) -> Result<void> {
    tx.quotas().add(file.tenant.key, Quota::destinations, 3);
    CHECK_FALSE(tx.check_quota(file.tenant, Quota::destinations));
    return unexpected(Slug::conflict, "no");
  });
  CHECK_FALSE(rejected);
  CHECK(file.judge(Quota::destinations, 3));
  CHECK(file.used(Quota::destinations) == 0);
  REQUIRE(file.write(
      [&](WriteTx& tx) -> Result<void> {
        tx.quotas().add(file.tenant.key, Quota::destinations, 3);
        return {};
      },
      CommitQueue::Mode::dry_run));
  CHECK(file.judge(Quota::destinations, 3));
  const auto over = file.judge(Quota::destinations, 4);
  REQUIRE_FALSE(over);
  CHECK(over.error().slug == Slug::quota_exceeded);
}

TEST_CASE("quota book: open quotes stop counting when they expire") {
  Quotas file(with(Quota::open_quotes, 2));
  const Timestamp soon = file.queue->now().plus_ms(15'000);
  const auto ask = [&] {
    return file.write([&](WriteTx& tx) -> Result<void> {
      COFFER_TRY_VOID(tx.check_quota(file.tenant, Quota::open_quotes));
      tx.quotas().add_open_quotes(file.tenant.key, soon, 1);
      return {};
    });
  };
  CHECK(ask());
  CHECK(ask());
  CHECK_FALSE(ask());
  CHECK(file.used(Quota::open_quotes) == 2);
  file.close();
  file.open();
  CHECK_FALSE(ask());
  file.clock.advance_ms(25'000);
  CHECK(file.used(Quota::open_quotes) == 0);
  CHECK(file.judge(Quota::open_quotes, 2));
  // The next change removes expired rows.
  REQUIRE(file.change([&](WriteTx& tx) { tx.quotas().add_bytes(file.tenant.key, 1); }));
  CHECK(file.value("SELECT count(*) FROM quota_use WHERE quota = 3") == "0");
}

TEST_CASE("quota book: the limit of a tenant overrides the setting until it is removed") {
  Quotas file(with(Quota::webhooks, 5));
  CHECK(file.judge(Quota::webhooks, 5));
  const auto set = [&](std::optional<std::int64_t> limit) {
    REQUIRE(file.change([&](WriteTx& tx) {
      tx.quotas().set_limit(file.tenant.key, Quota::webhooks, limit, tx.now());
    }));
  };
  set(7);
  CHECK(file.judge(Quota::webhooks, 7));
  set(0);
  CHECK_FALSE(file.judge(Quota::webhooks, 1));
  file.close();
  file.open();
  CHECK_FALSE(file.judge(Quota::webhooks, 1));
  set(std::nullopt);
  CHECK(file.judge(Quota::webhooks, 5));
  CHECK_FALSE(file.judge(Quota::webhooks, 6));
}

TEST_CASE("quota book: new requests need space in the file") {
  Quotas file(with(Quota::file_bytes, 1'000'000));
  CHECK(file.judge(Quota::wallets, 1));
  REQUIRE(file.change([&](WriteTx& tx) { tx.quotas().add_bytes(file.tenant.key, 1'000'000); }));
  for (const QuotaInfo& each : quota_table()) {
    INFO(each.name);
    const auto rejected = file.judge(each.quota, 1);
    REQUIRE_FALSE(rejected);
    CHECK(rejected.error().fields.front().field == "quota.file_bytes");
  }
}

TEST_CASE("quota book: the estimate of bytes is close to the growth of the file") {
  Quotas file;
  const auto pages = [&] {
    return std::stoll(file.value("PRAGMA page_count")) -
           std::stoll(file.value("PRAGMA freelist_count"));
  };
  const auto pay = [&](int from, int count) {
    for (int batch = from; batch < from + count; batch += 200) {
      REQUIRE(file.change([&](WriteTx& tx) {
        for (int i = batch; i < batch + 200; ++i) {
          file.settle(tx,
                      file.accept(tx, file.transfer("t-" + std::to_string(i * 7'919), 1, i % 2)));
        }
      }));
    }
  };
  pay(0, 400);
  const auto pages_before = pages();
  const auto used_before = file.used(Quota::file_bytes);
  pay(400, 4'000);
  const double grown = static_cast<double>(pages() - pages_before) * 2'048;
  const auto counted = static_cast<double>(file.used(Quota::file_bytes) - used_before);
  INFO("counted " << counted << " of " << grown);
  CHECK(counted > 0.8 * grown);
  CHECK(counted < 1.25 * grown);
}
