#include "http/problem_json.h"

#include <catch2/catch.hpp>

#include "base/validation_errors.h"
#include "http/json_body.h"

using namespace coffer;
using namespace coffer::http;

namespace problem_json_test {
namespace {

const std::string* header(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (same_name(key, name)) return &value;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a problem has the members of the contract") {
  const Problem problem(Slug::validation_failed, "Two fields are wrong.",
                        {{"amount", "is negative"}, {"transfers[3].amount", "is missing"}});
  const Response response = problem_response(problem, "/v1/x", "id-1");
  CHECK(response.status == 422);
  CHECK(response.content_type == "application/problem+json");
  CHECK(
      response.body ==
      R"({"type":"urn:coffer:problem:validation-failed","title":"Validation failed","status":422,)"
      R"("detail":"Two fields are wrong.","instance":"/v1/x","requestId":"id-1",)"
      R"("code":"validation_failed","docUrl":"/problems/validation-failed",)"
      R"("errors":[{"field":"amount","message":"amount is negative."},)"
      R"({"field":"transfers[3].amount","message":"transfers[3].amount is missing."}]})");
}

TEST_CASE("optional members are omitted from a problem") {
  const Response response = problem_response(Problem(Slug::not_found), "", "id-1");
  const auto body = parse_json(response.body);
  REQUIRE(body);
  CHECK(body->find("detail") == nullptr);
  CHECK(body->find("instance") == nullptr);
  CHECK(body->find("errors") == nullptr);
}

TEST_CASE("401 contains the scheme, and reports an expired token") {
  const Response missing = problem_response(Problem(Slug::unauthorized), "/", "i");
  CHECK(*header(missing, "WWW-Authenticate") == R"(Bearer realm="coffer")");
  const Response expired = problem_response(Problem(Slug::token_expired), "/", "i");
  CHECK(*header(expired, "WWW-Authenticate") == R"(Bearer realm="coffer", error="invalid_token")");
  CHECK(header(problem_response(Problem(Slug::forbidden), "/", "i"), "WWW-Authenticate") ==
        nullptr);
}

TEST_CASE("Retry-After is sent if it is set") {
  const Response response = problem_response(Problem(Slug::rate_limited).retry_after(7), "/", "i");
  CHECK(*header(response, "Retry-After") == "7");
}

TEST_CASE("bytes that are not UTF-8 do not break the response") {
  const Response response = problem_response(Problem(Slug::not_found), "/\xff\"\n", "i");
  const auto body = parse_json(response.body);
  REQUIRE(body);
  CHECK(*body->find("instance")->string() == "/\xef\xbf\xbd\"\n");
}

TEST_CASE("business routes get the envelope") {
  const Problem problem(Slug::insufficient_funds, "Not enough.", {{"amount", "is too large"}});
  const Response response = envelope_problem_response(problem, "id-1");
  CHECK(response.status == 422);
  CHECK(response.content_type == "application/json");
  CHECK(response.body ==
        R"({"success":false,"message":"INSUFFICIENT_FUNDS: Not enough. amount is too large.",)"
        R"("data":null})");
  // A detail that repeats the first field error is not repeated.
  ValidationErrors errors;
  errors.add(Slug::malformed_request, "phone", "must be a phone number");
  errors.add(Slug::malformed_request, "name", "is required");
  CHECK(envelope_problem_response(errors.problem(), "i").body ==
        R"({"success":false,"message":"MALFORMED_REQUEST: phone must be a phone number. name is )"
        R"(required.","data":null})");
  CHECK(envelope_problem_response(Problem(Slug::not_found), "i").body ==
        R"({"success":false,"message":"NOT_FOUND: Not found","data":null})");
}

}  // namespace problem_json_test
