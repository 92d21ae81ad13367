#include "base/problem.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/result.h"

using namespace coffer;

TEST_CASE("problem: the table is in enum order, without duplicates, and complete") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < slug_table().size(); ++i) {
    const SlugInfo& row = slug_table()[i];
    INFO(row.name);
    CHECK(static_cast<std::size_t>(row.slug) == i);
    CHECK(&info(row.slug) == &row);
    CHECK(find_slug(row.name) == &row);
    CHECK_FALSE(row.title.empty());
    CHECK_FALSE(row.remedy.empty());
    CHECK(std::all_of(row.name.begin(), row.name.end(),
                      [](char c) { return c == '-' || (c >= 'a' && c <= 'z'); }));
    names.insert(row.name);
  }
  CHECK(names.size() == slug_table().size());
  CHECK(static_cast<std::size_t>(Slug::token_verification_timeout) + 1 == slug_table().size());
  CHECK(find_slug("no-such-slug") == nullptr);
  CHECK(find_slug("") == nullptr);
}

TEST_CASE("problem: slugs and statuses of the contract, and never a 500") {
  const std::pair<const char*, int> expected[] = {
      {"malformed-request", 400},
      {"invalid-reference", 400},
      {"invalid-cursor", 400},
      {"invalid-challenge", 400},
      {"unauthorized", 401},
      {"token-expired", 401},
      {"forbidden", 403},
      {"no-association", 403},
      {"insufficient-scope", 403},
      {"association-suspended", 403},
      {"not-found", 404},
      {"method-not-allowed", 405},
      {"transaction-id-conflict", 409},
      {"wallet-not-verified", 409},
      {"quote-expired", 409},
      {"quote-already-used", 409},
      {"references-exist", 409},
      {"webhook-event-type-taken", 409},
      {"payload-too-large", 413},
      {"unsupported-media-type", 415},
      {"validation-failed", 422},
      {"insufficient-funds", 422},
      {"trustline-missing", 422},
      {"amount-precision", 422},
      {"amount-out-of-range", 422},
      {"requirement-missing", 422},
      {"webhook-target-refused", 422},
      {"quota-exceeded", 422},
      {"limit-exceeded", 422},
      {"rate-limited", 429},
      {"unexpected-error", 502},
      {"provider-error", 502},
      {"provider-unavailable", 503},
      {"overloaded", 503},
      {"storage-full", 503},
      {"not-leader", 503},
      {"provider-timeout", 504},
      {"token-verification-timeout", 504},
  };
  for (const auto& [name, status] : expected) {
    INFO(name);
    REQUIRE(find_slug(name) != nullptr);
    CHECK(find_slug(name)->status == status);
  }
  for (const auto& row : slug_table()) {
    INFO(row.name);
    CHECK(row.status >= 400);
    CHECK(row.status != 500);
  }
}

TEST_CASE("problem: carries detail, fields and the time to wait") {
  const Problem problem = Problem(Slug::rate_limited, "slow down").retry_after(7);
  CHECK(problem.status() == 429);
  CHECK(problem.detail == "slow down");
  CHECK(problem.retry_after_s == 7);
}

namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return unexpected(Slug::validation_failed, "odd");
  return value / 2;
}

Result<int> quarter(int value) {
  COFFER_TRY(const int once, half(value));
  COFFER_TRY(const int twice, half(once));
  return twice;
}

Result<void> need_even(int value) {
  COFFER_TRY_VOID(half(value));
  return {};
}

}  // namespace

TEST_CASE("result: contains a value or a problem, and propagates problems") {
  CHECK(*quarter(12) == 3);
  REQUIRE_FALSE(quarter(6));
  CHECK(quarter(6).error().slug == Slug::validation_failed);
  CHECK(need_even(2));
  CHECK_FALSE(need_even(3));
  CHECK_THROWS_AS(quarter(6).value(), InternalError);
  CHECK_THROWS_AS(need_even(3).value(), InternalError);
}
