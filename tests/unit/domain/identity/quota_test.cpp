#include "domain/identity/quota.h"

#include <catch2/catch.hpp>

using namespace coffer;

namespace {

std::string detail(const Result<void>& rejected) {
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().slug == Slug::quota_exceeded);
  return rejected.error().detail;
}

}  // namespace

TEST_CASE("quotas: every name reads back", "[quota]") {
  for (const QuotaInfo& row : quota_table()) {
    CHECK(parse_quota(row.name) == row.quota);
    CHECK(name(row.quota) == row.name);
    CHECK(row.sandbox <= row.production);
    CHECK(row.sandbox > 0);
  }
  CHECK_FALSE(parse_quota("gold"));
  CHECK(default_quotas(Environment::production).of(Quota::file_bytes) == kUnlimited);
}

TEST_CASE("quotas: the limit may be reached and not passed", "[quota]") {
  CHECK(check_quota(Quota::webhooks, 0, 1, 1));
  CHECK(check_quota(Quota::webhooks, 19, 1, 20));
  CHECK(check_quota(Quota::destinations, 20, 0, 20));
  CHECK(check_quota(Quota::wallets, kUnlimited - 1, 1, kUnlimited));
  const auto rejected = check_quota(Quota::webhooks, 20, 1, 20);
  CHECK(detail(rejected).starts_with("The quota webhooks is exhausted: 20 of 20 active webhooks."));
  REQUIRE(rejected.error().fields.size() == 1);
  CHECK(rejected.error().fields.front().field == "quota.webhooks");
  CHECK_FALSE(check_quota(Quota::webhooks, 0, 1, 0));
  // A limit below the current use.
  CHECK_FALSE(check_quota(Quota::webhooks, 30, 1, 20));
  CHECK(check_quota(Quota::webhooks, 30, 0, 20));
}

TEST_CASE("quotas: limits as text", "[quota]") {
  CHECK(parse_quota_limit(Quota::wallets, "12") == 12);
  CHECK(parse_quota_limit(Quota::wallets, "0") == 0);
  CHECK(parse_quota_limit(Quota::wallets, "unlimited") == kUnlimited);
  CHECK(parse_quota_limit(Quota::file_bytes, "2GiB") == std::int64_t{2} << 30);
  CHECK(parse_quota_limit(Quota::file_bytes, "1536MiB") == std::int64_t{1536} << 20);
  for (const char* bad : {"", "-1", "1.5", "x", "12 ", "GiB", "9223372036854775808"}) {
    INFO(bad);
    CHECK_FALSE(parse_quota_limit(Quota::file_bytes, bad));
  }
  CHECK_FALSE(parse_quota_limit(Quota::file_bytes, "9223372036854775807KiB"));
  CHECK_FALSE(parse_quota_limit(Quota::wallets, "2GiB"));
  CHECK(quota_limit_text(Quota::file_bytes, std::int64_t{3} << 30) == "3GiB");
  CHECK(quota_limit_text(Quota::file_bytes, 1'025) == "1025");
  CHECK(quota_limit_text(Quota::wallets, 1'024) == "1024");
  CHECK(quota_limit_text(Quota::wallets, kUnlimited) == "unlimited");
}

TEST_CASE("quotas: those named in a setting replace the defaults", "[quota]") {
  const QuotaLimits base = default_quotas(Environment::sandbox);
  const auto some = parse_quota_limits("wallets=5, file_bytes=2GiB", base);
  REQUIRE(some);
  CHECK(some->of(Quota::wallets) == 5);
  CHECK(some->of(Quota::file_bytes) == std::int64_t{2} << 30);
  CHECK(some->of(Quota::webhooks) == base.of(Quota::webhooks));
  CHECK(parse_quota_limits(quota_limits_text(*some), base).value() == *some);
  CHECK(parse_quota_limits("wallets=1,wallets=2", base).error().detail.find("two limits") !=
        std::string::npos);
  CHECK(parse_quota_limits("wallet=5", base).error().detail.find("did you mean \"wallets\"?") !=
        std::string::npos);
  for (const char* bad : {"wallets", "wallets=", "wallets=x", "wallets=1,,webhooks=2", "=1"}) {
    INFO(bad);
    CHECK_FALSE(parse_quota_limits(bad, base));
  }
}

TEST_CASE("quotas: more than 80 % is worth a warning", "[quota]") {
  CHECK_FALSE(is_nearly_used(80, 100));
  CHECK(is_nearly_used(81, 100));
  CHECK(is_nearly_used(1, 1));
  CHECK_FALSE(is_nearly_used(0, 0));
  CHECK_FALSE(is_nearly_used(kUnlimited - 1, kUnlimited));
}
