// coffer payment: payments of all tenants, for the operator.
#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/operating/paging.h"
#include "store/payments.h"

namespace coffer::cli {

std::vector<Command> payment_commands();

/// What lists show of a payment.
Record payment_record(const store::PaymentRecord& payment, Owners& owners);

Result<Answer> show_payment(Session& session, const Arguments& arguments);
Result<Answer> retry_payment(Session& session, const Arguments& arguments);
Result<Answer> resolve_payment(Session& session, const Arguments& arguments);

}  // namespace coffer::cli
