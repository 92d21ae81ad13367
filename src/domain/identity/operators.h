// Operators: the people who run this server, and their permissions on the admin page. The store
// keeps the enum of this file as integers: append, never reorder.
#pragma once

#include <optional>
#include <string>

#include "domain/ids.h"
#include "domain/tables/terms.h"

namespace coffer {

/// Each role includes the permissions of the roles before it.
enum class OperatorRole {
  viewer,         // may read everything except secrets
  operating,      // daily work: reviews, retries, resends, pauses. Named `operator` in texts
  administrator,  // tenants, funding of wallets, exchange rates, other operators
};
template <>
struct Terms<OperatorRole> {
  static constexpr auto rows = std::to_array<Term>({{"viewer"}, {"operator"}, {"administrator"}});
};

/// The person or program that runs a command, as recorded in the audit log.
struct Actor {
  std::string name;
  OperatorRole role = OperatorRole::viewer;
  std::optional<OperatorId> id = {};  // of a signed-in operator; empty on the command line
};

/// A user with a shell on the server, who has full access to the file anyway.
inline Actor command_line_actor(unsigned uid) {
  return {"command line, uid " + std::to_string(uid), OperatorRole::administrator};
}

}  // namespace coffer
