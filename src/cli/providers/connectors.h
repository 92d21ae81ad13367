// coffer connector and coffer fee: the providers payments go through, their terms, what they
// require, and the fees of single associations.
#pragma once

#include "cli/command.h"
#include "domain/providers/connector.h"

namespace coffer::cli {

/// The amount in an option, with this number of decimal places. Problems as for any amount;
/// `malformed-request` if it is not a number.
Result<Amount> places_argument(const Arguments& arguments, const std::string& name, int decimals);
/// --fee-fixed and --fee-bps, of which either may be left out.
Result<FeeRule> fee_argument(const Arguments& arguments, int decimals);
/// `all`, or types separated by commas.
Result<TransactionTypes> types_argument(const Arguments& arguments, const std::string& name);
std::string shown_fee(const FeeRule& fee, int decimals);
/// The connector ID names; `not-found`.
Result<ConnectorTerms> connector_argument(Session& session, const Arguments& arguments,
                                          const std::string& name);

}  // namespace coffer::cli
