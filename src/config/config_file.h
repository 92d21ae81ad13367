// The configuration file: TOML, with the line of every key.
//
// Settings are strings, integers and booleans at the top level. Tables, arrays, dates and fractions
// are errors, so nothing is silently ignored.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coffer {

struct ConfigFileEntry {
  std::string key;
  std::string value;  // without quotes and escapes
  bool quoted = false;
  int line = 0;
};

struct ConfigFileFault {
  int line = 0;
  std::string message;  // the error and its remedy
};

/// In the order of the lines. Invalid TOML has one error and no entries.
struct ConfigFileText {
  std::vector<ConfigFileEntry> entries;
  std::vector<ConfigFileFault> errors;
};

ConfigFileText parse_config_file(std::string_view text);

}  // namespace coffer
