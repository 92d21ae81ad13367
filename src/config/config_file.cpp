#include "config/config_file.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

#include <algorithm>
#include <utility>

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

}  // namespace

ConfigFileText parse_config_file(std::string_view text) {
  ConfigFileText out;
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    out.errors.push_back({line_of(error.source()),
                          std::string(error.description()) +
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
