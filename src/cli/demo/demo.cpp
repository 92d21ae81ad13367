#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "app/app.h"
#include "base/digest.h"
#include "base/environment.h"
#include "base/files/folders.h"
#include "base/files/side_files.h"
#include "base/platform/exit_code.h"
#include "cli/command_groups.h"
#include "cli/demo/demo_text.h"
#include "cli/paths.h"
#include "cli/progress.h"
#include "cli/serve/serving.h"
#include "cli/settings.h"
#include "config/config_options.h"
#include "store/file/foreign_file.h"
#include "store/schema.h"

namespace coffer::cli {
namespace {

namespace fs = std::filesystem;

// Disabled in the demo by default.
constexpr std::array kRates = {"rate_limit_production_per_s", "rate_limit_sandbox_per_s",
                               "rate_limit_login_per_min"};
// Locations of the configuration file of a real server, which the demo ignores: it reads a file
// only with --config or COFFER_CONFIG.
constexpr std::array kNotAsked = {"HOME", "XDG_CONFIG_HOME", "STATE_DIRECTORY",
                                  "CONFIGURATION_DIRECTORY"};

/// Converts --host and --port to --listen-http. `malformed-request`.
Result<void> join_address(const Arguments& arguments, ConfigFlags& flags) {
  constexpr int kPortMax = 65'535;
  if (!arguments.has("host") && !arguments.has("port")) return {};
  if (flags.contains("listen_http")) {
    return unexpected(
        Slug::malformed_request,
        "--listen-http cannot be combined with --host or --port. Use one of the two forms.");
  }
  HostPort address = Config{}.listen_http;
  if (arguments.has("port")) {
    COFFER_TRY(address.port, number_argument(arguments, "port", 0, kPortMax));
  }
  address.host = arguments.find("host").value_or(address.host);
  flags["listen_http"] = address.to_string();
  return {};
}

constexpr std::string_view kSharedWarning =
    "warning: other machines can reach this demo, and its secrets and admin password cross the "
    "network without TLS. Use it only on a network that you trust. Its rate limits are on";

/// Whether other machines can reach the address of the API.
bool leaves_loopback(const ConfigFlags& flags) {
  const auto given = flags.find("listen_http");
  const auto variable = environment_variable("COFFER_LISTEN_HTTP");
  if (given == flags.end() && !variable) return false;
  Config config;
  const auto* option = find_config_option("listen_http");
  const std::string& text = given != flags.end() ? given->second : *variable;
  return set_config_value(*option, text, config) && !config.listen_http.is_loopback();
}

std::optional<Config> read_demo_settings(const Console& console, const Arguments& arguments,
                                         ConfigFlags flags, int& code) {
  if (const auto joined = join_address(arguments, flags); !joined) {
    code = print_problem(console, joined.error(), {});
    return std::nullopt;
  }
  ConfigInputs inputs{.flags = std::move(flags)};
  const bool shared = leaves_loopback(inputs.flags);
  if (shared) {
    inputs.command_defaults["admin_plain_http"] = "true";
    print_error(console, kSharedWarning);
  }
  if (!arguments.has("rate-limits") && !shared) {
    for (const char* name : kRates) inputs.command_defaults[name] = "0";
    inputs.command_defaults["quota_sandbox"] = "file_bytes=unlimited";
  }
  // Users of a demo run their webhook receivers on this machine.
  inputs.command_defaults["webhook_allow_targets"] = "127.0.0.0/8,::1/128";
  if (const auto database = demo_database()) inputs.command_defaults["db"] = *database;
  inputs.environment = [](const std::string& name) {
    const bool hidden = std::ranges::find(kNotAsked, name) != kNotAsked.end();
    return hidden ? std::nullopt : environment_variable(name);
  };
  auto config = read_settings(console, inputs, code);
  // The admin page uses the same port, so that there is only one address.
  if (config && config->origins.at("admin_listen") == "default") {
    config->admin_listen = config->listen_http;
  }
  // So that the admin page has backups to show.
  if (config && config->origins.at("backup_dir") == "default") {
    config->backup_dir = config->db + kDemoBackupsEnding;
  }
  return config;
}

Result<void> make(App& app, const Console& console, Demo& demo) {
  Interruption never;
  {
    ProgressLine line(console, never);
    COFFER_TRY(demo.world, ensure_demo_world(app, line.shower()));
  }
  COFFER_TRY(demo.secrets, ensure_demo_secrets(app, demo.world.association));
  if (app.config().admin_off) return {};
  return ensure_demo_operator(app, demo.secrets);
}

Record wallet_record(const store::WalletRow& wallet) {
  return {{"id", wallet.id},
          {"name", wallet.name},
          {"assetCode", wallet.asset_code.value()},
          {"publicKey", wallet.public_key}};
}

Record destination_record(const store::DestinationRow& row) {
  return {{"id", row.id}, {"method", name(row.detail.method)}};
}

Record beneficiary_record(const flows::BeneficiaryState& state) {
  return {{"id", state.beneficiary.id},
          {"name", display_name(state.beneficiary.detail)},
          {"destinations", records_of(state.destinations, destination_record)}};
}

Record connector_record(const ConnectorTerms& terms) {
  return {{"id", terms.id},
          {"name", terms.name},
          {"flow", name(terms.flow)},
          {"direction", name(terms.direction)},
          {"method", name(terms.method)},
          {"assetCode", terms.asset.code.value()}};
}

/// The line for programs; docs/contract.md#command-line lists its members.
Record record_of(const Demo& demo, const DemoPlace& place) {
  const bool page = !place.admin.empty();
  return {{"baseUrl", place.origin},
          {"adminUrl", page ? std::optional(place.admin) : std::nullopt},
          {"adminUser", page ? std::optional(std::string(kDemoOperator)) : std::nullopt},
          {"adminPassword", demo.secrets.admin_password},
          {"associationId", demo.world.association},
          {"applicationId", demo.secrets.application},
          {"clientId", demo.secrets.client_id},
          {"clientSecret", demo.secrets.client_secret},
          {"apiKey", demo.secrets.api_key},
          {"connectSecret", demo.secrets.connect_secret},
          {"publicKey", demo.secrets.public_key},
          {"secretSeed", demo.secrets.secret_seed},
          {"signInSecret", demo.secrets.sign_in_secret},
          {"wallets", records_of(demo.world.wallets, wallet_record)},
          {"beneficiaries", records_of(demo.world.beneficiaries, beneficiary_record)},
          {"connectors", records_of(demo.world.connectors, connector_record)}};
}

/// Creates the demo with the clock set back a week, then simulates the week. Returns the exit code.
int make_history(const Console& console, const Config& config, std::uint64_t seed) {
  if (const int code = check_new_server(console, config); code != exit_code::kDone) return code;
  ManualClock clock({SystemClock().now().ms - kHistoryMs});
  OsRandom random;
  StartError error;
  const auto app = App::open(config, clock, random, error, App::Missing::create);
  if (!app) return print_error(console, error);
  Demo demo;
  auto made = make(*app, console, demo);
  if (made) {
    Interruption never;
    ProgressLine line(console, never);
    made =
        make_demo_history(*app, clock, demo.world, demo.secrets.application, seed, line.shower());
  }
  if (made) return exit_code::kDone;
  app->database().discard();
  return print_problem(console, made.error(), {});
}

/// Writes the file of --env, then prints how to use the demo. A file that cannot be written does
/// not end the demo.
void announce(App& app, const std::string& origin, const Demo& demo, const Console& console,
              const Arguments& arguments) {
  const std::string admin =
      app.config().admin_off ? "" : app.listeners().admin_origin() + "/admin/";
  const auto env = arguments.find("env");
  DemoPlace place{origin, app.config().db, app.config().tls_cert, admin, env.value_or("")};
  if (env) {
    const auto written = write_demo_env(*env, demo, place);
    if (!written) print_error(console, written.error().detail);
    if (!written) place.env.clear();
  }
  const std::string transaction = "demo-" + to_hex(app.flows().random.bytes(4));
  console.out << (arguments.json ? to_json(record_of(demo, place), false) + "\n"
                                 : demo_start_text(demo, place, transaction))
              << std::flush;
}

int serve_demo(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = 0;
  const auto config = read_demo_settings(console, arguments, flags, code);
  if (!config) return code;
  const auto seed = optional_number<std::uint32_t>(arguments, "seed");
  if (!seed) return print_problem(console, seed.error(), {});
  if (const auto env = arguments.find("env")) {
    const auto free = check_demo_env(*env, config->db);
    if (!free) return print_problem(console, free.error(), {});
  }
  const NewFolders folders(directory_of(config->db));
  const bool fresh = !store::holds_tables(config->db);
  if (!fresh && *seed) {
    print_error(console, "warning: " + config->db +
                             " exists and keeps its content. --seed needs a new file; choose one "
                             "with --db");
  }
  Result<bool> claimed = false;
  if (fresh) claimed = claim_demo(config->db);
  if (!claimed) return print_problem(console, claimed.error(), {});
  if (fresh && *seed) code = make_history(console, *config, **seed);
  bool announced = false;
  if (code == exit_code::kDone) {
    Demo demo;
    Serving serving;
    serving.prepare = [&](App& app) {
      app.offer_trial();
      return make(app, console, demo);
    };
    serving.announce = [&](App& app, const std::string& origin) {
      announced = true;
      announce(app, origin, demo, console, arguments);
    };
    code = run_server(console, *config, serving);
  }
  if (*claimed && !announced) drop_unused_claim(config->db);
  return code;
}

}  // namespace

std::vector<Command> demo_commands() {
  return {{.path = "demo",
           .summary = "Start a sandbox with funded wallets and print commands to try",
           .run = serve_demo,
           .arguments =
               {option("host", "HOST", "Address to listen on [127.0.0.1]"),
                option("port", "PORT", "Port to listen on; 0 selects a free one [8080]"),
                option("seed", "N",
                       "Give a new demo a week of history; the same number gives the same history"),
                implying(kDemoEnvFile,
                         path_option("env",
                                     "Also write the base URL and the keys as variables to "
                                     "FILE, by default to .env")),
                toggle("rate-limits", "Apply the rate limits and quotas of a real server")},
           .settings = Settings::server,
           .details = "By default, the demo keeps its data in coffer/demo.db in $XDG_DATA_HOME. It "
                      "reads a\nconfiguration file only if --config or COFFER_CONFIG is set."}};
}

}  // namespace coffer::cli
