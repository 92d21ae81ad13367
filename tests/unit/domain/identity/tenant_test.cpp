#include "domain/identity/tenant.h"

#include <catch2/catch.hpp>

using namespace coffer;

TEST_CASE("tenant: environments and association statuses by name") {
  CHECK(name(Environment::sandbox) == "sandbox");
  CHECK(name(Environment::production) == "production");
  CHECK(parse_term<Environment>("production") == Environment::production);
  CHECK_FALSE(parse_term<Environment>("Production"));
  CHECK_FALSE(parse_term<Environment>(""));
  for (const auto status :
       {AssociationStatus::pending, AssociationStatus::active, AssociationStatus::suspended}) {
    CHECK(parse_term<AssociationStatus>(name(status)) == status);
  }
  CHECK_FALSE(parse_term<AssociationStatus>("closed"));
}

TEST_CASE("tenant: the only changes of an association are pending -> active <-> suspended") {
  using enum AssociationStatus;
  for (const auto from : {pending, active, suspended}) {
    for (const auto to : {pending, active, suspended}) {
      const bool allowed = (from == pending && to == active) ||
                           (from == active && to == suspended) ||
                           (from == suspended && to == active);
      INFO(name(from) << " -> " << name(to));
      CHECK(may_change(from, to) == allowed);
    }
  }
}

TEST_CASE("scope: every scope has a name, and the name finds it again") {
  for (std::size_t i = 0; i < kScopeCount; ++i) {
    const auto scope = static_cast<Scope>(i);
    INFO(name(scope));
    CHECK(parse_term<Scope>(name(scope)) == scope);
    CHECK(ScopeSet::all().contains(scope));
    CHECK_FALSE(ScopeSet().contains(scope));
    CHECK(ScopeSet().with(scope).bits() == (1U << i));
  }
  CHECK(name(Scope::wallets_read) == "wallets:read");
  CHECK(name(Scope::statements_write) == "statements:write");
  CHECK(name(Scope::connect_write) == "connect:write");
}

TEST_CASE("scope: a set is parsed from words, written in enum order, and round trips") {
  const auto set = ScopeSet::parse("payments:write  wallets:read payments:write ");
  REQUIRE(set);
  CHECK(set->to_string() == "wallets:read payments:write");
  CHECK(set->contains(Scope::payments_write));
  CHECK_FALSE(set->contains(Scope::payments_read));
  CHECK(*ScopeSet::parse(ScopeSet::all().to_string()) == ScopeSet::all());
  CHECK(ScopeSet::from_bits(ScopeSet::all().bits()) == ScopeSet::all());
  CHECK(ScopeSet::from_bits(0xffffffff) == ScopeSet::all());
  for (const char* blank : {"", " ", "   "}) CHECK(ScopeSet::parse(blank)->empty());
}

TEST_CASE("scope: sets are compared and intersected") {
  const ScopeSet few = ScopeSet().with(Scope::wallets_read).with(Scope::quotes_write);
  CHECK(ScopeSet::all().contains(few));
  CHECK_FALSE(few.contains(ScopeSet::all()));
  CHECK(few.contains(ScopeSet()));
  CHECK(few.intersect(ScopeSet().with(Scope::quotes_write)).to_string() == "quotes:write");
}

TEST_CASE("scope: an unknown one is named in a 400 on the field") {
  for (const char* text : {"wallets:read wallets:fly", "wallets:fly"}) {
    const auto set = ScopeSet::parse(text);
    REQUIRE_FALSE(set);
    CHECK(set.error().slug == Slug::malformed_request);
    REQUIRE(set.error().fields.size() == 1);
    CHECK(set.error().fields[0].field == "scope");
    CHECK(set.error().fields[0].message.find("`wallets:fly`") != std::string::npos);
  }
  CHECK_FALSE(ScopeSet::parse("wallets:read\twallets:write"));
  CHECK_FALSE(ScopeSet::parse("WALLETS:READ"));
  CHECK(ScopeSet::parse(std::string(100'000, 'x')).error().fields[0].message.size() < 300);
}

TEST_CASE("caller: lacking a scope is a 403 that names it") {
  Caller caller;
  caller.scopes = ScopeSet().with(Scope::wallets_read);
  CHECK(require_scope(caller, Scope::wallets_read));
  const auto rejected = require_scope(caller, Scope::wallets_write);
  REQUIRE_FALSE(rejected);
  CHECK(rejected.error().slug == Slug::insufficient_scope);
  CHECK(rejected.error().detail.find("wallets:write") != std::string::npos);
}

TEST_CASE("association: only an active association moves money") {
  CHECK(require_active(AssociationStatus::active));
  struct Row {
    AssociationStatus status;
    Slug slug;
    const char* says;
    const char* never;
  };
  for (const Row& row :
       {Row{AssociationStatus::pending, Slug::forbidden, "pending", "suspended"},
        Row{AssociationStatus::suspended, Slug::association_suspended, "suspended", "pending"}}) {
    const auto rejected = require_active(row.status);
    REQUIRE_FALSE(rejected);
    const Problem& problem = rejected.error();
    CHECK(problem.slug == row.slug);
    CHECK(problem.detail.find(row.says) != std::string::npos);
    CHECK(problem.detail.find("Ask the operator to activate it.") != std::string::npos);
    CHECK((std::string(info(problem.slug).title) + problem.detail).find(row.never) ==
          std::string::npos);
  }
}
