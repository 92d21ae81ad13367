// The admin page behind a proxy (docs/operating.md#the-admin-page).
#include <catch2/catch.hpp>

#include "unit/cli/admin_browser.h"

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;

namespace admin_proxy_test {

TEST_CASE("admin: the page works behind a proxy that changes Host, and other pages are rejected",
          "[cli][admin]") {
  Site site([](Config& config) {
    config.admin_hosts = {"admin.example"};
    config.home_domain = "pay.example";
    config.trusted_proxies = {"127.0.0.1"};
  });
  site.add("ada", OperatorRole::administrator);
  struct Row {
    const char* peer;
    const char* host;
    const char* forwarded_host;
    const char* origin;
    int status;
  };
  const Row rows[] = {
      {"127.0.0.1", "127.0.0.1:8081", "", "https://admin.example", 204},
      {"127.0.0.1", "127.0.0.1:8081", "admin.example", "https://admin.example", 204},
      {"127.0.0.1", "127.0.0.1:8081", "admin.example, proxy", "https://ADMIN.example", 204},
      {"127.0.0.1", "127.0.0.1:8081", "admin.example:8443", "https://admin.example:8443", 204},
      {"127.0.0.1", "127.0.0.1:8081", "", "https://pay.example", 204},
      {"127.0.0.1", "localhost:8081", "192.0.2.7:9", "http://192.0.2.7:9", 204},
      {"192.0.2.9", "127.0.0.1:8081", "", "https://admin.example", 204},
      {"127.0.0.1", "127.0.0.1:8081", "", "https://evil.example", 403},
      {"127.0.0.1", "127.0.0.1:8081", "admin.example", "https://evil.example", 403},
      {"127.0.0.1", "127.0.0.1:8081", "evil.example", "https://evil.example", 403},
      {"192.0.2.9", "127.0.0.1:8081", "192.0.2.7:9", "http://192.0.2.7:9", 403},
      {"127.0.0.1", "127.0.0.1:8081", "", "https://admin.example.evil.example", 403},
      {"127.0.0.1", "127.0.0.1:8081", "", "null", 403},
      {"127.0.0.1", "127.0.0.1:8081", "", "ftp://admin.example", 403},
      {"127.0.0.1", "127.0.0.1:8081", "", "", 403},
      {"127.0.0.1", "127.0.0.1:8081", "", "http://", 403},
      {"127.0.0.1", "", "", "http://", 403}};
  for (const Row& row : rows) {
    INFO(row.peer << " " << row.host << " " << row.forwarded_host << " " << row.origin);
    Browser browser(site.site, row.peer);
    browser.host = row.host;
    browser.origin = row.origin;
    if (*row.forwarded_host != 0) browser.more = {{"X-Forwarded-Host", row.forwarded_host}};
    const auto reply = browser.post(
        "/admin/api/sign-in", {{"name", "ada"}, {"password", kPassword.reveal()}, {"code", ""}});
    CHECK(reply.status == row.status);
    if (row.status == 403) CHECK(reply.body.find("admin_hosts") != std::string::npos);
  }
}

}  // namespace admin_proxy_test
