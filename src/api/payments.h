// Payments of every kind: submissions that answer 202 once they are durable.
#pragma once

#include "api/json.h"
#include "api/pipeline/route.h"
#include "flows/submit_payment.h"

namespace coffer::api {

class Fields;

std::vector<Route> payments_routes();

/// POST /v1/payments/onramp, which the Connect group serves under a name of its own.
Result<http::Response> execute_onramp(const Services& services, const Call& call);
/// 202 with the submission acknowledgement (docs/contract.md#payments) and the members of `more`.
http::Response acknowledgement(const flows::Submission& submission,
                               const Json& more = Json::object());
/// The members of a collection but for its quote, also where Connect takes them.
void read_collection(Fields& fields, PaymentRequest& request);

}  // namespace coffer::api
