// The configuration file: TOML, with the line of every key.
//
// Settings are strings, whole numbers and booleans at the top level. Tables, arrays, dates and
// fractions are refused by name, so that nothing is silently ignored.
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
  std::string message;  // what is wrong and what to write instead
};

/// In the order of the lines. What is not TOML has one fault and no entries.
struct ConfigFileText {
  std::vector<ConfigFileEntry> entries;
  std::vector<ConfigFileFault> errors;
};

ConfigFileText parse_config_file(std::string_view text);

}  // namespace coffer
