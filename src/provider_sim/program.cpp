#include "provider_sim/program.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "base/digest.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/platform/process.h"
#include "config/config_options.h"
#include "http/client.h"
#include "provider_sim/options.h"
#include "provider_sim/simulator.h"

namespace coffer::provider_sim {
namespace {

constexpr const char* kSecretVariable = "COFFER_PROVIDER_SECRET";
constexpr int kFailed = 1;
constexpr int kUsage = 2;

using Values = std::map<std::string, std::string>;  // of the options, by name

/// HOST:PORT, the form of every listening address.
Result<HostPort> address_of(const std::string& text) {
  Config config;
  const auto read = set_config_value(*find_config_option("listen_http"), text, config);
  if (read) return config.listen_http;
  return unexpected(Slug::malformed_request, "--listen " + read.error().detail + ".");
}

/// The parser has already checked the values.
Result<SimulatorOptions> read_options(Values& values) {
  SimulatorOptions options;
  COFFER_TRY(const HostPort address, address_of(values["listen"]));
  options.host = address.host;
  options.port = address.port;
  const std::string& secret = values["secret"];
  options.secret =
      Secret(secret.empty() ? environment_variable(kSecretVariable).value_or("") : secret);
  if (options.secret.empty()) {
    return unexpected(Slug::malformed_request,
                      std::string("The secret shared with coffer is missing. Set --secret or ") +
                          kSecretVariable + ".");
  }
  options.callback_url = values["callback"];
  options.faults = values["faults"];
  options.rates = values["rates"];
  if (values["db"] != "memory") options.file = values["db"];
  options.tls_cert_file = values["tls-cert"];
  options.tls_key_file = values["tls-key"];
  if (!values["seed"].empty()) options.seed = std::stoull(values["seed"]);
  options.delay_ms = std::stoi(values["delay-ms"]);
  options.hang_ms = std::stoi(values["hang-ms"]);
  if (!options.callback_url.starts_with("https://")) return options;
  COFFER_TRY(options.ca_bundle, http::find_ca_bundle(""));
  return options;
}

int fail(const Problem& problem) {
  std::cerr << kProgram << ": " << problem.detail << std::endl;
  return problem.slug == Slug::malformed_request ? kUsage : kFailed;
}

int serve(Values& values, bool json) {
  const auto options = read_options(values);
  if (!options) return fail(options.error());
  const StopSignals signals;
  configure_logging(LogLevel::info, default_log_format());
  const SystemClock clock;
  OsRandom random;
  Simulator simulator(*options, clock, random);
  if (const auto started = simulator.start(); !started) return fail(started.error());
  const Json facts = {{"url", simulator.url()},
                      {"port", simulator.port()},
                      {"callback", options->callback_url},
                      {"faults", simulator.dice().plan().to_string()}};
  std::cout << (json ? facts.dump() : "A simulated provider listens at " + simulator.url())
            << std::endl;
  while (signals.wait() == StopSignals::Kind::reload) {
    const auto reloaded = simulator.reload_tls();
    if (!reloaded) log_error("provider-sim", reloaded.error().detail);
  }
  signals.end_at_once();
  simulator.stop();
  return 0;
}

}  // namespace

int run_program(int argc, const char* const* argv) {
  CLI::App app("A simulated payment provider that implements the provider protocol.", kProgram);
  app.set_version_flag("-v,--version", std::string("coffer ") + COFFER_VERSION);
  Values values;
  bool json = false;
  app.add_flag("--json", json, "Print JSON");
  for (const Option& row : kOptions) {
    const std::string name(row.name);
    auto* option = app.add_option("--" + name, values[name] = row.fallback, std::string(row.help));
    option->type_name(std::string(row.placeholder));
    if (!row.fallback.empty()) option->capture_default_str();
    if (row.placeholder == "MS") option->check(CLI::Range(0, kMsMax));
    if (row.placeholder == "NUMBER") option->check(CLI::TypeValidator<std::uint64_t>(""));
  }
  try {
    app.parse(argc, argv);
    prepare_crypto();
    return serve(values, json);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  } catch (const std::exception& fault) {
    return fail(Problem(Slug::unexpected_error, fault.what()));
  }
}

}  // namespace coffer::provider_sim
