// Which tenant, and which event types, a command is about.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "domain/webhooks/event_type.h"
#include "store/identity/tenants.h"

namespace coffer::cli {

/// A tenant with what people call it.
struct NamedTenant {
  Tenant tenant;
  std::string association_name;
};

/// Every tenant of the file that --association and --environment leave, as far as they are given.
Result<std::vector<NamedTenant>> chosen_tenants(store::Connection& db, const Arguments& arguments);
/// Exactly one tenant. --association is optional if there is only one association.
/// `malformed-request` if there are several, `not-found` if there is no association.
Result<NamedTenant> chosen_tenant(store::Connection& db, const Arguments& arguments,
                                  Environment environment);

/// Types separated by commas; all that can be asked for when the option is not given.
/// `malformed-request`.
Result<EventTypeSet> event_types_argument(const Arguments& arguments, const std::string& name);
/// One type; `malformed-request` with what there is.
Result<EventType> event_type_argument(const std::string& text);

/// The sequence an option names; nullopt when it is not given. `malformed-request`.
Result<std::optional<std::int64_t>> sequence_argument(const Arguments& arguments,
                                                      const std::string& name);

}  // namespace coffer::cli
