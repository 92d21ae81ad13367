#include "base/environment.h"
#include "base/log.h"
#include "cli/command_groups.h"
#include "cli/exit_code.h"
#include "cli/provider_sim/simulator.h"
#include "cli/stop_signals.h"
#include "config/config_options.h"
#include "http/client.h"

namespace coffer::cli {
namespace {

constexpr const char* kSecretVariable = "COFFER_PROVIDER_SECRET";

/// HOST:PORT, the form of every listening address.
Result<HostPort> address_argument(const Arguments& arguments) {
  Config config;
  const auto read =
      set_config_value(*find_config_option("listen_http"), arguments.text("listen"), config);
  if (read) return config.listen_http;
  return unexpected(Slug::malformed_request, "--listen " + read.error().detail + ".");
}

Result<provider_sim::SimulatorOptions> read_options(const Arguments& arguments) {
  constexpr int kMsMax = 600'000;
  provider_sim::SimulatorOptions options;
  COFFER_TRY(const HostPort address, address_argument(arguments));
  options.host = address.host;
  options.port = address.port;
  const auto given = arguments.find("secret");
  options.secret = Secret(given ? *given : environment_variable(kSecretVariable).value_or(""));
  if (options.secret.empty()) {
    return unexpected(Slug::malformed_request,
                      std::string("The secret shared with coffer is missing. Set --secret or ") +
                          kSecretVariable + ".");
  }
  options.callback_url = arguments.find("callback").value_or("");
  options.faults = arguments.find("faults").value_or("");
  options.rates = arguments.find("rates").value_or("");
  const std::string file = arguments.text("db");
  if (file != "memory") options.file = file;
  options.tls_cert_file = arguments.find("tls-cert").value_or("");
  options.tls_key_file = arguments.find("tls-key").value_or("");
  if (arguments.has("seed")) {
    COFFER_TRY(options.seed, number_argument<std::uint64_t>(arguments, "seed"));
  }
  COFFER_TRY(options.delay_ms, number_argument(arguments, "delay-ms", 0, kMsMax));
  COFFER_TRY(options.hang_ms, number_argument(arguments, "hang-ms", 0, kMsMax));
  return options;
}

int provider_sim_run(const Console& console, const Arguments& arguments, const ConfigFlags&) {
  auto read = read_options(arguments);
  if (!read) return print_problem(console, read.error(), {});
  provider_sim::SimulatorOptions options = *std::move(read);
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
    const auto reloaded = simulator.reload_tls();
    if (!reloaded) log_error("provider-sim", reloaded.error().detail);
  }
  signals.end_at_once();
  simulator.stop();
  return exit_code::kDone;
}

}  // namespace

std::vector<Command> provider_sim_commands() {
  return {
      {.path = "provider-sim",
       .summary = "Run a simulated payment provider that implements the provider protocol",
       .run = provider_sim_run,
       .arguments = {option("listen", "HOST:PORT",
                            "Address to listen on; port 0 selects a free one", "127.0.0.1:8090"),
                     option("secret", "TEXT",
                            "Secret shared with coffer; by default COFFER_PROVIDER_SECRET"),
                     option("tls-cert", "FILE", "TLS certificate chain (PEM)"),
                     option("tls-key", "FILE", "TLS private key (PEM)"),
                     option("callback", "URL",
                            "Base URL of coffer for callbacks; without it, there are none"),
                     option("faults", "LIST",
                            "Faults: late, refuse, duplicate, reorder, lose-answer, garbage, hang"),
                     option("seed", "NUMBER", "Seed that makes the faults repeatable"),
                     option("rates", "LIST",
                            "Exchange rates, such as USDC:NGN=1540.25; 1 by default"),
                     option("delay-ms", "MS", "Time that a payout stays pending", "0"),
                     option("hang-ms", "MS", "Delay for an account ending in 1401", "30000"),
                     option("db", "FILE", "File for the state, or memory", "memory")},
       .settings = Settings::none,
       .details = "The last four digits of the account select the outcome, as in the sandbox. A "
                  "fault is\nname=probability[:ms]; separate several with commas. PUT "
                  "/control/faults changes them at run time."}};
}

}  // namespace coffer::cli
