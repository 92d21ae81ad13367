#include "base/faults.h"

#include <catch2/catch.hpp>

using namespace coffer;

TEST_CASE("faults: one problem tells all of them, led by the gravest") {
  Faults faults;
  faults.add(Slug::amount_precision, "a", "is too precise");
  faults.add(Slug::malformed_request, "b", "is no number");
  faults.add(Slug::not_found, "c", "is not there");
  const Problem problem = faults.problem();
  CHECK(problem.slug == Slug::malformed_request);
  CHECK(problem.detail == "b is no number.");
  REQUIRE(problem.fields.size() == 3);
  CHECK(problem.fields[2] == FieldError{"c", "is not there"});
  CHECK(faults.names("a"));
  CHECK_FALSE(faults.names("d"));
}

TEST_CASE("faults: different kinds of one status become that status's general kind") {
  Faults faults;
  faults.add(Slug::amount_precision, "a", "is too precise");
  CHECK(faults.problem().slug == Slug::amount_precision);
  faults.add(Slug::trustline_missing, "b", "is missing");
  CHECK(faults.problem().slug == Slug::validation_failed);
}

TEST_CASE("faults: an answer has an end, however much is wrong") {
  Faults faults;
  for (int i = 0; i < 100'000; ++i) faults.add(Slug::malformed_request, "f", "is unknown");
  CHECK(faults.problem().fields.size() == Faults::kShown);
}
