#include "cli/commands/healthcheck.h"

#include <algorithm>
#include <charconv>

#include "base/clock.h"
#include "base/environment.h"
#include "cli/exit_code.h"
#include "http/client.h"
#include "outbound/resolver.h"

namespace coffer::cli {
namespace {

constexpr int kPortMax = 65'535;
constexpr int kTimeoutMsMax = 600'000;

std::optional<int> parse_number(std::string_view text, int max) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value > 0 && value <= max ? std::optional(value) : std::nullopt;
}

int usage(const Console& console, const std::string& what) {
  print_error(console, what);
  return exit_code::kUsage;
}

/// One request to the addresses of the name in turn, within one deadline. The last Problem when no
/// address gives an answer.
Result<http::ClientResponse> ask(const HealthUrl& url, const std::string& ca_bundle,
                                 int timeout_ms) {
  const SystemClock clock;
  const std::int64_t deadline = clock.monotonic_ms() + timeout_ms;
  const auto left_ms = [&] {
    return static_cast<int>(std::max<std::int64_t>(1, deadline - clock.monotonic_ms()));
  };
  outbound::CaresResolver resolver;
  COFFER_TRY(const auto addresses, resolver.resolve(url.host, left_ms()));
  http::Client client(ca_bundle);
  http::ClientRequest request;
  request.tls = url.tls;
  request.host = url.host;
  request.port = url.port;
  request.target = url.target;
  Result<http::ClientResponse> answer = unexpected(Slug::provider_unavailable, "no address");
  for (const std::string& address : addresses) {
    request.address = address;
    request.connect_timeout_ms = request.total_timeout_ms = left_ms();
    answer = client.send(request);
    if (answer) break;
  }
  return answer;
}

int healthcheck(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  const std::string& text = arguments.text("url");
  const auto url = parse_health_url(text);
  if (!url) return usage(console, "--url " + text + " is no http or https address");
  const auto timeout_ms = parse_number(arguments.text("timeout-ms"), kTimeoutMsMax);
  if (!timeout_ms) {
    return usage(console, "--timeout-ms must be a number of milliseconds, at most 600000");
  }
  std::string ca_bundle;
  if (url->tls) {
    auto found = http::find_ca_bundle(arguments.find("ca-bundle").value_or(""),
                                      environment_variable("SSL_CERT_FILE").value_or(""));
    if (!found) {
      print_error(console, found.error().detail);
      return exit_code::kConfiguration;
    }
    ca_bundle = *std::move(found);
  }
  const auto answer = ask(*url, ca_bundle, *timeout_ms);
  if (!answer) {
    print_error(console, text + " is not reachable: " + answer.error().detail);
    return exit_code::kUnreachable;
  }
  const bool healthy = answer->status >= 200 && answer->status < 300;
  const Record record = {{"url", text}, {"status", answer->status}, {"healthy", healthy}};
  const int code = healthy ? exit_code::kDone : exit_code::kFault;
  return print_answer(console, {.records = {record}, .exit_code = code}, arguments.json);
}

}  // namespace

std::optional<HealthUrl> parse_health_url(std::string_view text) {
  HealthUrl url;
  url.tls = text.starts_with("https://");
  if (!url.tls && !text.starts_with("http://")) return std::nullopt;
  text.remove_prefix(text.find("//") + 2);
  const std::string_view authority = text.substr(0, text.find_first_of("/?#"));
  url.target = text.substr(authority.size(), text.find('#') - authority.size());
  if (!url.target.starts_with('/')) url.target.insert(0, "/");

  const bool bracketed = authority.starts_with('[');
  const auto host_end = bracketed ? authority.find(']') : authority.find(':');
  url.host = authority.substr(bracketed ? 1 : 0, host_end - (bracketed ? 1 : 0));
  std::string_view rest;
  if (host_end != std::string_view::npos) rest = authority.substr(host_end + (bracketed ? 1 : 0));
  if (bracketed && host_end == std::string_view::npos) return std::nullopt;

  const auto port =
      rest.empty() ? std::optional(url.tls ? 443 : 80) : parse_number(rest.substr(1), kPortMax);
  const auto bad = [](unsigned char c) { return c <= ' ' || c >= 0x7f; };
  if (url.host.empty() || !port || (!rest.empty() && rest[0] != ':') ||
      authority.find('@') != std::string_view::npos || std::any_of(text.begin(), text.end(), bad)) {
    return std::nullopt;
  }
  url.port = *port;
  return url;
}

std::vector<Command> healthcheck_commands() {
  return {{.path = "healthcheck",
           .summary = "Ask a running server how it is: 0 healthy, 3 not, 69 not reachable",
           .run = healthcheck,
           .arguments = {option("url", "URL", "What to ask", "http://127.0.0.1:8080/healthz"),
                         option("ca-bundle", "FILE",
                                "Trusted roots; else SSL_CERT_FILE, else the system's"),
                         option("timeout-ms", "MS", "For everything together", "5000")},
           .settings = Settings::none}};
}

}  // namespace coffer::cli
