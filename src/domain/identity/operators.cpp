#include "domain/identity/operators.h"

#include <algorithm>
#include <array>

namespace coffer {
namespace {

constexpr std::array<std::string_view, 3> kRoles{"viewer", "operator", "administrator"};

}  // namespace

std::string_view name(OperatorRole role) { return kRoles.at(static_cast<std::size_t>(role)); }

std::optional<OperatorRole> parse_operator_role(std::string_view text) {
  const auto* it = std::find(kRoles.begin(), kRoles.end(), text);
  if (it == kRoles.end()) return std::nullopt;
  return static_cast<OperatorRole>(it - kRoles.begin());
}

Actor command_line_actor(unsigned uid) {
  return {"command line, uid " + std::to_string(uid), OperatorRole::administrator};
}

}  // namespace coffer
