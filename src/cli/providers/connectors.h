// coffer connector and coffer fee: connectors, their terms and requirements, and fees of
// associations.
#pragma once

#include "cli/command.h"
#include "domain/providers/connector.h"

namespace coffer::cli {

/// The amount in an option, with this number of decimal places. Returns the Problems of any amount;
/// `malformed-request` if it is not a number.
Result<Amount> places_argument(const Arguments& arguments, const std::string& name, int decimals);
/// --fee-fixed and --fee-bps, each optional.
Argument fixed_fee_option();
Argument basis_points_option();
Result<FeeRule> fee_argument(const Arguments& arguments, int decimals);
/// `all`, or types separated by commas.
Result<TransactionTypes> types_argument(const Arguments& arguments, const std::string& name);
std::string shown_fee(const FeeRule& fee, int decimals);
/// The connector with this ID; `not-found`.
Result<ConnectorTerms> connector_argument(Session& session, const Arguments& arguments,
                                          const std::string& name);
Result<ConnectorTerms> connector_argument(store::Connection& db, const Arguments& arguments,
                                          const std::string& name);
/// The key of the connector in --connector, if it is given; `not-found`.
Result<std::optional<std::int64_t>> connector_filter(store::Connection& db,
                                                     const Arguments& arguments);

}  // namespace coffer::cli
