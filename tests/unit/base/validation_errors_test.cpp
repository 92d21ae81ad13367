#include "base/validation_errors.h"

#include <catch2/catch.hpp>

using namespace coffer;

TEST_CASE("errors: one problem contains all of them, with the most severe status") {
  ValidationErrors errors;
  errors.add(Slug::amount_precision, "a", "is too precise");
  errors.add(Slug::malformed_request, "b", "is no number");
  errors.add(Slug::not_found, "c", "is not there");
  const Problem problem = errors.problem();
  CHECK(problem.slug == Slug::malformed_request);
  CHECK(problem.detail == "b is no number.");
  REQUIRE(problem.fields.size() == 3);
  CHECK(problem.fields[2] == FieldError{"c", "is not there"});
  CHECK(errors.names("a"));
  CHECK_FALSE(errors.names("d"));
}

TEST_CASE("faults: different kinds of one status become that status's general kind") {
  ValidationErrors errors;
  errors.add(Slug::amount_precision, "a", "is too precise");
  CHECK(errors.problem().slug == Slug::amount_precision);
  errors.add(Slug::trustline_missing, "b", "is missing");
  CHECK(errors.problem().slug == Slug::validation_failed);
}

TEST_CASE("errors: a response is bounded for any number of errors") {
  ValidationErrors errors;
  for (int i = 0; i < 100'000; ++i) errors.add(Slug::malformed_request, "f", "is unknown");
  CHECK(errors.problem().fields.size() == ValidationErrors::kShown);
}
