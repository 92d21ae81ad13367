#include "provider_sim/program.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "base/digest.h"
#include "base/environment.h"
#include "base/platform/exit_code.h"
#include "base/platform/process.h"
#include "base/telemetry/log.h"
#include "base/text/whole_number.h"
#include "config/config_options.h"
#include "config/usage_error.h"
#include "http/client.h"
#include "provider_sim/options.h"
#include "provider_sim/simulator.h"

namespace coffer::provider_sim {
namespace {

constexpr const char* kSecretVariable = "COFFER_PROVIDER_SECRET";

using Values = std::map<std::string, std::string>;  // of the options, by name

/// A check for a whole number from 0 to `max`.
auto up_to(std::uint64_t max) {
  return [max](const std::string& text) {
    return whole_number<std::uint64_t>(text, 0, max)
               ? std::string()
               : "\"" + text + "\" must be a whole number from 0 to " + std::to_string(max);
  };
}

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
  return problem.slug == Slug::malformed_request ? exit_code::kUsage : exit_code::kFailed;
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
  app.set_help_flag("-h,--help", "Print this help");
  app.set_version_flag("-v,--version", std::string("coffer ") + COFFER_VERSION,
                       "Print the version");
  Values values;
  bool json = false;
  take_no_value(*app.add_flag("--json", json, "Print JSON"));
  for (const Option& row : kOptions) {
    const std::string name(row.name);
    auto* option = app.add_option("--" + name, values[name] = row.fallback, std::string(row.help));
    option->type_name(std::string(row.placeholder));
    if (!row.fallback.empty()) option->capture_default_str();
    if (row.placeholder == "MS") option->check(up_to(kMsMax));
    if (row.placeholder == "NUMBER") option->check(up_to(UINT64_MAX));
  }
  try {
    app.parse(argc, argv);
    prepare_crypto();
    return serve(values, json);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // printed the help or the version
    std::cerr << kProgram << ": " << usage_error(app, error) << std::endl;
    return exit_code::kUsage;
  } catch (const std::exception& fault) {
    return fail(Problem(Slug::unexpected_error, fault.what()));
  }
}

}  // namespace coffer::provider_sim
