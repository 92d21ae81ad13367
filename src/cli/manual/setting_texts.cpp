#include "cli/manual/setting_texts.h"

#include <optional>
#include <variant>
#include <vector>

#include "cli/manual/roff.h"
#include "config/config_options.h"

namespace coffer::cli {
namespace {

constexpr std::string_view kOrder =
    "A flag takes precedence over the variable, the variable over the file, and the file over the "
    "default. An empty variable counts as not set, because compose files pass an unset variable as "
    "an empty one; an empty flag is a value like any other.";
constexpr std::string_view kFileRules =
    "The file is TOML without tables: one setting per line, strings in quotes, numbers and true or "
    "false without. An unknown key is an error that names its line. A relative path is relative to "
    "the folder of the file.";
constexpr std::string_view kSecretRule =
    "Secrets have no flag and no key in the file, because both are easily seen and copied. A "
    "secret comes from its variable, from the systemd credential with its name (which the packaged "
    "service loads from /etc/credstore/coffer.NAME), or from a file "
    "whose path is in the setting that ends in _file.";

bool is_bare(const ConfigOption& option) {
  return std::holds_alternative<int Config::*>(option.target) ||
         std::holds_alternative<bool Config::*>(option.target);
}

/// The default in the syntax of the file; nullopt if it is determined at startup.
std::optional<std::string> constant_default(const ConfigOption& option) {
  if (!option.default_note.empty()) return std::nullopt;
  const std::string text = option.default_text();
  return text.empty() ? std::nullopt : std::optional(text);
}

std::string bounds_of(const ConfigOption& option) {
  if (!std::holds_alternative<int Config::*>(option.target)) return {};
  return std::to_string(option.min) + " to " + std::to_string(option.max);
}

std::string default_of(const ConfigOption& option) {
  const std::string text = option.default_text();
  return text.empty() ? "none" : text;
}

std::string described(const ConfigOption& option) {
  std::string text = std::string(option.help) + ".\nDefault: " + default_of(option) + ".";
  if (const std::string bounds = bounds_of(option); !bounds.empty())
    text += " From " + bounds + ".";
  return text;
}

/// Omits `config`, which selects the file and therefore cannot be set in it.
std::vector<const ConfigOption*> settings(bool secret) {
  std::vector<const ConfigOption*> out;
  for (const ConfigOption& option : config_options()) {
    if (option.secret() == secret && option.name != "config") out.push_back(&option);
  }
  return out;
}

std::string placeholder_of(const ConfigOption& option) {
  return option.placeholder.empty() ? "true|false" : std::string(option.placeholder);
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string settings_page() {
  RoffPage page("coffer.toml", 5, "settings of coffer(1)");
  page.section("DESCRIPTION");
  page.paragraph(
      "The file is coffer/coffer.toml in $XDG_CONFIG_HOME (~/.config), or /etc/coffer/coffer.toml "
      "for the service and for root. To use another file, set --config or COFFER_CONFIG. Every "
      "setting is also a flag (--log-level) and a variable (COFFER_LOG_LEVEL).");
  page.paragraph(kOrder);
  page.paragraph(kFileRules);
  page.section("SETTINGS");
  for (const ConfigOption* option : settings(false)) {
    page.item(std::string(option->name) + " =", placeholder_of(*option), described(*option));
  }
  page.section("SECRETS");
  page.paragraph(kSecretRule);
  for (const ConfigOption* option : settings(true)) {
    page.item(option->variable(), option->placeholder, described(*option));
  }
  page.section("FILES");
  page.item("/etc/coffer/coffer.toml", {}, "Settings of the service.");
  page.item("/etc/credstore/coffer.master_key", {},
            "Master key, if it is stored apart from the database and passed to the service as a "
            "credential.");
  page.item("/var/lib/coffer/", {},
            "Database of the service with its write-ahead log and, by default, the master key.");
  page.section("SEE ALSO");
  page.paragraph("coffer(1), systemd.exec(5)");
  return page.text();
}

std::string settings_file() {
  std::string out =
      "# Settings of coffer; see coffer.toml(5). Every line shows the default. Remove the # to "
      "change it.\n# Each setting is also a variable (COFFER_LOG_LEVEL) and a flag (--log-level), "
      "which take precedence.\n# Do not put secrets in this file. Set the names of files that "
      "contain them.\n";
  for (const ConfigOption* option : settings(false)) {
    out += "\n# " + std::string(option->help) + ".\n";
    const auto constant = constant_default(*option);
    if (!option->default_note.empty())
      out += "# Default: " + std::string(option->default_note) + ".\n";
    const std::string value = constant ? *constant : placeholder_of(*option);
    out += "#" + std::string(option->name) + " = ";
    out += is_bare(*option) ? value : "\"" + value + "\"";
    out += "\n";
  }
  return out;
}

std::string settings_reference() {
  std::string out =
      "# Configuration\n\nGenerated by `coffer settings markdown` from the table that the program "
      "reads. A test compares the two.\n\n";
  out += std::string(kOrder) +
         " The setting `log_level` is also the flag `--log-level` and the variable "
         "`COFFER_LOG_LEVEL`. ";
  out += std::string(kFileRules) +
         "\n\n`coffer settings toml` prints a configuration file with all defaults.\n\n";
  out += "| Setting | Value | Default | Meaning |\n|---|---|---|---|\n";
  for (const ConfigOption* option : settings(false)) {
    const std::string bounds = bounds_of(*option);
    out += "| `" + std::string(option->name) + "` | " + cell(placeholder_of(*option)) +
           (bounds.empty() ? "" : ", " + bounds) + " | " + cell(default_of(*option)) + " | " +
           cell(option->help) + " |\n";
  }
  out += "\n## Secrets\n\n" + std::string(kSecretRule) +
         "\n\n| Variable | Credential | Meaning |\n|---|---|---|\n";
  for (const ConfigOption* option : settings(true)) {
    out += "| `" + option->variable() + "` | `" + std::string(option->name) + "` | " +
           cell(option->help) + " |\n";
  }
  return out;
}

}  // namespace coffer::cli
