// Operators: the people who run this server, and their permissions on the admin page. The store
// keeps the enum of this file as integers: append, never reorder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/ids.h"

namespace coffer {

/// Each role includes the permissions of the roles before it.
enum class OperatorRole {
  viewer,         // may read everything except secrets
  operating,      // daily work: reviews, retries, resends, pauses. Named `operator` in texts
  administrator,  // tenants, funding of wallets, exchange rates, other operators
};

std::string_view name(OperatorRole role);
std::optional<OperatorRole> parse_operator_role(std::string_view text);

/// The person or program that runs a command, as recorded in the audit log.
struct Actor {
  std::string name;
  OperatorRole role = OperatorRole::viewer;
  std::optional<OperatorId> id = {};  // of a signed-in operator; empty on the command line
};

/// A user with a shell on the server, who has full access to the file anyway.
Actor command_line_actor(unsigned uid);

}  // namespace coffer
