#include "api/json/fields.h"
#include "api/payments/payments.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "flows/providers/refunds.h"

namespace coffer::api {
namespace {

/// With `validate_only`, runs all checks and stores nothing.
template <bool validate_only>
Result<http::Response> reverse_payment(const Services& services, const Call& call) {
  Fields fields(*call.body);
  flows::Reversal reversal;
  reversal.transaction_id = read_transaction_id(fields);
  reversal.amount = fields.amount("amount", optional);
  reversal.reason = fields.text("reason", required, kDescriptionMax).value_or("");
  fields.reject_unknown();
  COFFER_TRY_VOID(fields.check());
  COFFER_TRY(reversal.payment,
             existing(PaymentId::parse(call.param("transactionRecordId")), "payment"));
  COFFER_TRY(const auto submission,
             flows::reverse_payment(services.flows, call.caller, reversal, validate_only));
  return validate_only ? json_response(200, {{"valid", true}})
                       : acknowledgement(submission, {{"message", "Reversal accepted"}});
}

}  // namespace

std::vector<Route> reversals_routes() {
  std::vector<Route> rows{
      {.method = "POST",
       .pattern = "/v1/payments/{transactionRecordId}/reversals",
       .operation = "reversePayment",
       .tag = "Payments",
       .summary = "Give back a payment that has succeeded, in whole or in part",
       .lane = Lane::money,
       .scope = Scope::payments_write,
       .moves_money = true,
       .body = Body::json,
       .request_schema = "Reversal",
       .responses = {{202, "Acknowledgement"}},
       .problems = {Slug::not_found, Slug::transaction_id_conflict, Slug::wallet_not_verified,
                    Slug::conflict, Slug::validation_failed, Slug::insufficient_funds,
                    Slug::amount_precision, Slug::amount_out_of_range,
                    Slug::reversal_exceeds_payment, Slug::forbidden, Slug::quota_exceeded},
       .handler = reverse_payment<false>}};
  add_validation(rows, "/v1/payments/{transactionRecordId}/reversals/validate", "validateReversal",
                 reverse_payment<true>);
  return rows;
}

}  // namespace coffer::api
