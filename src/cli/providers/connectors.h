// coffer connector and coffer fee: connectors, their terms and requirements, and fees of
// associations.
#pragma once

#include "cli/command.h"
#include "domain/providers/connector.h"
#include "flows/providers/connector_changes.h"

namespace coffer::cli {

/// An amount that may be zero.
Result<Amount> fee_value(const Arguments& arguments, const std::string& name);
/// The ID of a connector, as the positional ID.
Argument connector_id();
/// `all`, or types separated by commas.
Result<TransactionTypes> types_argument(const Arguments& arguments, const std::string& name);
/// `CODE=Label,CODE=Label`.
Result<std::vector<Requirement::Choice>> choices_argument(const Arguments& arguments,
                                                          const std::string& name);
std::string shown_fee(const FeeRule& fee, int decimals);
Record requirement_view(const Requirement& requirement);
/// Runs coffer connector show.
Result<CommandResult> show_connector(Session& session, store::Connection& db,
                                     const Arguments& arguments);
std::vector<Command> requirement_commands();
/// The connector with this ID; `not-found`.
Result<ConnectorTerms> connector_argument(Session& session, const Arguments& arguments,
                                          const std::string& name);
Result<ConnectorTerms> connector_argument(store::Connection& db, const Arguments& arguments,
                                          const std::string& name);
/// The key of the connector in --connector, if it is given; `not-found`.
Result<std::optional<std::int64_t>> connector_filter(store::Connection& db,
                                                     const Arguments& arguments);

}  // namespace coffer::cli
