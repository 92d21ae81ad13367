// A browser on the admin page, and a site with its own file.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "auth/totp.h"
#include "base/digest.h"
#include "cli/admin/site.h"
#include "flows/identity/operators.h"
#include "http/router.h"
#include "unit/cli/open_file.h"

namespace coffer::cli::test {

using Json = nlohmann::json;

inline constexpr const char* kHost = "127.0.0.1:8081";
inline const Secret kPassword("correct horse battery");
/// Arguments of `connector add`: 129.5 KES for 1 USDC.
inline const std::map<std::string, std::string> kPayoutConnector{
    {"NAME", "Payouts"}, {"method", "BANK"}, {"country", "KE"}, {"currency", "KES"},
    {"asset", "USDC"},   {"rate", "129.5"},  {"min", "1"},      {"max", "1000"}};

inline std::string header_of(const http::Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

/// A browser that keeps the cookie and sends its origin.
class Browser {
 public:
  explicit Browser(AdminSite& site, std::string peer = "127.0.0.1")
      : site_(site), peer_(std::move(peer)) {}

  http::Response get(const std::string& path) { return send("GET", path, {}); }
  http::Response post(const std::string& path, const Json& body = Json::object()) {
    return send("POST", path, body.dump());
  }
  /// Signs in and reads the token of the session.
  int sign_in(const std::string& name, const Secret& password, const std::string& code = {}) {
    const auto answer = post("/admin/api/sign-in",
                             {{"name", name}, {"password", password.reveal()}, {"code", code}});
    if (answer.status == 204) load();
    return answer.status;
  }
  /// The raw key of an authenticator before its first code.
  Secret begin_authenticator(const Secret& password, const std::string& code = {}) {
    const auto reply =
        post("/admin/api/authenticator", {{"password", password.reveal()}, {"code", code}});
    REQUIRE(reply.status == 200);
    const std::string uri = Json::parse(reply.body).at("otpauthUri");
    const auto at = uri.find("secret=") + 7;
    return Secret(from_base32(uri.substr(at, uri.find('&', at) - at)).value());
  }
  /// Enrols an authenticator, and returns the recovery codes.
  std::vector<std::string> enrol(const std::string& code) {
    const auto reply = post("/admin/api/authenticator/confirm", {{"code", code}});
    REQUIRE(reply.status == 200);
    load();
    return Json::parse(reply.body).at("recoveryCodes");
  }
  void load() { csrf = Json::parse(get("/admin/api/session").body).at("csrfToken"); }

  std::string csrf;
  std::string cookie;
  std::string attempt;  // the cookie of a sign-in that is not finished
  std::string known;    // the cookie of a browser that has signed in
  std::string set;      // the last Set-Cookie of the session
  std::string host = kHost;
  std::string scheme;  // as a proxy in front reports it
  std::string origin = std::string("http://") + kHost;
  std::vector<std::pair<std::string, std::string>> more;  // headers that a proxy adds

 private:
  http::Response send(const std::string& method, const std::string& target,
                      const std::string& body) {
    http::Request request;
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    request.bad_query = !http::read_query(target, request.query);
    request.peer = peer_;
    request.body = body;
    request.headers = more;
    request.headers.emplace_back("Host", host);
    if (method == "POST") request.headers.emplace_back("Content-Type", "application/json");
    if (!scheme.empty()) request.headers.emplace_back("X-Forwarded-Proto", scheme);
    if (!origin.empty() && method == "POST") request.headers.emplace_back("Origin", origin);
    std::string cookies = "other=1";
    for (const std::string& each : {attempt, cookie, known}) {
      if (!each.empty()) cookies += "; " + each;
    }
    request.headers.emplace_back("Cookie", cookies);
    if (!csrf.empty()) request.headers.emplace_back("X-CSRF-Token", csrf);
    http::Response response = site_.handle(request);
    for (const auto& [name, value] : response.headers) {
      if (name != "Set-Cookie") continue;
      const bool begins = value.find("-attempt=") != std::string::npos;
      const bool remembers = value.find("-known=") != std::string::npos;
      (begins ? attempt : remembers ? known : cookie) = value.substr(0, value.find(';'));
      if (!begins && !remembers) set = value;
    }
    return response;
  }

  AdminSite& site_;
  std::string peer_;
};

struct Site {
  explicit Site(const std::function<void(Config&)>& change = {}) : file(change) {}

  OpenFile file;
  AdminSite site{file.app()};
  const flows::Context& flows = file.app().flows();

  /// The current code, or the code `steps` from now.
  std::string code(const Secret& key, int steps = 0) {
    return auth::totp_code(key, auth::totp_step(file.clock().now()) + steps);
  }
  /// Audit entries of a command with a result, newest first.
  Json acts(const std::string& command, const std::string& outcome) {
    Json out = Json::array();
    for (const Json& act :
         file.run("audit list", {{"command", command}, {"limit", "500"}}).json()) {
      if (act.at("outcome") == outcome) out.push_back(act);
    }
    return out;
  }

  /// An operator that signs in with only a password.
  void add(const std::string& name, OperatorRole role) {
    const auto link = flows::administrator_link(flows);
    REQUIRE(flows::ensure_administrator(flows, name, kPassword, false));
    if (role != OperatorRole::administrator) {
      REQUIRE(flows::ensure_administrator(flows, "keeper", kPassword, false));
      REQUIRE(flows::change_operator_role(flows, name, role));
    }
  }
};

}  // namespace coffer::cli::test
