// Operators: the people who run this box, and what each may do from the admin page.
// The store keeps the enum of this file as integers: append, never reorder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace coffer {

/// Each may do what the one before it may.
enum class OperatorRole {
  viewer,         // looks at everything but secrets
  operating,      // reviews, retries, resends, pauses: the daily work. Named `operator` in text
  administrator,  // tenants, funding of wallets, rates, other operators
};

std::string_view name(OperatorRole role);
std::optional<OperatorRole> parse_operator_role(std::string_view text);

/// Who does something to coffer, as the audit log names it.
struct Actor {
  std::string name;
  OperatorRole role = OperatorRole::viewer;
};

/// A user with a shell on the server, who has full access to the file anyway.
Actor command_line_actor(unsigned uid);

}  // namespace coffer
