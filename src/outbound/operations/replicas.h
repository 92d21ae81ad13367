// The other machines of a replicated ledger, which the leader asks for their state.
#pragma once

#include <string>
#include <vector>

#include "http/client.h"
#include "outbound/wire/resolver.h"

namespace coffer::outbound {

/// The error in the address of a machine, or an empty text.
std::string check_replica(const std::string& url);

struct ReplicaStates {
  int missing = 0;  // those that do not respond
  int lagging = 0;  // those that respond, and are not followers that are up to date
};
/// Asks for `/readyz?role=follower` at each address, which has passed check_replica(). Blocks up to
/// three seconds for each.
ReplicaStates ask_replicas(const std::vector<std::string>& urls, http::Client& client,
                           Resolver& resolver);

}  // namespace coffer::outbound
