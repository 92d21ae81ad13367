// Options that select tenants and event types.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "domain/webhooks/event_type.h"
#include "store/identity/tenants.h"

namespace coffer::cli {

/// A tenant with the name and environment for display.
struct NamedTenant {
  Tenant tenant;
  std::string association_name;
};

/// All tenants that match the given --association and --environment.
Result<std::vector<NamedTenant>> chosen_tenants(store::Connection& db, const Arguments& arguments);
/// --environment and --association, for exactly one tenant.
std::vector<Argument> tenant_arguments();
/// Exactly one tenant. --association is optional if there is only one association.
/// `malformed-request` if there are several, `not-found` if there is no association.
Result<NamedTenant> chosen_tenant(store::Connection& db, const Arguments& arguments,
                                  Environment environment);

/// An argument that takes one type, or several.
Argument event_type_choice(Argument argument);
Argument event_types_choice(Argument argument);
/// Types separated by commas; by default, all types that webhooks can subscribe to.
/// `malformed-request`.
Result<EventTypeSet> event_types_argument(const Arguments& arguments, const std::string& name);
/// One type; `malformed-request` with the known types.
Result<EventType> event_type_argument(const std::string& text);

}  // namespace coffer::cli
