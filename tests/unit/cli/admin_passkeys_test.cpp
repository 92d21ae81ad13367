// Passkeys of operators on the admin page: adding, sign-in, confirmation, removal
// (docs/operating.md).
#include <catch2/catch.hpp>

#include "support/authenticator.h"
#include "unit/cli/admin_browser.h"

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;
using coffer::test::Authenticator;
using coffer::test::IssuerKey;

namespace admin_passkeys_test {
namespace {

constexpr const char* kPageHost = "localhost:8081";
constexpr const char* kPageOrigin = "http://localhost:8081";
constexpr const char* kApi = "/admin/api/";

std::string challenge_of(const Json& options) {
  return from_base64url(options.at("challenge").get<std::string>()).value();
}

/// A browser at the host name of the page, with an authenticator.
struct Desk {
  explicit Desk(Site& site, const std::string& peer = "192.0.2.1")
      : browser(site.site, peer), device(IssuerKey::p256("k")) {
    browser.host = kPageHost;
    browser.origin = kPageOrigin;
    device.origin = kPageOrigin;
    device.site = "localhost";
  }

  /// Adds the device, and returns the response. `proof`: sent with the password.
  http::Response add(const Json& proof = Json::object()) {
    Json body{{"password", kPassword.reveal()}, {"code", ""}};
    body.update(proof);
    const auto begun = browser.post(std::string(kApi) + "passkeys/begin", body);
    if (begun.status != 200) return begun;
    const Json options = Json::parse(begun.body);
    device.user_handle = from_base64url(options.at("user").at("id").get<std::string>()).value();
    Json made = device.create(challenge_of(options));
    made["name"] = "Desk";
    auto added = browser.post(std::string(kApi) + "passkeys", made);
    if (added.status == 200) browser.load();
    return added;
  }
  /// The options of a passkey alone.
  Json begin() {
    const auto begun = browser.post(std::string(kApi) + "sign-in/passkey/begin");
    REQUIRE(begun.status == 200);
    return Json::parse(begun.body);
  }
  int finish(const Json& made) {
    const auto answer = browser.post(std::string(kApi) + "sign-in/passkey", made);
    if (answer.status == 204) browser.load();
    return answer.status;
  }
  int sign_in() { return finish(device.get(challenge_of(begin()))); }

  Browser browser;
  Authenticator device;
};

/// ada, signed in, with a passkey.
struct World {
  World() {
    site.add("ada", OperatorRole::administrator);
    REQUIRE(desk.browser.sign_in("ada", kPassword) == 204);
    const auto added = desk.add();
    REQUIRE(added.status == 200);
    codes = Json::parse(added.body).at("recoveryCodes");
  }
  Site site;
  Desk desk{site};
  std::vector<std::string> codes;
};

}  // namespace

TEST_CASE("admin: sign-in with only a passkey works and is recorded", "[cli][admin]") {
  World world;
  CHECK(world.codes.size() == 10);
  CHECK(world.site.acts("add passkey", "done").size() == 1);
  const Json options = world.desk.begin();
  CHECK(options.at("rpId") == "localhost");
  CHECK(options.at("userVerification") == "required");
  CHECK(options.at("allowCredentials").empty());
  CHECK(world.desk.finish(world.desk.device.get(challenge_of(options))) == 204);
  CHECK(world.site.acts("sign-in", "done").at(0).at("details") == "with a passkey");
  const auto session = Json::parse(world.desk.browser.get("/admin/api/session").body);
  CHECK(session.at("name") == "ada");
  CHECK(session.at("passkeys") == 1);
  const auto listed = Json::parse(world.desk.browser.get("/admin/api/passkeys").body).at("data");
  REQUIRE(listed.size() == 1);
  CHECK(listed.at(0).at("name") == "Desk");
  CHECK(listed.at(0).at("site") == "localhost");
  CHECK_FALSE(listed.at(0).at("usedAt").is_null());
}

TEST_CASE(
    "admin: sign-in with only a passkey needs a verified user, its owner and a fresh challenge",
    "[cli][admin]") {
  World world;
  Desk& desk = world.desk;
  desk.device.flags = Authenticator::kPresent;
  CHECK(desk.sign_in() == 401);
  desk.device.flags |= Authenticator::kVerified;
  CHECK(desk.sign_in() == 204);

  const std::string own = desk.device.user_handle;
  for (const std::string& other : {std::string(16, 'x'), std::string()}) {
    desk.device.user_handle = other;
    CHECK(desk.sign_in() == 401);
  }
  desk.device.user_handle = own;

  // Once only.
  const Json used = desk.device.get(challenge_of(desk.begin()));
  CHECK(desk.finish(used) == 204);
  CHECK(desk.finish(used) == 401);
  // From another browser, without the cookie of the attempt.
  const Json foreign = desk.device.get(challenge_of(desk.begin()));
  Desk other(world.site, "192.0.2.9");
  other.begin();
  CHECK(other.finish(foreign) == 401);
  other.browser.attempt.clear();
  CHECK(other.finish(foreign) == 401);
  CHECK(desk.finish(foreign) == 204);
  // Too late, and invented.
  const Json late = desk.device.get(challenge_of(desk.begin()));
  world.site.file.clock().advance_ms(flows::SignInChallenges::kLifetimeMs);
  CHECK(desk.finish(late) == 401);
  desk.begin();
  CHECK(desk.finish(desk.device.get(std::string(56, 'x'))) == 401);
  CHECK(desk.sign_in() == 204);
}

TEST_CASE("admin: a passkey of another page, key or operator does not sign in", "[cli][admin]") {
  World world;
  Desk& desk = world.desk;
  Authenticator right(IssuerKey::p256("k"));
  desk.device.origin = "http://localhost:3000";
  CHECK(desk.sign_in() == 401);
  desk.device.origin = "https://localhost:8081";
  CHECK(desk.sign_in() == 401);
  desk.device.origin = kPageOrigin;
  desk.device.site = "example.com";
  CHECK(desk.sign_in() == 401);
  desk.device.site = "localhost";
  Json tampered = desk.device.get(challenge_of(desk.begin()));
  tampered["signature"] = right.create("x").at("clientDataJSON");
  CHECK(desk.finish(tampered) == 401);
  Desk other(world.site, "192.0.2.9");
  other.device.credential_id = desk.device.credential_id;  // the ID is not secret
  other.device.user_handle = desk.device.user_handle;
  CHECK(other.sign_in() == 401);
  other.device.credential_id = std::string(32, 'z');
  CHECK(other.sign_in() == 401);
  CHECK(desk.sign_in() == 204);
  REQUIRE(world.site.file.run("operator suspend", {{"NAME", "ada"}}).code != 0);  // the only one
  world.site.add("root", OperatorRole::administrator);
  REQUIRE(world.site.file.run("operator suspend", {{"NAME", "ada"}}).code == 0);
  CHECK(desk.sign_in() == 401);
}

TEST_CASE("admin: a decreasing passkey counter is rejected, and recorded with the passkey's name",
          "[cli][admin]") {
  World world;
  world.desk.device.counter = 10;
  CHECK(world.desk.sign_in() == 204);
  for (const std::uint32_t sent : {10U, 9U, 0U}) {
    world.desk.device.counter = sent;
    CHECK(world.desk.sign_in() == 401);
  }
  const auto acts = world.site.acts("sign-in", "unauthorized");
  REQUIRE(acts.size() == 3);
  CHECK(acts.at(0).at("actor") == "ada");
  CHECK(acts.at(0).at("details").get<std::string>().find("copied") != std::string::npos);
  world.desk.device.counter = 11;
  CHECK(world.desk.sign_in() == 204);
}

TEST_CASE("admin: a passkey is the second factor after the password", "[cli][admin]") {
  World world;
  Desk& desk = world.desk;
  const Json form{{"name", "ada"}, {"password", kPassword.reveal()}, {"code", ""}};
  const auto asked = desk.browser.post("/admin/api/sign-in", form);
  REQUIRE(asked.status == 200);
  const Json options = Json::parse(asked.body).at("passkey");
  REQUIRE(options.at("allowCredentials").size() == 1);
  CHECK(options.at("allowCredentials").at(0).at("id") == to_base64url(desk.device.credential_id));
  // No session yet.
  Browser half(world.site.site);
  half.cookie = desk.browser.attempt;
  CHECK(half.get("/admin/api/session").status == 401);
  desk.device.flags = Authenticator::kPresent;  // a key without a PIN
  desk.device.user_handle.clear();              // and without discoverable credentials
  CHECK(desk.finish(desk.device.get(challenge_of(options))) == 204);
  CHECK(world.site.acts("sign-in", "done").at(0).at("details") == "with password and passkey");
  CHECK(world.site.acts("sign-in", "incomplete").size() == 1);
  // A recovery code still works, once; an invented code does not.
  CHECK(desk.browser.sign_in("ada", kPassword, world.codes.at(0)) == 204);
  CHECK(desk.browser.sign_in("ada", kPassword, world.codes.at(0)) == 401);
  CHECK(desk.browser.sign_in("ada", kPassword, "000000") == 401);
  // The response to a wrong password does not mention passkeys.
  CHECK(desk.browser.sign_in("ada", Secret("wrong wrong wrong")) == 401);
}

TEST_CASE("admin: the challenge after a password is for that operator only", "[cli][admin]") {
  World world;
  world.site.add("bob", OperatorRole::administrator);
  Desk bob(world.site, "192.0.2.1");
  REQUIRE(bob.browser.sign_in("bob", kPassword) == 204);
  bob.device.credential_id = std::string(32, 'b');
  REQUIRE(bob.add().status == 200);
  const auto asked = world.desk.browser.post(
      "/admin/api/sign-in", {{"name", "ada"}, {"password", kPassword.reveal()}, {"code", ""}});
  REQUIRE(asked.status == 200);
  const std::string challenge = challenge_of(Json::parse(asked.body).at("passkey"));
  bob.browser.attempt = world.desk.browser.attempt;
  CHECK(bob.finish(bob.device.get(challenge)) == 401);
  CHECK(world.desk.finish(world.desk.device.get(challenge)) == 204);
}

TEST_CASE("admin: the correct password gives no additional attempts at the code", "[cli][admin]") {
  World world;
  const Secret key = world.desk.browser.begin_authenticator(kPassword, world.codes.at(0));
  world.desk.browser.enrol(world.site.code(key));
  int looked_at = 0;
  for (int i = 0; i < 30; ++i) {
    Browser thief(world.site.site, "198.51.100." + std::to_string(i));
    looked_at += thief.sign_in("ada", kPassword, "000000") == 401;
    Desk asks(world.site, "203.0.113." + std::to_string(i));
    asks.browser.sign_in("ada", kPassword);
  }
  CHECK(looked_at == 5);
}

TEST_CASE(
    "admin: adding and removing a passkey needs a confirmation, and the last way to sign in stays",
    "[cli][admin]") {
  World world;
  Desk& desk = world.desk;
  // With a second factor, neither a session nor a password alone is sufficient.
  CHECK(desk.browser.post("/admin/api/passkeys/begin", Json::object()).status == 401);
  CHECK(desk.add().status == 401);
  const auto step_up = [&] {
    const auto asked = desk.browser.post("/admin/api/passkeys/challenge");
    REQUIRE(asked.status == 200);
    return Json{{"passkey", desk.device.get(challenge_of(Json::parse(asked.body)))}};
  };
  const Json proof = step_up();
  const std::string first = desk.device.credential_id;
  CHECK(desk.add(proof).status == 409);  // this device again
  CHECK(desk.add(proof).status == 401);  // the proof is used up
  const Json second_proof = step_up();
  desk.device.credential_id = std::string(32, 'd');
  CHECK(desk.add(second_proof).status == 200);
  desk.device.credential_id = first;
  const Json listed = Json::parse(desk.browser.get("/admin/api/passkeys").body).at("data");
  REQUIRE(listed.size() == 2);

  const auto remove = [&](const Json& which, const Json& with) {
    Json body{{"id", which.at("id")}, {"password", kPassword.reveal()}};
    body.update(with);
    const int status = desk.browser.post("/admin/api/passkeys/remove", body).status;
    if (status == 204) desk.browser.load();
    return status;
  };
  CHECK(remove(listed.at(1), Json::object()) == 401);
  CHECK(remove(listed.at(1), step_up()) == 204);
  CHECK(world.site.acts("remove passkey", "done").size() == 1);
  CHECK(remove({{"id", "0011223344556677"}}, step_up()) == 404);
  CHECK(desk.sign_in() == 204);
}

TEST_CASE("admin: a required second factor cannot be removed", "[cli][admin]") {
  Site site;
  const auto added = site.file.run("operator add", {{"NAME", "ada"}, {"role", "administrator"}});
  const std::string link = added.json().at("link");
  Desk desk(site);
  REQUIRE(desk.browser
              .post("/admin/api/claim", {{"link", link.substr(link.find("#claim=") + 7)},
                                         {"password", kPassword.reveal()}})
              .status == 204);
  desk.browser.load();
  CHECK(desk.browser.get("/admin/api/commands").status == 403);
  REQUIRE(desk.add().status == 200);
  CHECK(desk.browser.get("/admin/api/commands").status == 200);
  const Json listed = site.file.run("operator passkeys", {{"NAME", "ada"}}).json();
  REQUIRE(listed.size() == 1);
  const std::string id = listed.at(0).at("id");
  CHECK(site.file.run("operator remove-passkey", {{"NAME", "ada"}, {"ID", id}}).code != 0);
  CHECK(site.file.run("operator list").json().at(0).at("status") == "active");
  // A reset removes it.
  REQUIRE(site.file.run("operator reset", {{"NAME", "ada"}}).code == 0);
  CHECK(site.file.run("operator passkeys", {{"NAME", "ada"}}).json().empty());
  CHECK(desk.sign_in() == 401);
}

TEST_CASE("admin: a passkey registration belongs to its session and can be used once",
          "[cli][admin]") {
  World world;
  Desk& desk = world.desk;
  const auto begin = [&](Desk& at) {
    const auto begun =
        at.browser.post("/admin/api/passkeys/begin",
                        {{"password", kPassword.reveal()}, {"code", world.codes.back()}});
    world.codes.pop_back();
    REQUIRE(begun.status == 200);
    return challenge_of(Json::parse(begun.body));
  };
  const auto finish = [](Desk& at, Json made) {
    made["name"] = "Other";
    return at.browser.post("/admin/api/passkeys", made).status;
  };
  Desk second(world.site, "192.0.2.2");
  REQUIRE(second.browser.sign_in("ada", kPassword, world.codes.back()) == 204);
  world.codes.pop_back();
  const std::string challenge = begin(desk);
  second.device.credential_id = std::string(32, 's');
  CHECK(finish(second, second.device.create(challenge)) == 409);
  CHECK(finish(desk, second.device.create(std::string(56, 'x'))) == 409);
  Json unnamed = second.device.create(challenge);
  CHECK(desk.browser.post("/admin/api/passkeys", unnamed).status == 422);
  second.device.origin = "https://evil.example";
  CHECK(finish(desk, second.device.create(challenge)) == 422);
  second.device.origin = kPageOrigin;
  CHECK(finish(desk, second.device.create(challenge)) == 200);
  desk.browser.load();
  second.device.credential_id = std::string(32, 't');
  CHECK(finish(desk, second.device.create(challenge)) == 409);
}

TEST_CASE("admin: a page without a host name offers no passkeys, and says why", "[cli][admin]") {
  Site site;
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site);
  const auto rejected = browser.post("/admin/api/sign-in/passkey/begin");
  CHECK(rejected.status == 409);
  CHECK(rejected.body.find("http://localhost:8081/admin/") != std::string::npos);
  for (const char* origin : {"http://localhost:3000", "http://evil.example"}) {
    Desk desk(site);
    desk.browser.origin = origin;
    CHECK(desk.browser.post("/admin/api/sign-in/passkey/begin").status == 403);
  }
  // Behind a proxy with TLS, but not on another port of the same name.
  Desk desk(site);
  desk.browser.host = "localhost";
  desk.browser.origin = "https://localhost";
  CHECK(desk.browser.post("/admin/api/sign-in/passkey/begin").status == 200);
  desk.browser.host = "localhost:8443";
  desk.browser.origin = "https://localhost:8443";
  CHECK(desk.browser.post("/admin/api/sign-in/passkey/begin").status == 409);
}

TEST_CASE("admin: floods of begun sign-ins and wrong passkeys do not lock the owner out",
          "[cli][admin]") {
  World world;
  Desk& desk = world.desk;
  const std::string challenge = challenge_of(desk.begin());
  Desk flood(world.site, "192.0.2.66");
  for (int i = 0; i < 12'000; ++i) flood.begin();
  flood.device.credential_id = desk.device.credential_id;
  int limited = 0;
  for (int i = 0; i < 300; ++i) limited += flood.sign_in() == 429;
  CHECK(limited > 200);
  CHECK(desk.finish(desk.device.get(challenge)) == 204);
  // Not even at the address of the flood.
  Desk same(world.site, "192.0.2.66");
  CHECK(same.finish(desk.device.get(challenge_of(same.begin()))) == 204);
  CHECK(world.site.acts("sign-in", "unauthorized").size() <= 51);
}

}  // namespace admin_passkeys_test
