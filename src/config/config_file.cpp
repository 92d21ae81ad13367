#include "config/config_file.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/trimmed.h"
#include "config/config_options.h"

namespace coffer {
namespace {

int line_of(const toml::source_region& source) { return static_cast<int>(source.begin.line); }

/// The value as text; false for a type that no setting has.
bool read_node(const toml::node& node, ConfigFileEntry& entry) {
  if (const auto* text = node.as_string()) {
    entry.value = text->get();
    entry.quoted = true;
  } else if (const auto* number = node.as_integer()) {
    entry.value = std::to_string(number->get());
  } else if (const auto* flag = node.as_boolean()) {
    entry.value = flag->get() ? "true" : "false";
  } else {
    return false;
  }
  return true;
}

std::string rejection(const toml::node& node, const std::string& key) {
  if (node.is_table()) {
    return "tables are not supported. Write the whole key, such as log_level = \"info\"";
  }
  return key + " must be a string in quotes, a whole number, true or false";
}

std::string_view line_at(std::string_view text, int number) {
  for (; number > 1; --number) text.remove_prefix(std::min(text.find('\n') + 1, text.size()));
  return text.substr(0, text.find('\n'));
}

/// For a line `key = value` without quotes, as most people write it first.
std::optional<std::string> advice_for(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const auto equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string key(trimmed(line.substr(0, equals)));
  const std::string value(trimmed(line.substr(equals + 1)));
  const bool plain = !key.empty() && std::ranges::all_of(key, [](char c) {
    return ascii::is_letter_or_digit(c) || c == '_';
  });
  if (!plain || value.empty() || value.find_first_of("\"'") != std::string::npos)
    return std::nullopt;
  const ConfigOption* option = find_config_option(key);
  if (option != nullptr && option->is_bare()) {
    return "\"" + value + "\" is not a value of " + key + ". Write " + key + " = " +
           (option->placeholder.empty() ? "true" : option->default_text());
  }
  return key + ": put the value in quotes: " + key + " = \"" + value + "\"";
}

}  // namespace

ConfigFileText parse_config_file(std::string_view text) {
  ConfigFileText out;
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    const int line = line_of(error.source());
    const auto unquoted = advice_for(line_at(text, line));
    out.errors.push_back(
        {line, unquoted ? *unquoted
                        : std::string(error.description()) +
                              ". Write key = value, with strings in quotes: log_level = \"info\""});
    return out;
  }
  for (const auto& [key, node] : parsed.table()) {
    ConfigFileEntry entry{.key = std::string(key.str()), .line = line_of(key.source())};
    if (read_node(node, entry)) {
      out.entries.push_back(std::move(entry));
    } else {
      out.errors.push_back({entry.line, rejection(node, entry.key)});
    }
  }
  std::ranges::sort(out.entries, {}, &ConfigFileEntry::line);
  std::ranges::sort(out.errors, {}, &ConfigFileFault::line);
  return out;
}

}  // namespace coffer
