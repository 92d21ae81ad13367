// Environment variables that look like settings and have no effect, such as COFFER_FOUREYES.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace coffer {

/// What the variable of each setting begins with.
inline constexpr std::string_view kVariablePrefix = "COFFER_";

struct UnknownVariable {
  std::string name;
  std::string remedy;  // a sentence
};
/// Those of `names`, which have the prefix, that are no setting and that no other part of the
/// program or its packages reads.
std::vector<UnknownVariable> unknown_variables(const std::vector<std::string>& names);

}  // namespace coffer
