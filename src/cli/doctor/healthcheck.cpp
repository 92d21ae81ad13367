#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "cli/doctor/checks.h"
#include "cli/settings.h"
#include "http/certificate.h"
#include "outbound/wire/address_trial.h"
#include "outbound/wire/resolver.h"

namespace coffer::cli {
namespace {

constexpr int kLongestTimeoutMs = 600'000;

/// What to do if the server's certificate is not accepted; empty for other errors.
std::string certificate_remedy(const std::string& detail) {
  if (detail.find(http::kCertificateRejected) == std::string::npos) return {};
  if (detail.find("mismatch") != std::string::npos) {
    return " Use a host name in the certificate in --url.";
  }
  if (detail.find("expired") != std::string::npos) return " Renew the certificate of the server.";
  return " Trust the authority that issued it: set --ca-bundle to its certificate (PEM).";
}

std::optional<HealthTarget> named_target(const Console& console, const Arguments& arguments,
                                         const ConfigFlags& flags, int& code) {
  const std::string& text = arguments.text("url");
  const auto url = outbound::parse_url(text);
  if (!url) {
    print_error(console, "--url " + text + " is not an http or https URL");
    code = exit_code::kUsage;
    return std::nullopt;
  }
  if (!url->tls) return HealthTarget{text, *url};
  const auto bundle = flags.find("ca_bundle");
  auto found = http::find_ca_bundle(bundle == flags.end() ? "" : bundle->second);
  if (!found) {
    print_error(console, found.error().detail);
    code = exit_code::kConfiguration;
    return std::nullopt;
  }
  return HealthTarget{text, *url, {}, *std::move(found)};
}

/// The API of the server that has the same settings.
std::optional<HealthTarget> own_target(const Console& console, const ConfigFlags& flags,
                                       int& code) {
  const auto config = read_settings(console, {.flags = flags}, code);
  if (!config) return std::nullopt;
  const HostPort listener = connectable(config->listen_http);
  if (listener.port == 0) {
    print_error(console, "listen_http has port 0, so the port is unknown. Set --url");
    code = exit_code::kUsage;
    return std::nullopt;
  }
  return health_target(listener, config->tls_cert);
}

int healthcheck(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  const auto timeout_ms = number_argument(arguments, "timeout-ms", 1, kLongestTimeoutMs);
  if (!timeout_ms) return print_problem(console, timeout_ms.error(), {});
  int code = exit_code::kDone;
  const auto target = arguments.has("url") ? named_target(console, arguments, flags, code)
                                           : own_target(console, flags, code);
  if (!target) return code;
  const std::string& text = target->text;
  const auto result = ask_health(*target, *timeout_ms);
  if (!result) {
    const std::string& detail = result.error().detail;
    print_error(console, text + " cannot be reached: " + detail + certificate_remedy(detail));
    return exit_code::kUnreachable;
  }
  const bool healthy = result->status >= 200 && result->status < 300;
  const Record record = {{"url", text}, {"status", result->status}, {"healthy", healthy}};
  code = healthy ? exit_code::kDone : exit_code::kFault;
  return print_result(console, {.records = {record}, .failed = !healthy, .exit_code = code},
                      arguments.json);
}

}  // namespace

HealthTarget health_target(const HostPort& listener, const std::string& tls_cert) {
  const HostPort reached = connectable(listener);
  const bool tls = !tls_cert.empty();
  const std::string text = (tls ? "https://" : "http://") + reached.to_string() + "/healthz";
  HealthTarget out{text, *outbound::parse_url(text), reached.host, tls_cert};
  if (!tls) return out;
  const auto certificate = http::read_certificate_file(tls_cert);
  if (certificate && !certificate->first_name.empty()) out.url.host = certificate->first_name;
  return out;
}

Result<http::ClientResponse> ask_health(const HealthTarget& target, int timeout_ms) {
  const outbound::Deadline deadline(timeout_ms);
  outbound::CaresResolver resolver;
  const std::string& host = target.address.empty() ? target.url.host : target.address;
  COFFER_TRY(const auto addresses, resolver.resolve(host, timeout_ms));
  http::Client client(target.ca_bundle);
  http::ClientRequest request = outbound::request_to(target.url);
  request.connect_timeout_ms = timeout_ms;
  return outbound::send_to_any(
      std::move(request), addresses, deadline,
      [&](const http::ClientRequest& attempt) { return client.send(attempt); });
}

std::vector<Command> healthcheck_commands() {
  return {{.path = "healthcheck",
           .summary =
               "Check a running server; exits with 0 (healthy), 3 (unhealthy) or 69 (unreachable)",
           .run = healthcheck,
           .arguments = {naming(Argument::Value::url,
                                option("url", "URL",
                                       "URL to check; by default, /healthz of the API with these "
                                       "settings")),
                         option("timeout-ms", "MS", "Timeout for the whole check", "5000")},
           .settings = Settings::server}};
}

}  // namespace coffer::cli
