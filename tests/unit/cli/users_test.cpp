#include <catch2/catch.hpp>

#include "base/platform/exit_code.h"
#include "support/unknown_id.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::test::kUnknownId;

TEST_CASE("users: password and key are shown once, at creation", "[cli]") {
  OpenFile file;
  const std::string association =
      file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  const Ran added = file.run("user add", {{"USERNAME", "Ada"}, {"association", association}});
  REQUIRE(added.code == 0);
  const std::string id = added.json().at("id");
  CHECK(added.json().at("username") == "ada");
  CHECK(added.json().at("status") == "active");
  CHECK(added.json().at("password").get<std::string>().size() == 24);
  CHECK(added.json().at("otpauthUri").get<std::string>().rfind("otpauth://totp/coffer:ada?", 0) ==
        0);

  const auto listed = file.run("user list").json();
  REQUIRE(listed.size() == 1);
  CHECK(listed.at(0).at("associationId") == association);
  CHECK_FALSE(listed.at(0).contains("password"));
  CHECK_FALSE(listed.at(0).contains("otpauthUri"));

  const auto otp = file.run("user reset-otp", {{"ID", id}}).json();
  CHECK(otp.at("otpauthUri") != added.json().at("otpauthUri"));
  CHECK_FALSE(otp.contains("password"));
  const auto password = file.run("user reset-password", {{"ID", id}}).json();
  CHECK(password.at("password") != added.json().at("password"));
  CHECK_FALSE(password.contains("otpauthUri"));
  CHECK(file.run("user suspend", {{"ID", id}}).json().at("status") == "suspended");
  CHECK(file.run("user resume", {{"ID", id}}).json().at("status") == "active");
}

TEST_CASE("users: rejected requests", "[cli]") {
  OpenFile file;
  const std::string association =
      file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  CHECK(file.run("user add", {{"USERNAME", "ada"}, {"association", kUnknownId}}).code != 0);
  CHECK(file.run("user add", {{"USERNAME", "a/b"}, {"association", association}}).code != 0);
  CHECK(file.run("user add", {{"USERNAME", "ada"}, {"association", association}}).code == 0);
  CHECK(file.run("user add", {{"USERNAME", "ADA"}, {"association", association}}).code != 0);
  const Ran unknown = file.run("user suspend", {{"ID", kUnknownId}});
  CHECK(unknown.code == exit_code::kFailed);
  CHECK(unknown.err.find("coffer user list") != std::string::npos);
  CHECK(file.run("user list").json().size() == 1);
}

TEST_CASE("users: the list has pages, newest first", "[cli]") {
  OpenFile file;
  const std::string association =
      file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  for (const char* name : {"ada", "bea", "cleo"}) {
    REQUIRE(file.run("user add", {{"USERNAME", name}, {"association", association}}).code == 0);
  }
  const auto page = file.run("user list", {{"limit", "2"}}).json();
  REQUIRE(page.size() == 2);
  CHECK(page.at(0).at("username") == "cleo");
  const auto rest = file.run("user list", {{"limit", "2"}, {"cursor", "2"}}).json();
  REQUIRE(rest.size() == 1);
  CHECK(rest.at(0).at("username") == "ada");
}
