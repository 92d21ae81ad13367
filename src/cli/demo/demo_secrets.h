// What the demo's application and its operator authenticate with, kept readable beside the demo's
// database so that it can be printed again. For the demo only: nowhere else does coffer store such
// secrets.
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

/// Who signs in to the admin page of a demo, without an authenticator.
inline constexpr std::string_view kDemoOperator = "demo";

/// `FILE.demo.json` of a demo database FILE.
std::string demo_secrets_path(const std::string& database);

/// Marks a database that is about to be made as a demo: creates an empty secrets file. Whatever
/// stands in the way shows again, with its reason, when the database is opened.
void claim_demo(const std::string& database);
bool is_claimed_as_demo(const std::string& database);

/// The secrets of the demo application. If file and database disagree, the application is
/// registered again or its secrets are rotated, so the next start repairs the effect of a kill at
/// any moment. The complete file is on disk before this returns.
Result<DemoSecrets> ensure_demo_secrets(App& app, AssociationId association);
/// The same for the operator of the demo: afterwards `secrets` holds the password that opens the
/// page.
Result<void> ensure_demo_operator(App& app, DemoSecrets& secrets);

}  // namespace coffer::cli
