// Access to protected routes: both headers, of one application, while it is permitted.
#include <catch2/catch.hpp>

#include "base/telemetry/log.h"
#include "support/sealed_edits.h"
#include "support/test_app.h"
#include "support/unguarded.h"

using namespace coffer;
using namespace coffer::test;

namespace identity_test {
namespace {

const std::string kWallets = "/v1/wallets";

void check_rejected(const Reply& reply, int status, const std::string& slug) {
  INFO(reply.text());
  CHECK(reply.status == status);
  CHECK(reply.slug() == slug);
  if (status == 401) CHECK_FALSE(reply.header("WWW-Authenticate").empty());
}

/// The same token with one character of one part changed.
std::string tampered(const std::string& token, std::size_t at) {
  std::string out = token;
  out[at] = out[at] == 'A' ? 'B' : 'A';
  return out;
}

}  // namespace

TEST_CASE("both headers are needed") {
  TestApp app;
  check_rejected(app.anonymous().get(kWallets), 401, "unauthorized");
  check_rejected(app.me().without("x-svc-auth").get(kWallets), 401, "unauthorized");
  check_rejected(app.me().without("Authorization").get(kWallets), 401, "unauthorized");
  check_rejected(app.me().with("x-svc-auth", "").get(kWallets), 401, "unauthorized");
  check_rejected(app.me().with("Authorization", "Bearer").get(kWallets), 401, "unauthorized");
  check_rejected(app.me().with("Authorization", "Basic YTpi").get(kWallets), 401, "unauthorized");
  CHECK(app.me().get(kWallets).status == 200);
}

TEST_CASE("the headers must belong to one application") {
  TestApp app;
  const Client other = app.stranger();
  // Two applications of the same association do not share credentials.
  const Client sibling(app, app.register_application(app.association()));
  for (const Client& foreign : {other, sibling}) {
    check_rejected(app.me().with("x-svc-auth", foreign.credentials().api_key).get(kWallets), 401,
                   "unauthorized");
    check_rejected(app.me().with("Authorization", "Bearer " + foreign.token()).get(kWallets), 401,
                   "unauthorized");
  }
  check_rejected(app.me().with("x-svc-auth", "ak_unknown").get(kWallets), 401, "unauthorized");
  check_rejected(app.me().with("x-svc-auth", app.me().credentials().client_secret).get(kWallets),
                 401, "unauthorized");
}

TEST_CASE("an API key that another program writes into the file is rejected") {
  TestApp app;
  const auth::SecretHasher& hasher = *app.flows().hasher;
  const std::string own = app.me().credentials().api_key;
  const std::string planted = "ak_" + std::string(64, 'a');
  store::Connection db(app.core().database().path(), store::OpenMode::read_write);
  const auto change = [](const Sha256& from, const Sha256& to) {
    return "UPDATE applications SET api_key_hash = x'" + to_hex(as_text(to)) +
           "' WHERE api_key_hash = x'" + to_hex(as_text(from)) + "'";
  };
  const Client thief = app.me().with("x-svc-auth", planted);
  change_unguarded(db, change(hasher.hash(own), sha256(planted)));
  check_rejected(thief.get(kWallets), 401, "unauthorized");
  // With the key of the hashes, the key is found, but coffer does not act on the row.
  change_unguarded(db, change(sha256(planted), hasher.hash(planted)));
  CHECK(thief.get(kWallets).status == 502);
  change_unguarded(db, change(hasher.hash(planted), hasher.hash(own)));
  // With all keys of the file, the same edit would be accepted.
  SealedEdits edits(app);
  edits.run_unguarded(change(hasher.hash(own), hasher.hash(planted)));
  CHECK(thief.get(kWallets).status == 200);
  edits.run_unguarded(change(hasher.hash(planted), hasher.hash(own)));
}

TEST_CASE("a token from another issuer is rejected") {
  TestApp app;
  const std::string token = app.me().token();
  const std::size_t dot = token.find('.');
  // {"alg":"none","typ":"JWT"} with a valid payload and no signature.
  const std::string unsigned_token =
      "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0" + token.substr(dot, token.rfind('.') - dot) + ".";
  for (const std::string& bad :
       {std::string("nonsense"), std::string("a.b.c"), tampered(token, 3), tampered(token, dot + 9),
        tampered(token, token.size() - 2), token.substr(0, token.rfind('.') + 1), unsigned_token,
        token + "x", std::string(5000, 'x')}) {
    INFO(bad);
    check_rejected(app.me().with("Authorization", "Bearer " + bad).get(kWallets), 401,
                   "unauthorized");
  }
  CHECK(app.me().with("Authorization", "bEaReR " + token).get(kWallets).status == 200);
}

TEST_CASE("a token of another coffer is rejected, even with the same IDs and keys") {
  // The same seed gives the same IDs and secrets; only the master keys differ.
  const auto with_key = [](char digit) {
    return [digit](Config& config) { config.master_key = Secret(std::string(64, digit)); };
  };
  TestApp first(with_key('a')), second(with_key('b'));
  REQUIRE(first.me().credentials().api_key == second.me().credentials().api_key);
  CHECK(first.me().token() != second.me().token());
  check_rejected(first.me().with("Authorization", "Bearer " + second.me().token()).get(kWallets),
                 401, "unauthorized");
}

TEST_CASE("a token expires to the second, even if it was just used") {
  TestApp app;
  app.clock.advance_ms(3'599'999);
  CHECK(app.me().get(kWallets).status == 200);
  app.clock.advance_ms(1);
  const Reply reply = app.me().get(kWallets);
  check_rejected(reply, 401, "token-expired");
  CHECK_THAT(reply.header("WWW-Authenticate"), Catch::Matchers::Contains("invalid_token"));
  CHECK(app.me().scoped("wallets:read").get(kWallets).status == 200);
}

TEST_CASE("tokens become invalid immediately") {
  TestApp app;
  const ApplicationId id = app.me().credentials().application;
  REQUIRE(app.me().get(kWallets).status == 200);
  SECTION("rotation") {
    const auto rotated = flows::rotate_application(app.flows(), id).value();
    check_rejected(app.me().get(kWallets), 401, "unauthorized");
    // Not even with the new key: the token is of the old version.
    check_rejected(app.me().with("x-svc-auth", rotated.secrets.api_key.reveal()).get(kWallets), 401,
                   "unauthorized");
  }
  SECTION("suspension; resuming does not restore them") {
    flows::suspend_application(app.flows(), id, true).value();
    check_rejected(app.me().get(kWallets), 401, "unauthorized");
    flows::suspend_application(app.flows(), id, false).value();
    check_rejected(app.me().get(kWallets), 401, "unauthorized");
    CHECK(app.me().scoped("wallets:read").get(kWallets).status == 200);
  }
  SECTION("a change of scopes") {
    flows::change_scopes(app.flows(), id, ScopeSet::all()).value();
    check_rejected(app.me().get(kWallets), 401, "unauthorized");
  }
}

TEST_CASE("the suspension of another application has no effect") {
  TestApp app;
  const Client other = app.stranger();
  flows::suspend_application(app.flows(), other.credentials().application, true).value();
  check_rejected(other.get(kWallets), 401, "unauthorized");
  CHECK(app.me().get(kWallets).status == 200);
}

TEST_CASE("a suspended association reads but moves no money") {
  TestApp app;
  const std::string from = app.wallet("USDC", "10"), to = app.wallet("USDC");
  const std::string running = app.me().transfer(from, to, "1");
  app.change_status(app.association(), AssociationStatus::suspended);
  for (const char* route : {"/v1/payments/p2p/own", "/v1/payments/p2p/own/multi",
                            "/v1/payments/swap/own", "/v1/payments/p2p/own/validate"}) {
    INFO(route);
    check_rejected(app.me().post(route, transfer_body(from, to, "1")), 403,
                   "association-suspended");
  }
  for (const char* route : {"/v1/wallets", "/v1/transactions", "/v1/assets"}) {
    INFO(route);
    CHECK(app.me().get(route).status == 200);
  }
  // Payments accepted earlier still finish.
  app.settle();
  CHECK(app.me().status(running) == "succeeded");
  app.change_status(app.association(), AssociationStatus::active);
  CHECK(app.me().post("/v1/payments/p2p/own", transfer_body(from, to, "1")).status == 202);
}

TEST_CASE("a pending association reads but moves no money") {
  TestApp app;
  const AssociationId id = app.register_association(AssociationStatus::pending);
  const Client pending(app, app.register_application(id));
  const std::string from = pending.wallet("USDC", "10"), to = pending.wallet("USDC");
  const Reply rejected = pending.post("/v1/payments/p2p/own", transfer_body(from, to, "1"));
  check_rejected(rejected, 403, "forbidden");
  CHECK_THAT(rejected.body, Catch::Matchers::Contains("pending"));
  CHECK_THAT(rejected.body, !Catch::Matchers::Contains("suspended"));
  CHECK(pending.get(kWallets).status == 200);
}

TEST_CASE("the association header is neither needed nor read") {
  TestApp app;
  const Client other = app.stranger();
  const std::string mine = app.wallet("USDC");
  const std::string theirs = app.association().to_string();
  CHECK(other.with("x-association-id", theirs).get(kWallets + "/" + mine).status == 404);
  CHECK(app.me().with("x-association-id", "nonsense").get(kWallets + "/" + mine).status == 200);
}

TEST_CASE("an application sees only its own environment") {
  TestApp app;
  const Client production = app.production();
  const std::string sandbox_wallet = app.wallet("USDC");
  const std::string production_wallet = production.wallet("USDC");
  CHECK(production.get(kWallets + "/" + sandbox_wallet).status == 404);
  CHECK(app.me().get(kWallets + "/" + production_wallet).status == 404);
  CHECK(member_of_each(production.all(kWallets), "id") ==
        std::vector<std::string>{production_wallet});
}

TEST_CASE("no secret and no token reaches the log, at any level") {
  TestApp app;
  set_log_level(LogLevel::debug);
  const Credentials own = app.me().credentials();
  const std::string token = app.me().token();
  app.me().get(kWallets);
  app.me().with("x-svc-auth", own.client_secret).get(kWallets);
  Json wrong = app.me().token_request();
  wrong["clientId"] = "app_other";
  app.anonymous().post("/v1/auth/token", wrong);
  app.me().scoped("wallets:read").get("/v1/transactions");
  set_log_level(LogLevel::info);
  const std::string log = app.log();
  CHECK_THAT(log, Catch::Matchers::Contains("listWallets"));
  for (const std::string& secret : {own.client_secret, own.api_key, token}) {
    CHECK_THAT(log, !Catch::Matchers::Contains(secret));
  }
}

}  // namespace identity_test
