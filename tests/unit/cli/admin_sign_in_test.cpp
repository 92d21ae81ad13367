// Guessing, one-time links, credentials and sessions on the admin page (docs/contract.md#guessing).
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "unit/cli/admin_browser.h"

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;

TEST_CASE("admin: after five wrong passwords from an address, even the right one is rejected there",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  for (int i = 0; i < 5; ++i) CHECK(browser.sign_in("ada", Secret("wrong wrong wrong")) == 401);
  const auto blocked =
      browser.post("/admin/api/sign-in", {{"name", "ada"}, {"password", kPassword.reveal()}});
  CHECK(blocked.status == 429);
  CHECK_FALSE(header_of(blocked, "Retry-After").empty());
  Browser elsewhere(site.site, "192.0.2.7");
  CHECK(elsewhere.sign_in("ada", kPassword) == 204);
  site.file.clock().advance_ms(15 * 60'000);
  CHECK(browser.sign_in("ada", kPassword) == 204);
}

namespace {

/// Wrong sign-ins of one address under names of its choice. Returns how many were 401.
int guess_names(AdminSite& site, const std::string& peer, int times) {
  int looked_at = 0;
  for (int i = 0; i < times; ++i) {
    const int status =
        Browser(site, peer).sign_in("name" + std::to_string(i), Secret("wrong wrong wrong"));
    CHECK((status == 401 || status == 429));
    looked_at += status == 401;
  }
  return looked_at;
}

}  // namespace

TEST_CASE("admin: wrong sign-ins under other names do not lock the owner out of the same address",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  const std::string tunnel = "127.0.0.1";
  SECTION("an owner who has never signed in") {
    CHECK(guess_names(site.site, tunnel, 30) == 20);
    CHECK(Browser(site.site, tunnel).sign_in("ada", kPassword) == 204);
  }
  SECTION("an owner who mistypes once there has to wait, a wrong password is not told apart") {
    CHECK(guess_names(site.site, tunnel, 30) == 20);
    CHECK(Browser(site.site, tunnel).sign_in("ada", Secret("wrong wrong wrong")) == 429);
    CHECK(Browser(site.site, tunnel).sign_in("ada", kPassword) == 429);
    site.file.clock().advance_ms(15 * 60'000);
    CHECK(Browser(site.site, tunnel).sign_in("ada", kPassword) == 204);
  }
  SECTION("from a known address, under any flood") {
    REQUIRE(Browser(site.site, tunnel).sign_in("ada", kPassword) == 204);
    guess_names(site.site, tunnel, 200);
    CHECK(Browser(site.site, tunnel).sign_in("ada", Secret("wrong wrong wrong")) == 401);
    CHECK(Browser(site.site, tunnel).sign_in("ada", kPassword) == 204);
  }
  SECTION("with a known browser at another address, under any flood and its own name") {
    Browser browser(site.site, "198.51.100.1");
    REQUIRE(browser.sign_in("ada", kPassword) == 204);
    Browser moved(site.site, tunnel);
    moved.known = browser.known;
    guess_names(site.site, tunnel, 200);
    for (int i = 0; i < 20; ++i) {
      Browser(site.site, tunnel).sign_in("ada", Secret("wrong wrong wrong"));
    }
    CHECK(Browser(site.site, tunnel).sign_in("ada", kPassword) == 429);
    CHECK(moved.sign_in("ada", kPassword) == 204);
  }
}

TEST_CASE("admin: guessing stays limited with a known browser, and for strangers", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  site.add("bob", OperatorRole::administrator);
  Browser browser(site.site, "198.51.100.1");
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  const auto wrong = [&](const std::string& name, const std::string& known) {
    Browser thief(site.site, "203.0.113.1");
    thief.known = known;
    return thief.sign_in(name, Secret("wrong wrong wrong"));
  };
  SECTION("a browser has five attempts") {
    for (int i = 0; i < 5; ++i) CHECK(wrong("ada", browser.known) == 401);
    CHECK(wrong("ada", browser.known) == 429);
    Browser owner(site.site, "203.0.113.2");
    owner.known = browser.known;
    CHECK(owner.sign_in("ada", kPassword) == 429);
  }
  SECTION("it is known for its own account only, unchanged, and until the credentials change") {
    guess_names(site.site, "203.0.113.1", 120);
    const auto right = [&](const std::string& name, const std::string& known) {
      Browser other(site.site, "203.0.113.1");
      other.known = known;
      return other.sign_in(name, kPassword);
    };
    CHECK(right("bob", browser.known) == 429);
    CHECK(right("ada", browser.known.substr(0, browser.known.size() - 1)) == 429);
    CHECK(right("ada", browser.known) == 204);
    CHECK(browser
              .post("/admin/api/password",
                    {{"present", kPassword.reveal()}, {"next", "four other quiet words"}})
              .status == 204);
  }
  SECTION("a flood from one address ends after 100") {
    guess_names(site.site, "203.0.113.1", 100);
    CHECK(Browser(site.site, "203.0.113.1").sign_in("bob", kPassword) == 429);
  }
}

TEST_CASE("admin: concurrent guesses count like sequential ones", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  std::atomic<int> looked_at = 0;
  std::atomic<int> rejected = 0;
  {
    std::vector<std::jthread> guessers;
    for (int i = 0; i < 8; ++i) {
      guessers.emplace_back([&] {
        Browser browser(site.site);
        const int status = browser.sign_in("ada", Secret("wrong wrong wrong"));
        looked_at += status == 401;
        rejected += status == 429;
      });
    }
  }
  CHECK(looked_at == 5);
  CHECK(rejected == 3);
}

TEST_CASE("admin: sign-in to an account pauses after five wrong codes from all sources together",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser home(site.site, "192.0.2.1");
  REQUIRE(home.sign_in("ada", kPassword) == 204);
  const Secret key = home.begin_authenticator(kPassword);
  home.enrol(site.code(key));
  int looked_at = 0;
  for (int i = 0; i < 60; ++i) {
    Browser thief(site.site, "198.51.100." + std::to_string(i));
    const int status = thief.sign_in("ada", kPassword, "000000");
    looked_at += status == 401;
    CHECK((status == 401 || status == 429));
  }
  CHECK(looked_at == 5);
  CHECK(Browser(site.site, "203.0.113.1").sign_in("ada", kPassword, site.code(key, 1)) == 429);
  // At the owner's known address, the thief has no effect, also after a restart.
  CHECK(home.sign_in("ada", kPassword, site.code(key, 1)) == 204);
  const auto failures = site.acts("sign-in", "unauthorized");
  CHECK(failures.size() == 5);
  CHECK(failures.at(0).at("actor") == "ada");
  CHECK(failures.at(0).at("details") == "wrong code after the right password");
  CHECK(Browser(site.site).get("/metrics").body.find("coffer_second_factor_failures_total") !=
        std::string::npos);
}

TEST_CASE("admin: wrong one-time links from many addresses do not lock an operator out",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  const auto link = flows::administrator_link(site.flows).value();
  const auto claim = [&](const std::string& peer, const std::string& secret) {
    return Browser(site.site, peer)
        .post("/admin/api/claim",
              {{"link", secret}, {"name", "bob"}, {"password", kPassword.reveal()}})
        .status;
  };
  for (int i = 0; i < 10'400; ++i) {
    const auto peer = "10." + std::to_string(i / 65'025) + "." + std::to_string(i / 255 % 255) +
                      "." + std::to_string(i % 255);
    CHECK(claim(peer, "ol_x") == 401);
  }
  for (int i = 0; i < 40; ++i) claim("203.0.113.7", "ol_x");
  CHECK(claim("203.0.113.7", "ol_x") == 429);
  CHECK(Browser(site.site, "192.0.2.1").sign_in("ada", kPassword) == 204);
  // The right link works even from the address of the guesses.
  CHECK(claim("203.0.113.7", link.reveal()) == 204);
  // Strangers cannot fill the audit log.
  CHECK(site.acts("use one-time link", "unauthorized").size() <= 51);
}

TEST_CASE("admin: a stolen session cannot change credentials, and every attempt is recorded",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser ada(site.site, "192.0.2.1");
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  const Secret key = ada.begin_authenticator(kPassword);
  ada.enrol(site.code(key));
  Browser thief(site.site, "198.51.100.1");
  thief.cookie = ada.cookie;
  thief.load();
  for (const char* path : {"authenticator", "recovery-codes", "password"}) {
    INFO(path);
    CHECK(thief.post(std::string("/admin/api/") + path, {{"next", "four other quiet words"}})
              .status == 401);
  }
  CHECK(thief.post("/admin/api/authenticator", {{"password", kPassword.reveal()}, {"code", ""}})
            .status == 401);
  CHECK(thief.post("/admin/api/authenticator/confirm", {{"code", "000000"}}).status == 409);
  CHECK(site.acts("begin authenticator enrolment", "unauthorized").size() == 2);
  CHECK(site.acts("renew recovery codes", "unauthorized").size() == 1);
  CHECK(site.acts("change password", "unauthorized").size() == 1);
  // The owner can do all of this, and it is recorded.
  const Secret next = ada.begin_authenticator(kPassword, site.code(key, 1));
  const std::string before = ada.cookie;
  ada.enrol(site.code(next));
  CHECK(site.acts("replace authenticator", "done").size() == 1);
  Browser old(site.site);
  old.cookie = before;
  CHECK(old.get("/admin/api/session").status == 401);
  CHECK(thief.get("/admin/api/session").status == 401);
  CHECK(ada.post("/admin/api/password", {{"present", kPassword.reveal()},
                                         {"code", site.code(next, 1)},
                                         {"next", "four other quiet words"}})
            .status == 204);
  CHECK(site.acts("change password", "done").size() == 1);
}

TEST_CASE("admin: a recovery code signs in once, and only after the password", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser ada(site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  const Secret key = ada.begin_authenticator(kPassword);
  const auto codes = ada.enrol(site.code(key));
  Browser other(site.site);
  CHECK(other.sign_in("ada", Secret("wrong wrong wrong"), codes.at(0)) == 401);
  CHECK(other.sign_in("ada", kPassword, codes.at(0)) == 204);
  CHECK(other.sign_in("ada", kPassword, codes.at(0)) == 401);
  CHECK(site.acts("sign-in", "done").at(0).at("details") == "with a recovery code");
  const auto renewed = other.post("/admin/api/recovery-codes",
                                  {{"password", kPassword.reveal()}, {"code", codes.at(1)}});
  REQUIRE(renewed.status == 200);
  CHECK(other.sign_in("ada", kPassword, codes.at(2)) == 401);
  CHECK(other.sign_in("ada", kPassword, Json::parse(renewed.body).at("recoveryCodes").at(0)) ==
        204);
}

TEST_CASE("admin: commands that move money or change access need a recent sign-in",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser ada(site.site);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  const std::string add = "/admin/api/run/operator/add";
  CHECK(ada.post(add, {{"NAME", "bob"}}).status == 200);
  site.file.clock().advance_ms(flows::OperatorSessions::kFreshMs - 1);
  CHECK(ada.post(add, {{"NAME", "eve"}}).status == 200);
  site.file.clock().advance_ms(1);
  CHECK(ada.get("/admin/api/run/association/list").status == 200);
  CHECK(ada.post(add, {{"NAME", "mallory"}}).status == 401);
  CHECK(ada.get("/admin/api/session").status == 401);
  REQUIRE(ada.sign_in("ada", kPassword) == 204);
  CHECK(ada.post(add, {{"NAME", "mallory"}}).status == 200);
  for (const char* command : {"wallet fund", "payment resolve", "application rotate",
                              "application register", "operator add", "operator role", "rate set",
                              "fee set", "association activate", "user resume"}) {
    INFO(command);
    REQUIRE(find_command(command) != nullptr);
    CHECK(needs_recent_sign_in(*find_command(command)));
  }
}

TEST_CASE("admin: sessions are listed and ended", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  site.add("bob", OperatorRole::administrator);
  Browser desk(site.site, "192.0.2.1");
  Browser phone(site.site, "192.0.2.2");
  Browser bob(site.site, "192.0.2.3");
  REQUIRE(desk.sign_in("ada", kPassword) == 204);
  REQUIRE(phone.sign_in("ada", kPassword) == 204);
  REQUIRE(bob.sign_in("bob", kPassword) == 204);
  const Json own = Json::parse(desk.get("/admin/api/sessions").body).at("data");
  REQUIRE(own.size() == 2);
  const Json& other = own.at(0).at("present") == true ? own.at(1) : own.at(0);
  CHECK(other.at("address") == "192.0.2.2");
  const Json all = site.file.run("operator sessions").json();
  CHECK(all.size() == 3);
  CHECK(site.file.run("operator sessions", {{"operator", "bob"}}).json().size() == 1);
  // An operator cannot end the session of another on their own page.
  CHECK(bob.post("/admin/api/sessions/end", {{"id", other.at("id")}}).status == 404);
  CHECK(desk.post("/admin/api/sessions/end", {{"id", other.at("id")}}).status == 204);
  CHECK(phone.get("/admin/api/session").status == 401);
  CHECK(desk.get("/admin/api/session").status == 200);
  CHECK(site.file.run("operator end-sessions", {{"NAME", "ada"}}).json().at("ended") == 1);
  CHECK(desk.get("/admin/api/session").status == 401);
  CHECK(bob.get("/admin/api/session").status == 200);
}

TEST_CASE("admin: a flood with random names costs one password check a second and delays no owner",
          "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser home(site.site, "192.0.2.1");
  REQUIRE(home.sign_in("ada", kPassword) == 204);
  const auto flood = [&](int number) {
    Browser stranger(site.site, "2001:db8:" + std::to_string(number) + "::1");
    return stranger.sign_in("name" + std::to_string(number), Secret("wrong wrong wrong"));
  };
  int looked_at = 0;
  for (int i = 0; i < 200; ++i) looked_at += flood(i) == 401;
  CHECK(looked_at == 121);
  // An existing account gets the same response.
  CHECK(Browser(site.site, "198.51.100.1").sign_in("ada", Secret("wrong wrong wrong")) == 429);
  CHECK(home.sign_in("ada", kPassword) == 204);
  site.file.clock().advance_ms(1'000);
  CHECK(flood(200) == 401);
  CHECK(flood(201) == 429);
  // The owner at a new address waits a second, not until the flood ends.
  site.file.clock().advance_ms(1'000);
  CHECK(Browser(site.site, "203.0.113.1").sign_in("ada", kPassword) == 204);
}
