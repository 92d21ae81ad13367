// The names and attributes of the admin page's cookies.
#include <catch2/catch.hpp>

#include "unit/cli/admin_browser.h"

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;

TEST_CASE("admin: the cookie has the port in its name, and is Secure behind TLS", "[cli][admin]") {
  Site site([](Config& config) {
    config.trusted_proxies = {"192.0.2.1"};
    config.admin_hosts = {"pay.example"};
  });
  site.add("ada", OperatorRole::administrator);
  struct Row {
    const char* host;
    const char* origin;
    const char* scheme;  // X-Forwarded-Proto
    const char* peer;
    const char* cookie;
    bool secure;
  };
  const Row rows[] = {
      {"127.0.0.1:8081", "http://127.0.0.1:8081", "", "127.0.0.1", "coffer-admin-8081=", false},
      {"localhost:9", "http://localhost:9", "", "127.0.0.1", "coffer-admin-9=", false},
      {"[::1]:9", "http://[::1]:9", "", "127.0.0.1", "coffer-admin-9=", false},
      {"pay.example:8443", "https://pay.example:8443", "", "192.0.2.9",
       "__Host-coffer-admin-8443=", true},
      {"pay.example:8443", "http://pay.example:8443", "https", "192.0.2.1",
       "__Host-coffer-admin-8443=", true},
      // Not from a trusted proxy.
      {"pay.example:8443", "http://pay.example:8443", "https", "192.0.2.9",
       "coffer-admin-8443=", false},
  };
  for (const Row& row : rows) {
    Browser browser(site.site, row.peer);
    browser.host = row.host;
    browser.origin = row.origin;
    browser.scheme = row.scheme;
    INFO(row.host << " " << row.origin << " " << row.scheme);
    REQUIRE(browser.sign_in("ada", kPassword) == 204);
    CHECK(browser.cookie.rfind(row.cookie, 0) == 0);
    CHECK((browser.set.find("; Secure") != std::string::npos) == row.secure);
    CHECK(browser.set.find("; Path=/; HttpOnly; SameSite=Strict") != std::string::npos);
    CHECK(browser.set.find("Domain") == std::string::npos);
    CHECK(browser.known.rfind(
              std::string(row.cookie).substr(0, std::string(row.cookie).size() - 1) + "-known=",
              0) == 0);
    // The cookie of another port is not the session of this one.
    const std::string value = browser.cookie.substr(browser.cookie.find('='));
    browser.cookie = "coffer-admin-1" + value;
    CHECK(browser.get("/admin/api/session").status == 401);
  }
}

TEST_CASE("admin: over TLS, a cookie without the prefix is not accepted", "[cli][admin]") {
  Site site([](Config& config) {
    config.trusted_proxies = {"192.0.2.1"};
    config.admin_hosts = {"pay.example"};
  });
  site.add("ada", OperatorRole::administrator);
  Browser browser(site.site, "192.0.2.1");
  browser.host = "pay.example";
  browser.origin = "https://pay.example";
  browser.scheme = "https";
  REQUIRE(browser.sign_in("ada", kPassword) == 204);
  REQUIRE(browser.cookie.rfind("__Host-coffer-admin", 0) == 0);
  CHECK(browser.get("/admin/api/session").status == 200);
  browser.cookie = browser.cookie.substr(std::string("__Host-").size());
  CHECK(browser.get("/admin/api/session").status == 401);
}
