#include "domain/ledger/ledger.h"

#include <catch2/catch.hpp>
#include <limits>
#include <map>
#include <vector>

using namespace coffer;

namespace ledger_test {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
using Movements = std::vector<Posting>;
using Held = std::map<AccountKey, std::int64_t>;

Posting moves(AccountKey debit, AccountKey credit, std::int64_t amount) {
  return {debit, credit, Amount::from_units(amount)};
}

Held held(const Movements& movements) {
  const auto holds = holds_for(movements);
  REQUIRE(holds);
  Held out;
  for (const Hold& hold : *holds) {
    CHECK(out.emplace(hold.account, hold.amount.units()).second);  // one hold per account
  }
  return out;
}

AccountState account(AccountKey key, std::int64_t balance, std::int64_t on_hold = 0) {
  return {key, 1, AccountKind::wallet, Amount::from_units(balance), Amount::from_units(on_hold)};
}

}  // namespace

TEST_CASE("ledger: a single movement holds its amount on the debited account") {
  CHECK(held({moves(1, 2, 50)}) == Held{{1, 50}});
  CHECK(held({}) == Held{});
}

TEST_CASE("ledger: amounts that arrive earlier are not held") {
  // 2 forwards the amount from 1, so it needs no own funds.
  CHECK(held({moves(1, 2, 100), moves(2, 3, 100)}) == Held{{1, 100}});
  // It forwards more than it received: only the difference is held.
  CHECK(held({moves(1, 2, 100), moves(2, 3, 130)}) == Held{{1, 100}, {2, 30}});
  // In the other order, nothing has arrived yet.
  CHECK(held({moves(2, 3, 100), moves(1, 2, 100)}) == Held{{1, 100}, {2, 100}});
}

TEST_CASE("ledger: the largest deficit counts, not the final one") {
  // 1: -70, +50, -40 = dips to -70, then -60.
  CHECK(held({moves(1, 2, 70), moves(2, 1, 50), moves(1, 2, 40)}) == Held{{1, 70}});
  // 1: -70, +50, -60 = dips to -80 at the end.
  CHECK(held({moves(1, 2, 70), moves(2, 1, 50), moves(1, 2, 60)}) == Held{{1, 80}});
  // There and back: held, although the final balance is unchanged.
  CHECK(held({moves(1, 2, 10), moves(2, 1, 10)}) == Held{{1, 10}});
}

TEST_CASE("ledger: sums of holds that overflow are a Problem") {
  const auto twice = holds_for(Movements{moves(1, 2, kMax), moves(1, 3, kMax)});
  REQUIRE_FALSE(twice);
  CHECK(twice.error().slug == Slug::amount_out_of_range);
  // The sum is one more than the largest amount: its negative value fits, but the sum does not.
  const auto edge = holds_for(Movements{moves(1, 2, kMax), moves(1, 3, 1)});
  REQUIRE_FALSE(edge);
  CHECK(edge.error().slug == Slug::amount_out_of_range);
  const auto arriving = holds_for(Movements{moves(1, 3, kMax), moves(2, 3, kMax)});
  REQUIRE_FALSE(arriving);
  CHECK(arriving.error().slug == Slug::amount_out_of_range);
  CHECK(held({moves(1, 2, kMax)}) == Held{{1, kMax}});
}

TEST_CASE("ledger: the first movement without cover is named") {
  const std::vector<AccountState> accounts{account(1, 100), account(2, 0), account(3, 50, 20)};
  CHECK(first_uncovered(Movements{moves(1, 2, 100)}, accounts) == -1);
  CHECK(first_uncovered(Movements{moves(1, 2, 101)}, accounts) == 0);
  CHECK(first_uncovered(Movements{moves(1, 2, 60), moves(1, 2, 41)}, accounts) == 1);
  CHECK(first_uncovered(Movements{moves(1, 2, 60), moves(2, 3, 60)}, accounts) == -1);
  CHECK(first_uncovered(Movements{moves(2, 3, 1), moves(1, 2, 60)}, accounts) == 0);
  CHECK(first_uncovered(Movements{}, accounts) == -1);
}

TEST_CASE("ledger: only the available amount covers a payment") {
  const std::vector<AccountState> accounts{account(3, 50, 20)};
  CHECK(first_uncovered(Movements{moves(3, 1, 30)}, accounts) == -1);
  CHECK(first_uncovered(Movements{moves(3, 1, 31)}, accounts) == 0);
}

TEST_CASE("ledger: accounts that are not listed are not limited") {
  const std::vector<AccountState> accounts{account(1, 0)};
  CHECK(first_uncovered(Movements{moves(9, 1, kMax), moves(9, 1, kMax), moves(1, 9, kMax)},
                        accounts) == -1);
}

TEST_CASE("ledger: the holds of holds_for cover every prefix") {
  // All sequences of three movements between three accounts with amounts 1 to 3.
  std::vector<Posting> choices;
  for (AccountKey from = 1; from <= 3; ++from) {
    for (AccountKey to = 1; to <= 3; ++to) {
      for (std::int64_t amount = 1; amount <= 3; ++amount) {
        if (from != to) choices.push_back(moves(from, to, amount));
      }
    }
  }
  for (const Posting& a : choices) {
    for (const Posting& b : choices) {
      for (const Posting& c : choices) {
        const Movements movements{a, b, c};
        const auto holds = holds_for(movements).value();
        std::vector<AccountState> exact{account(1, 0), account(2, 0), account(3, 0)};
        for (const Hold& hold : holds)
          exact[static_cast<std::size_t>(hold.account) - 1].balance = hold.amount;
        if (first_uncovered(movements, exact) != -1) FAIL("the holds do not cover");
        // With one unit less on any held account, a movement is not covered: the hold is minimal.
        for (const Hold& hold : holds) {
          auto less = exact;
          Amount& balance = less[static_cast<std::size_t>(hold.account) - 1].balance;
          balance = balance - Amount::from_units(1);
          if (first_uncovered(movements, less) == -1) FAIL("more is held than needed");
        }
      }
    }
  }
}

}  // namespace ledger_test
