#include "config/unknown_variables.h"

#include <algorithm>
#include <array>

#include "config/config_options.h"

namespace coffer {
namespace {

// Variables of the provider simulator, the Debian package upgrade, and builds with fault points.
constexpr auto kOtherVariables = std::to_array<std::string_view>({
    "COFFER_PROVIDER_SECRET",
    "COFFER_UPGRADE_WITHOUT_BACKUP",
#ifdef COFFER_FAULTS
    "COFFER_FAULT",
#endif
});

bool is_known(const std::string& name) {
  const auto options = config_options();
  return std::ranges::find(kOtherVariables, name) != kOtherVariables.end() ||
         std::ranges::any_of(options,
                             [&](const ConfigOption& option) { return option.variable() == name; });
}

std::string remedy_for(std::string_view name) {
  const std::string_view near = nearest_config_option(name.substr(kVariablePrefix.size()));
  if (near.empty()) return "Unset it; coffer serve --help lists all settings.";
  return "Did you mean " + find_config_option(near)->variable() + "? Correct the name.";
}

}  // namespace

std::vector<UnknownVariable> unknown_variables(const std::vector<std::string>& names) {
  std::vector<UnknownVariable> out;
  for (const std::string& name : names) {
    if (!is_known(name)) out.push_back({name, remedy_for(name)});
  }
  return out;
}

}  // namespace coffer
