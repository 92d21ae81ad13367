// Payments of every kind: submissions that answer 202 once they are durable.
#pragma once

#include "api/json.h"
#include "api/pipeline/route.h"
#include "flows/payments/submit_payment.h"

namespace coffer::api {

class Fields;

/// Of a request with a hundred legs, or with every field that a connector may ask for: room for
/// each text at its limit, with each character beyond ASCII as \u escapes.
constexpr std::size_t kLargeBodyMax = 256 * 1024;

/// POST /v1/payments/onramp, which the Connect group serves under a name of its own.
Result<http::Response> execute_onramp(const Services& services, const Call& call);
/// Its checks alone.
Result<http::Response> validate_onramp(const Services& services, const Call& call);
/// Adds the operation that runs the checks of the last row's payments and stores nothing; the row
/// takes `?validateOnly=true` for the same.
void add_validation(std::vector<Route>& rows, std::string_view pattern, std::string_view operation,
                    Handler handler);
/// 202 with the submission acknowledgement (docs/contract.md#payments) and the members of `more`.
http::Response acknowledgement(const flows::Submission& submission,
                               const Json& more = Json::object());
/// The members of a collection but for its quote, also where Connect takes them.
void read_collection(Fields& fields, PaymentRequest& request);

}  // namespace coffer::api
