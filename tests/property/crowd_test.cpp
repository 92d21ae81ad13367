// Concurrent callers: the result equals that of some sequential order.
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/thread.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/payments/submit_payment.h"
#include "flows/settlement/settle_payment.h"
#include "property/seeds.h"
#include "property/world.h"

using namespace coffer;
using namespace coffer::property;

namespace crowd_test {
namespace {

constexpr int kCallers = 32;
constexpr std::int64_t kFunds = 1'000'000'000;
constexpr std::int64_t kBudgetMs = 4'000;

/// Holds all threads until all of them have arrived.
class StartingLine {
 public:
  explicit StartingLine(int runners) : missing_(runners) {}
  void arrive() {
    const Lock lock(mutex_);
    if (--missing_ == 0) changed_.notify_all();
    while (missing_ > 0) changed_.wait(mutex_);
  }

 private:
  Mutex mutex_;
  Condition changed_;
  int missing_ COFFER_GUARDED_BY(mutex_);
};

template <class F>
void all_at_once(int count, F&& run) {
  StartingLine line(count);
  std::vector<Thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back("caller", [&, i] {
      line.arrive();
      run(i);
    });
  }
  for (Thread& thread : threads) thread.join();
}

PaymentRequest transfer(const World& world, std::size_t from, std::size_t to, const std::string& id,
                        std::int64_t units) {
  PaymentRequest request;
  request.transaction_id = id;
  TransferLeg leg;
  leg.source_wallet = world.wallets[from].id;
  leg.destination_wallet = world.wallets[to].id;
  leg.sending_asset = *AssetCode::parse("USDC");
  leg.amount = Amount::from_units(units);
  request.legs = {leg};
  return request;
}

void fund(World& world, std::size_t wallet) {
  static_cast<void>(flows::fund_sandbox_wallet(world.context(), world.caller().tenant,
                                               world.wallets[wallet].id, *AssetCode::parse("USDC"),
                                               Amount::from_units(kFunds))
                        .value());
}

void settle_all(World& world) {
  while (flows::settle_due_payments(world.context(), 100).value().settled > 0) {
  }
}

void check_whole(World& world) {
  for (const store::Violation& violation : world.verify(true)) {
    FAIL(violation.invariant << ": " << violation.detail);
  }
}

}  // namespace

TEST_CASE("crowd: identical submissions are one payment in any order") {
  World world(1);
  fund(world, 0);
  const auto request = transfer(world, 0, 1, "twin", kFunds / 2);
  std::vector<std::optional<flows::Submission>> got(kCallers);
  all_at_once(kCallers, [&](int i) {
    got[static_cast<std::size_t>(i)] =
        flows::submit_payment(world.context(), world.caller(), request, "r", false).value();
  });
  int first = 0;
  for (const auto& submission : got) {
    first += !submission->replayed;
    CHECK(submission->id == got[0]->id);
  }
  CHECK(first == 1);
  CHECK(world.payment_count() == 1);
  settle_all(world);
  check_whole(world);
}

TEST_CASE("crowd: the same balance is spent once") {
  World world(1);
  fund(world, 0);
  std::atomic<int> accepted{0};
  std::atomic<int> rejected{0};
  all_at_once(kCallers, [&](int i) {
    const auto got =
        flows::submit_payment(world.context(), world.caller(),
                              transfer(world, 0, 1, "all" + std::to_string(i), kFunds), "r", false);
    if (got) {
      ++accepted;
    } else if (got.error().slug == Slug::insufficient_funds) {
      ++rejected;
    }
  });
  CHECK(accepted == 1);
  CHECK(rejected == kCallers - 1);
  settle_all(world);
  check_whole(world);
  std::set<std::int64_t> balances;
  for (const StoredAccount& account : world.accounts()) {
    if (account.wallet != 0) balances.insert(account.balance);
  }
  CHECK(balances == std::set<std::int64_t>{0, kFunds});
}

TEST_CASE("property: a crowd of payers and a settler keep every invariant") {
  for_each_seed("crowd", kBudgetMs, [](std::uint64_t seed) {
    World world(seed);
    for (const std::size_t wallet : {0U, 1U, 2U}) fund(world, wallet);
    std::atomic<int> accepted{0};
    std::atomic<int> paying{8};
    all_at_once(9, [&](int i) {
      if (i == 8) {
        while (paying > 0) static_cast<void>(flows::settle_due_payments(world.context(), 7));
        return;
      }
      Dice dice(seed * 100 + static_cast<std::uint64_t>(i));
      for (int n = 0; n < 30; ++n) {
        const auto from = static_cast<std::size_t>(dice.roll(3));
        const auto request =
            transfer(world, from, (from + 1) % 3, std::to_string(i) + "-" + std::to_string(n / 2),
                     1 + dice.roll(kFunds / 3));
        const bool validate_only = dice.one_in(9);
        const auto got =
            flows::submit_payment(world.context(), world.caller(), request, "r", validate_only);
        if (got && !got->replayed && !validate_only) ++accepted;
      }
      --paying;
    });
    settle_all(world);
    check_whole(world);
    std::int64_t total = 0;
    for (const StoredAccount& account : world.accounts()) {
      if (account.wallet != 0) total += account.balance;
      REQUIRE(account.held == 0);
    }
    REQUIRE(total == 3 * kFunds);
    REQUIRE(accepted > 0);
    REQUIRE(world.payment_count() == accepted);
  });
}

}  // namespace crowd_test
