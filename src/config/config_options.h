// The table of options: flags, environment, file keys, help, man page and reference come from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace CLI {
class App;
}

namespace coffer {

/// Which commands know an option: `file` options serve everything that opens the database, `server`
/// options only what listens. A server command has both kinds.
enum class ConfigScope { file, server };

/// The member of Config an option fills; its type decides how text is read and shown.
using ConfigTarget =
    std::variant<std::string Config::*, int Config::*, bool Config::*, HostPort Config::*,
                 LogLevel Config::*, std::optional<LogFormat> Config::*, Secret Config::*,
                 std::vector<std::string> Config::*, QuotaLimits Config::*>;

struct ConfigOption {
  std::string_view name;  // file key; flag and variable follow from it
  ConfigTarget target;
  ConfigScope scope;
  std::string_view placeholder;  // FILE, HOST:PORT, N; empty for a switch
  std::string_view help;         // one line
  int min = 0;                   // for int
  int max = 0;
  std::string_view default_note = {};  // how the default is found, where it is not a constant
  bool path = false;                   // in the file, relative to the folder of the file

  /// No flag and no file key: a secret does not belong in `ps` or in a file that gets copied
  /// around.
  bool secret() const { return std::holds_alternative<Secret Config::*>(target); }
  std::string flag() const;          // --listen-http
  std::string variable() const;      // COFFER_LISTEN_HTTP
  std::string default_text() const;  // the note, or the constant; may be empty
};

std::span<const ConfigOption> config_options();
/// nullptr when no option has this name.
const ConfigOption* find_config_option(std::string_view name);
/// The known name that `name` most resembles; empty when none is near.
std::string_view nearest_config_option(std::string_view name);

/// Reads `text` into `config`. A Problem's detail says what is wrong and what to write instead.
Result<void> set_config_value(const ConfigOption& option, std::string_view text, Config& config);
/// The value as the environment would write it; never a secret.
std::string config_value_text(const ConfigOption& option, const Config& config);

/// Adds `--config FILE` and the options of `scope` to a command. What is given on the command line
/// goes to `flags`, which must live until the parse is over. Values are judged by load_config.
void add_config_options(CLI::App& command, ConfigScope scope, ConfigFlags& flags);

}  // namespace coffer
