// coffer payment: payments of all tenants, for the operator.
#pragma once

#include "cli/command.h"
#include "cli/paging.h"
#include "store/operations/payment_story.h"
#include "store/payments/payments.h"

namespace coffer::cli {

/// The fields of a payment in lists.
Record payment_record(const store::PaymentRecord& payment, Owners& owners);
/// `sourceName`, `sourceAccount`, `destinationName` and `destinationAccount`, with all but the last
/// four characters of an account masked.
void put_sides(Record& record, const store::StorySides& sides);

/// coffer payment bulk.
std::vector<Command> bulk_payment_commands();

Result<CommandResult> show_payment(Session& session, store::Connection& db,
                                   const Arguments& arguments);
Result<CommandResult> retry_payment(Session& session, const Arguments& arguments);
Result<CommandResult> resolve_payment(Session& session, const Arguments& arguments);
/// The amount that the payment debits from its wallet or credits to it.
std::optional<MovedAmount> resolved_amount(Session& session, const Arguments& arguments);

}  // namespace coffer::cli
