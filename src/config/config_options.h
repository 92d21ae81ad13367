// The table of options. Flags, environment variables, file keys, help, manual page and reference
// are generated from it.
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

/// The commands that have an option: `file` options apply to all commands that open the database,
/// `server` options to servers. A server command has both.
enum class ConfigScope { file, server };

/// The member of Config that an option sets. Its type determines how text is parsed and shown.
using ConfigTarget =
    std::variant<std::string Config::*, int Config::*, bool Config::*, HostPort Config::*,
                 LogLevel Config::*, std::optional<LogFormat> Config::*, Secret Config::*,
                 RequestLogging Config::*, std::vector<std::string> Config::*,
                 QuotaLimits Config::*, FourEyes Config::*>;

struct ConfigOption {
  std::string_view name;  // file key; flag and variable are derived from it
  ConfigTarget target;
  ConfigScope scope;
  std::string_view placeholder;  // FILE, HOST:PORT, N; empty for a switch
  std::string_view help;         // one line
  int min = 0;                   // for int
  int max = 0;
  std::string_view default_note = {};  // description of a default that is not a constant
  bool path = false;                   // in the file, relative to the folder of the file

  /// A secret has neither a flag nor a file key, because `ps` shows flags, and files are copied.
  bool secret() const { return std::holds_alternative<Secret Config::*>(target); }
  /// Whether the file has its value without quotes: a number, true or false.
  bool is_bare() const {
    return std::holds_alternative<int Config::*>(target) ||
           std::holds_alternative<bool Config::*>(target);
  }
  std::string flag() const;          // --listen-http
  std::string variable() const;      // COFFER_LISTEN_HTTP
  std::string default_text() const;  // the note, or the constant; may be empty
};

std::span<const ConfigOption> config_options();
/// nullptr if no option has this name.
const ConfigOption* find_config_option(std::string_view name);
/// The most similar known name; empty if none is similar enough.
std::string_view nearest_config_option(std::string_view name);

/// Parses `text` into `config`. A Problem's detail contains the error and its remedy.
Result<void> set_config_value(const ConfigOption& option, std::string_view text, Config& config);
/// The value in the syntax of the environment; never a secret.
std::string config_value_text(const ConfigOption& option, const Config& config);

/// Adds `--config FILE` and the options of `scope` to a command. Values from the command line are
/// stored in `flags`, which must live until parsing is complete. load_config validates them.
void add_config_options(CLI::App& command, ConfigScope scope, ConfigFlags& flags);

}  // namespace coffer
