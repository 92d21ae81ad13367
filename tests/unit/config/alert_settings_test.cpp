// The settings of alerts: invalid values, and the place of the error.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "config/config.h"

using namespace coffer;

namespace alert_settings_test {
namespace {

constexpr const char* kSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

struct World {
  /// As `WHERE: WHAT` lines; empty without errors.
  std::string errors() const {
    const auto config = load_config(
        {.flags = flags, .environment = [this](const std::string& name) {
           const auto found = environment.find(name);
           return found == environment.end() ? std::nullopt : std::optional(found->second);
         }});
    return config ? "" : config_error_text(config.error());
  }
  std::map<std::string, std::string> environment{{"HOME", "/nonexistent"}};
  ConfigFlags flags;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a URL for alerts needs a secret of sufficient length", "[config]") {
  World world;
  world.flags["alert_webhook_url"] = "https://ops.example/alerts";
  CHECK(has(world.errors(), "alert_webhook_url is set and alert_webhook_secret is not"));
  for (const char* wrong : {"whsec_c2hvcnQ=", "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
                            "whsec_!!!!MzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}) {
    INFO(wrong);
    world.environment["COFFER_ALERT_WEBHOOK_SECRET"] = wrong;
    const std::string errors = world.errors();
    CHECK(has(errors, "COFFER_ALERT_WEBHOOK_SECRET: it is not a webhook secret"));
    CHECK_FALSE(has(errors, wrong));
  }
  world.environment["COFFER_ALERT_WEBHOOK_SECRET"] = kSecret;
  CHECK(world.errors().empty());
}

TEST_CASE("a URL for alerts needs TLS or loopback, and may be in the internal network",
          "[config]") {
  World world;
  world.environment["COFFER_ALERT_WEBHOOK_SECRET"] = kSecret;
  for (const char* wrong : {"http://ops.example/alerts", "http://10.0.0.1/", "ops.example",
                            "https://user:password@ops.example/", "https://a..b/"}) {
    INFO(wrong);
    world.flags["alert_webhook_url"] = wrong;
    CHECK(has(world.errors(), "--alert-webhook-url: "));
  }
  for (const char* right :
       {"http://127.0.0.1:9000/x", "https://[::1]:9000/x", "https://10.0.0.1/x"}) {
    INFO(right);
    world.flags["alert_webhook_url"] = right;
    CHECK(world.errors().empty());
  }
}

TEST_CASE("alerts by e-mail need an address, and a mail server or sendmail", "[config]") {
  World world;
  world.flags["alert_email"] = "ops@bank.example";
  CHECK(has(world.errors(), "neither notify_smtp nor notify_sendmail is"));
  world.flags["notify_sendmail"] = "/bin/sh";
  world.flags["notify_from"] = "gateway@bank.example";
  CHECK(world.errors().empty());
  world.flags["notify_smtp"] = "smtp://mail.example";
  CHECK(has(world.errors(), "notify_smtp and notify_sendmail are both set. Set one"));
  world.flags.erase("notify_sendmail");
  CHECK(world.errors().empty());
  world.flags["notify_smtp_user"] = "ops";
  CHECK(has(world.errors(), "notify_smtp_user is set and notify_smtp_password is not. Set both"));
  world.environment["COFFER_NOTIFY_SMTP_PASSWORD"] = "sesame";
  CHECK(world.errors().empty());
  world.flags["notify_smtp"] = "http://mail.example";
  CHECK(has(world.errors(), "is not the address of a mail server"));
  world.flags.erase("notify_smtp");
  CHECK(has(world.errors(), "notify_smtp_user is set and notify_smtp is not. Set both"));
  world.flags["notify_smtp"] = "smtp://mail.example";
  world.flags["alert_email"] = "ops at bank";
  CHECK(has(world.errors(), "is not an e-mail address"));
}

}  // namespace alert_settings_test
