// Parts that the sections of an `apply` file share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/pipeline/fields.h"
#include "cli/apply/plan.h"

namespace coffer::cli {

/// Adds an error if the file declares a different value for a member that cannot change.
void fixed(api::Fields& fields, std::string_view member, const std::string& present,
           const std::string& wanted);
/// Adds the difference, if there is one.
void differs(ApplyStep& step, std::string_view member, const std::string& present,
             const std::string& wanted);
std::optional<Rate> read_rate(api::Fields& fields, std::string_view member);
/// `feeFixed` and `feeBasisPoints`, each zero if it is absent.
FeeRule read_fee(api::Fields& fields);
std::string shown_rule(const FeeRule& fee);

}  // namespace coffer::cli
