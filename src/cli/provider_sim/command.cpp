#include "cli/provider_sim/command.h"

#include <charconv>
#include <optional>

#include "base/environment.h"
#include "base/log.h"
#include "cli/exit_code.h"
#include "cli/provider_sim/simulator.h"
#include "cli/stop_signals.h"
#include "http/client.h"

namespace coffer::cli {
namespace {

constexpr const char* kSecretVariable = "COFFER_PROVIDER_SECRET";

template <class Number>
std::optional<Number> parse_number(std::string_view text, Number max) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= Number{} && value <= max ? std::optional(value) : std::nullopt;
}

/// HOST:PORT; false when it is none.
bool read_address(std::string_view text, provider_sim::SimulatorOptions& options) {
  constexpr int kPortMax = 65'535;
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const auto port = parse_number<int>(text.substr(colon + 1), kPortMax);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!port || host.empty()) return false;
  options.host = host;
  options.port = *port;
  return true;
}

/// What is wrong with the arguments; empty when nothing is.
std::string read_options(const Arguments& arguments, provider_sim::SimulatorOptions& options) {
  constexpr int kMsMax = 600'000;
  if (!read_address(arguments.text("listen"), options)) {
    return "--listen " + arguments.text("listen") + " is no HOST:PORT";
  }
  const auto given = arguments.find("secret");
  options.secret = Secret(given ? *given : environment_variable(kSecretVariable).value_or(""));
  if (options.secret.empty()) {
    return std::string("give the secret that is shared with coffer: --secret, or ") +
           kSecretVariable;
  }
  options.callback_url = arguments.find("callback").value_or("");
  options.faults = arguments.find("faults").value_or("");
  options.rates = arguments.find("rates").value_or("");
  const std::string file = arguments.text("db");
  if (file != "memory") options.file = file;
  if (const auto text = arguments.find("seed")) {
    options.seed = parse_number<std::uint64_t>(*text, UINT64_MAX);
    if (!options.seed) return "--seed " + *text + " is no whole number";
  }
  const auto delay_ms = parse_number<int>(arguments.text("delay-ms"), kMsMax);
  const auto hang_ms = parse_number<int>(arguments.text("hang-ms"), kMsMax);
  if (!delay_ms || !hang_ms) return "--delay-ms and --hang-ms are milliseconds, at most 600000";
  options.delay_ms = *delay_ms;
  options.hang_ms = *hang_ms;
  return {};
}

int provider_sim_run(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  provider_sim::SimulatorOptions options;
  if (const std::string fault = read_options(arguments, options); !fault.empty()) {
    print_error(console, fault);
    return exit_code::kUsage;
  }
  if (options.callback_url.starts_with("https://")) {
    auto found = http::find_ca_bundle("", environment_variable("SSL_CERT_FILE").value_or(""));
    if (!found) return print_problem(console, found.error(), {});
    options.ca_bundle = *std::move(found);
  }
  const StopSignals signals;
  configure_logging(LogLevel::info, default_log_format());
  const SystemClock clock;
  OsRandom random;
  provider_sim::Simulator simulator(options, clock, random);
  if (const auto started = simulator.start(); !started) {
    return print_problem(console, started.error(), {});
  }
  const Record record = {{"url", simulator.url()},
                         {"port", simulator.port()},
                         {"callback", options.callback_url},
                         {"faults", simulator.dice().plan().to_string()}};
  console.out << (arguments.json ? to_json(record, false) + "\n"
                                 : "A simulated provider listens at " + simulator.url() + "\n")
              << std::flush;
  while (signals.wait() == StopSignals::Kind::reload) {
  }
  signals.end_at_once();
  simulator.stop();
  return exit_code::kDone;
}

}  // namespace

std::vector<Command> provider_sim_commands() {
  return {{.path = "provider-sim",
           .summary = "Run a simulated payment provider that speaks the provider protocol",
           .run = provider_sim_run,
           .arguments =
               {option("listen", "HOST:PORT", "Address to listen on, port 0 picks a free one",
                       "127.0.0.1:8090"),
                option("secret", "TEXT", "Secret shared with coffer; else COFFER_PROVIDER_SECRET"),
                option("callback", "URL", "Base URL of coffer; without it nobody is called back"),
                option("faults", "LIST",
                       "late, refuse, duplicate, reorder, lose-answer, garbage, hang"),
                option("seed", "NUMBER", "Makes the faults fall the same way again"),
                option("rates", "LIST", "Rates of quotes, as USDC:NGN=1540.25; else one to one"),
                option("delay-ms", "MS", "How long a payout stays pending", "0"),
                option("hang-ms", "MS", "How long an account ending in 1401 waits", "30000"),
                option("db", "FILE", "Where to keep what happened, or memory", "memory")},
           .settings = Settings::none,
           .details =
               "Outcomes go by the last four digits of the account, as in the sandbox. Faults "
               "are written\nname=probability[:ms] with commas between; PUT /control/faults "
               "changes them at run time."}};
}

}  // namespace coffer::cli
