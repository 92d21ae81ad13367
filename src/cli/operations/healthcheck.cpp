#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "cli/paths.h"
#include "http/certificate.h"
#include "http/client.h"
#include "outbound/resolver.h"
#include "outbound/wire/address_trial.h"

namespace coffer::cli {
namespace {

constexpr int kTimeoutMsMax = 600'000;

Result<http::ClientResponse> ask(const outbound::Url& url, const std::string& ca_bundle,
                                 int timeout_ms) {
  const outbound::Deadline deadline(timeout_ms);
  outbound::CaresResolver resolver;
  COFFER_TRY(const auto addresses, resolver.resolve(url.host, timeout_ms));
  http::Client client(ca_bundle);
  http::ClientRequest request = outbound::request_to(url);
  request.connect_timeout_ms = timeout_ms;
  return outbound::send_to_any(
      std::move(request), addresses, deadline,
      [&](const http::ClientRequest& attempt) { return client.send(attempt); });
}

/// What to do if the server's certificate is not accepted; empty for other errors.
std::string certificate_remedy(const std::string& detail) {
  if (detail.find(http::kCertificateRejected) == std::string::npos) return {};
  if (detail.find("mismatch") != std::string::npos) {
    return " Use a host name in the certificate in --url.";
  }
  if (detail.find("expired") != std::string::npos) return " Renew the certificate of the server.";
  return " Trust the authority that issued it: set --ca-bundle to its certificate (PEM).";
}

int healthcheck(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  const std::string& text = arguments.text("url");
  const auto url = outbound::parse_url(text);
  if (!url) {
    print_error(console, "--url " + text + " is not an http or https URL");
    return exit_code::kUsage;
  }
  const auto timeout_ms = number_argument(arguments, "timeout-ms", 1, kTimeoutMsMax);
  if (!timeout_ms) return print_problem(console, timeout_ms.error(), {});
  std::string ca_bundle;
  if (url->tls) {
    auto found = http::find_ca_bundle(arguments.find("ca-bundle").value_or(""));
    if (!found) {
      print_error(console, found.error().detail);
      return exit_code::kConfiguration;
    }
    ca_bundle = *std::move(found);
  }
  const auto result = ask(*url, ca_bundle, *timeout_ms);
  if (!result) {
    const std::string& detail = result.error().detail;
    print_error(console, text + " cannot be reached: " + detail + certificate_remedy(detail));
    return exit_code::kUnreachable;
  }
  const bool healthy = result->status >= 200 && result->status < 300;
  const Record record = {{"url", text}, {"status", result->status}, {"healthy", healthy}};
  const int code = healthy ? exit_code::kDone : exit_code::kFault;
  return print_result(console, {.records = {record}, .failed = !healthy, .exit_code = code},
                      arguments.json);
}

}  // namespace

std::vector<Command> healthcheck_commands() {
  return {
      {.path = "healthcheck",
       .summary =
           "Check a running server; exits with 0 (healthy), 3 (unhealthy) or 69 (unreachable)",
       .run = healthcheck,
       .arguments = {naming(Argument::Value::url,
                            option("url", "URL", "URL to check", "http://127.0.0.1:8080/healthz")),
                     path_option(
                         "ca-bundle",
                         "Trusted root certificates; by default SSL_CERT_FILE, then the system's"),
                     option("timeout-ms", "MS", "Timeout for the whole check", "5000")},
       .settings = Settings::none}};
}

}  // namespace coffer::cli
