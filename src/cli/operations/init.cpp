#include <array>
#include <filesystem>

#include "app/app.h"
#include "base/platform/exit_code.h"
#include "base/telemetry/log.h"
#include "base/text/shell_word.h"
#include "cli/command_groups.h"
#include "cli/settings.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kKeyAdvice = R"(
Keep a copy of the master key apart from the database: without it, the secrets sealed in the file
are lost.
)";

// docs/install.md#the-first-production-payment continues from here.
constexpr std::array<std::string_view, 4> kNext = {
    "coffer asset add USDC --name \"USD Coin\"",
    "coffer association create \"Acme Ltd\"",
    "coffer application register --name backend --association ID --environment production",
    "coffer serve",
};

std::string next_steps(const Config& config) {
  std::string text(config.master_key.empty() ? kKeyAdvice : "");
  text += "\nNext:";
  for (const std::string_view command : kNext) {
    text.append("\n  ").append(command);
    if (config.origins.at("db") == "--db") text.append(" --db ").append(shell_word(config.db));
  }
  return text;
}

int init(const Console& console, const Arguments& arguments, const ConfigFlags& flags) {
  int code = 0;
  const auto config = read_settings(console, {.flags = flags}, code);
  if (!config) return code;
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(config->db, ignored))) {
    print_error(console, config->db +
                             " already exists and is unchanged. Choose another file with --db, or "
                             "serve this one with coffer serve");
    return exit_code::kCannotCreate;
  }
  configure_logging(LogLevel::warning, default_log_format());
  const SystemClock clock;
  OsRandom random;
  StartError error;
  if (!App::open(*config, clock, random, error, App::Missing::create, "init"))
    return print_error(console, error);
  const bool key_in_file = config->master_key.empty();
  const Record record = {
      {"database", config->db},
      {"masterKeyFile", key_in_file ? std::optional(config->master_key_file) : std::nullopt}};
  return print_result(console, {.records = {record}, .note = next_steps(*config)}, arguments.json);
}

}  // namespace

std::vector<Command> init_commands() {
  return {{.path = "init", .summary = "Create a database and its master key", .run = init}};
}

}  // namespace coffer::cli
