// The configuration file: every line is an entry, an error or nothing, and entries survive a round
// trip.
#include "config/config_file.h"

#include <algorithm>
#include <set>

#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

std::string write(const ConfigFileEntry& entry) {
  return quoted(entry.key) + " = " + (entry.quoted ? quoted(entry.value) : entry.value) + "\n";
}

/// true, false or a whole number: [-]digits.
bool is_bare(std::string_view value) {
  if (value == "true" || value == "false") return true;
  if (value.starts_with('-')) value.remove_prefix(1);
  return !value.empty() && value.find_first_not_of("0123456789") == std::string_view::npos;
}

void check(std::string_view text) {
  const ConfigFileText read = parse_config_file(text);
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  std::set<int> seen_lines;
  std::set<std::string> seen_keys;
  std::string written;
  for (const ConfigFileFault& fault : read.errors) {
    HOLDS(fault.line >= 1 && fault.line <= lines && !fault.message.empty());
    HOLDS(seen_lines.insert(fault.line).second);
  }
  for (const ConfigFileEntry& entry : read.entries) {
    HOLDS(entry.line >= 1 && entry.line <= lines && seen_lines.insert(entry.line).second);
    HOLDS(seen_keys.insert(entry.key).second);
    HOLDS(entry.quoted || is_bare(entry.value));
    written += write(entry);
  }
  const ConfigFileText again = parse_config_file(written);
  HOLDS(again.errors.empty() && again.entries.size() == read.entries.size());
  for (std::size_t i = 0; i < again.entries.size(); ++i) {
    const ConfigFileEntry &a = read.entries[i], &b = again.entries[i];
    HOLDS(a.key == b.key && a.value == b.value && a.quoted == b.quoted);
  }
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
