#include "support/logins.h"

#include <catch2/catch.hpp>

#include "auth/totp.h"
#include "flows/identity/user_changes.h"
#include "support/challenge_signer.h"

namespace coffer::test {

std::string signed_challenge(TestApp& app, const Credentials& credentials) {
  const Reply reply =
      app.anonymous().get("/v1/public/auth-connect?account=" + credentials.public_key);
  INFO(reply.text());
  REQUIRE(reply.status == 200);
  return sign_challenge(reply.json().at("transaction"), reply.json().at("network_passphrase"),
                        credentials.secret_seed);
}

Json challenge_login(TestApp& app, const Credentials& credentials) {
  const Reply reply = app.anonymous().post("/v1/public/auth-connect",
                                           {{"transaction", signed_challenge(app, credentials)}});
  INFO(reply.text());
  REQUIRE(reply.status == 200);
  return reply.json();
}

std::string TestUser::code(const TestApp& app, int steps) const {
  return auth::totp_code(Secret(otp_key), auth::totp_step(app.clock.now()) + steps);
}

Json TestUser::login(const TestApp& app, int steps) const {
  return {{"username", username}, {"password", password}, {"otp", code(app, steps)}};
}

TestUser add_user(TestApp& app, AssociationId association, const std::string& username) {
  const auto enrolled = flows::add_user(app.flows(), username, association).value();
  return {enrolled.user.id, enrolled.user.username, enrolled.password.reveal(),
          flows::open_otp_key(app.flows(), enrolled.user).value().reveal()};
}

}  // namespace coffer::test
