// The configuration file: TOML as far as coffer needs it, with the line of every key.
//
// One `key = value` per line; strings, whole numbers and booleans; comments. Tables, arrays and
// multi-line strings have no use here and are refused by name, so nothing is silently ignored.
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

struct ConfigFileText {
  std::vector<ConfigFileEntry> entries;
  std::vector<ConfigFileFault> faults;
};

ConfigFileText parse_config_file(std::string_view text);

}  // namespace coffer
