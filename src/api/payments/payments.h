// Submission of all kinds of payments. The response is 202 after the commit.
#pragma once

#include "api/json/json.h"
#include "api/pipeline/route.h"
#include "flows/payments/submit_payment.h"

namespace coffer::api {

class Fields;

/// Maximum body size of a submission with a hundred legs and all metadata: space for each text at
/// its maximum length with all characters as \u escapes.
constexpr std::size_t kLargeBodyMax = 320 * 1024;

/// 202 with the acknowledgement of the submission (docs/contract.md#payments) and the members of
/// `more`.
http::Response acknowledgement(const flows::Submission& submission,
                               const Json& more = Json::object());
/// Reads a submission with the body of a payment route, for payments that do not arrive over HTTP.
Result<PaymentRequest> read_submission(PaymentType type, const http::JsonValue& body);
/// The caller's ID of a submission; adds an error if it is missing or not valid.
std::string read_transaction_id(Fields& fields);
/// Adds the validation operation of the last row, a submission.
void add_validation(std::vector<Route>& rows, std::string_view pattern, std::string_view operation,
                    Handler handler);
/// The members of an on-ramp except its quote; also used by Connect.
void read_collection(Fields& fields, PaymentRequest& request);

}  // namespace coffer::api
