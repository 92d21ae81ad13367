// Responses of the business routes have the envelope, on success and on every error.
#include <catch2/catch.hpp>

#include "support/test_app.h"
#include "support/wire.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kAll = "/v1/business/association/all";

/// The error variant: `data` null and a message that encodes a code and a description.
void check_error_envelope(const Reply& reply, int status, const std::string& code) {
  INFO(reply.text());
  CHECK(reply.status == status);
  CHECK(reply.header("Content-Type") == "application/json");
  const Json body = reply.json();
  CHECK(body.size() == 3);
  CHECK(body.at("success") == false);
  CHECK(body.at("data").is_null());
  CHECK_THAT(body.at("message").get<std::string>(), Catch::Matchers::StartsWith(code + ": "));
}

}  // namespace

TEST_CASE("an application reads its own association in the envelope") {
  TestApp app;
  const std::string id = app.association().to_string();
  const Json reply = app.me().get("/v1/business/association/" + id).json();
  CHECK(reply.size() == 3);
  CHECK(reply.at("success") == true);
  CHECK_FALSE(reply.at("message").get<std::string>().empty());
  CHECK(reply.at("data") == Json{{"id", id}, {"name", "Association"}, {"status", "active"}});
}

TEST_CASE("the association list contains only the caller's") {
  TestApp app;
  const Client other = app.stranger();
  const Json mine = app.me().get(kAll).json().at("data");
  REQUIRE(mine.size() == 1);
  CHECK(mine[0].at("id") == app.association().to_string());
  const Json theirs = other.get(kAll).json().at("data");
  REQUIRE(theirs.size() == 1);
  CHECK(theirs[0].at("id") != mine[0].at("id"));
}

TEST_CASE("the association shows its status to callers that may still read") {
  TestApp app;
  app.change_status(app.association(), AssociationStatus::suspended);
  CHECK(app.me().get(kAll).json().at("data")[0].at("status") == "suspended");
  const AssociationId fresh = app.register_association(AssociationStatus::pending);
  const Client pending(app, app.register_application(fresh));
  CHECK(pending.get(kAll).json().at("data")[0].at("status") == "pending");
}

TEST_CASE("errors of business routes have the envelope with the same status") {
  TestApp app;
  const std::string random_id = app.random.uuid_v7(app.clock.now()).to_string();
  check_error_envelope(app.anonymous().get(kAll), 401, "UNAUTHORIZED");
  check_error_envelope(app.me().scoped("wallets:read").get(kAll), 403, "INSUFFICIENT_SCOPE");
  check_error_envelope(app.me().get("/v1/business/association/" + random_id), 404, "NOT_FOUND");
  check_error_envelope(app.me().get("/v1/business/association/not-a-uuid"), 404, "NOT_FOUND");
  check_error_envelope(app.me().get("/v1/business/nothing-here"), 404, "NOT_FOUND");
  check_error_envelope(app.me().get(kAll + "?x=%zz"), 400, "MALFORMED_REQUEST");
  const Reply wrong_method = app.me().post(kAll, Json::object());
  check_error_envelope(wrong_method, 405, "METHOD_NOT_ALLOWED");
  CHECK(wrong_method.header("Allow") == "GET, HEAD, OPTIONS");
  CHECK_FALSE(app.anonymous().get(kAll).header("WWW-Authenticate").empty());
}

TEST_CASE("both prefixes use the envelope") {
  TestApp app;
  const Reply first = app.me().get(kAll);
  const Reply second = app.me().get("/gw" + kAll);
  CHECK(first.body == second.body);
  check_error_envelope(app.anonymous().get("/gw" + kAll), 401, "UNAUTHORIZED");
}

TEST_CASE("rejections of the listener on a business route also have the envelope") {
  TestApp app;
  app.listen();
  const Reply reply =
      send_raw(app.core().listeners().port(), "GET " + kAll +
                                                  " HTTP/1.1\r\nHost: a\r\n"
                                                  "Transfer-Encoding: gzip\r\n\r\n");
  check_error_envelope(reply, 400, "MALFORMED_REQUEST");
}
