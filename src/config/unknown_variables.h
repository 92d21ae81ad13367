// Finds environment variables that look like settings but have no effect, such as COFFER_FOUREYES.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coffer {

/// The prefix of every setting's variable.
inline constexpr std::string_view kVariablePrefix = "COFFER_";

struct UnknownVariable {
  std::string name;
  std::string remedy;  // a sentence
};
/// The variables in `names` that are not settings and that no other part of the program or its
/// packages reads. All `names` must have the prefix.
std::vector<UnknownVariable> unknown_variables(const std::vector<std::string>& names);

}  // namespace coffer
