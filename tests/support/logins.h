// Frequent operations of login tests.
#pragma once

#include <string>

#include "support/test_app.h"

namespace coffer::test {

/// Requests a challenge for the application and signs it with its key.
std::string signed_challenge(TestApp& app, const Credentials& credentials);
/// The reply of a successful challenge login.
Json challenge_login(TestApp& app, const Credentials& credentials);

/// An enrolled user.
struct TestUser {
  UserId id;
  std::string username;
  std::string password;
  std::string otp_key;  // raw

  /// The present code, or the code this many steps from now.
  std::string code(const TestApp& app, int steps = 0) const;
  Json login(const TestApp& app, int steps = 0) const;
};

TestUser add_user(TestApp& app, AssociationId association, const std::string& username);

}  // namespace coffer::test
