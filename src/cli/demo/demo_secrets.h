// The credentials of the demo's application and operator, stored in plain text next to the demo's
// database, so that they can be printed again. Only the demo stores such secrets.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/strong.h"
#include "domain/ids.h"

namespace coffer {
class App;
}

namespace coffer::cli {

struct DemoSecrets {
  ApplicationId application;
  std::string client_id;
  std::string public_key;
  Secret client_secret;
  Secret api_key;
  Secret connect_secret;
  Secret sign_in_secret;
  Secret secret_seed;
  Secret admin_password;  // of kDemoOperator
};

/// The operator of a demo, who signs in without an authenticator.
inline constexpr std::string_view kDemoOperator = "demo";

/// `FILE.demo.json` for a demo database FILE.
std::string demo_secrets_path(const std::string& database);

/// Marks a new database as a demo by creating an empty secrets file, and returns whether it did. If
/// this fails, opening the database reports the reason. `forbidden` if the file exists and no demo
/// wrote it.
Result<bool> claim_demo(const std::string& database);
/// Removes a claim, with its secrets, if the database was not created.
void drop_unused_claim(const std::string& database);
bool is_claimed_as_demo(const std::string& database);

/// The credentials of the demo application. If file and database disagree, the application is
/// registered again or its secrets are rotated, so that a start after a kill at any moment repairs
/// them. The complete file is on disk when this returns.
Result<DemoSecrets> ensure_demo_secrets(App& app, AssociationId association);
/// Does the same for the operator of the demo and stores the password of the admin page in
/// `secrets`.
Result<void> ensure_demo_operator(App& app, DemoSecrets& secrets);

}  // namespace coffer::cli
