// The Connect group's on-ramp routes: a submission, and a quote with its execution in one request.
#include "api/json/fields.h"
#include "api/payments/payments.h"
#include "api/payments/provider_json.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "flows/payments/make_quote.h"
#include "flows/payments/submit_payment.h"

namespace coffer::api {
namespace {

struct CashIn {
  flows::QuoteRequest quote;
  PaymentRequest payment;
};

Result<CashIn> read_cash_in(const http::JsonValue& body) {
  Fields fields(body);
  CashIn out;
  out.quote.direction = Direction::on_ramp;
  out.quote.connector = fields.id<ConnectorId>("connectorId", required).value_or(ConnectorId());
  out.quote.amount = fields.amount("amount", required).value_or(Amount());
  out.quote.type = fields.transaction_type("transactionType");
  read_collection(fields, out.payment);
  fields.reject_unknown();
  COFFER_TRY_VOID(fields.check());
  return out;
}

/// A known transactionId is a replay, which returns the quote of the first submission.
Result<flows::Submission> submit_or_replay(const Services& services, const Call& call,
                                           CashIn& request) {
  const auto replay = [&]() -> Result<std::optional<flows::Submission>> {
    COFFER_TRY(const auto earlier, flows::find_submission(services.flows, call.caller.tenant,
                                                          request.payment.transaction_id));
    if (!earlier) return std::optional<flows::Submission>();
    request.payment.quote = earlier->request.quote;
    COFFER_TRY(const auto submission,
               flows::replay_submission(services.flows, call.caller.tenant, *earlier,
                                        request.payment, &request.quote));
    return std::optional(submission);
  };
  COFFER_TRY(const auto replayed, replay());
  if (replayed) return *replayed;
  const auto submit = [&]() -> Result<flows::Submission> {
    COFFER_TRY_VOID(require_active(call.caller.association_status));
    COFFER_TRY(const auto quoted,
               flows::make_quote(services.flows, call.caller.tenant, request.quote));
    request.payment.quote = quoted.quote.id;
    return flows::submit_payment(services.flows, call.caller, request.payment,
                                 call.request.request_id, false);
  };
  auto submitted = submit();
  if (submitted) return submitted;
  // A concurrent request with this transactionId may have been accepted meanwhile.
  COFFER_TRY(const auto meanwhile, replay());
  return meanwhile ? Result<flows::Submission>(*meanwhile) : submitted;
}

Result<http::Response> cash_in(const Services& services, const Call& call) {
  COFFER_TRY(CashIn request, read_cash_in(*call.body));
  COFFER_TRY(const auto submission, submit_or_replay(services, call, request));
  // Read after the submission, so that the quote's status is `used`, as in every replay.
  COFFER_TRY(const auto quoted,
             flows::find_quote(services.flows, call.caller.tenant, *request.payment.quote));
  return acknowledgement(submission, {{"quote", quote_json(quoted, services.flows.queue.now())}});
}

}  // namespace

std::vector<Route> connect_onramp_routes() {
  std::vector<Route> rows;
  for (Route& row : payments_routes()) {
    const bool checks = row.operation == "validateOnramp";
    if (!checks && row.operation != "executeOnramp") continue;
    row.pattern = checks ? "/v1/connect-onramp/validate" : "/v1/connect-onramp";
    row.operation = checks ? "validateConnectOnramp" : "executeConnectOnramp";
    if (!checks) row.summary = "Execute an on-ramp against a quote, like POST /v1/payments/onramp";
    rows.push_back(std::move(row));
  }
  constexpr RouteGroup kConnect{"Connect", {}, Scope::connect_write, Access::connect};
  rows.push_back(
      with_body(kConnect("POST", "/v1/connect-cashin", "executeConnectCashIn",
                         "Request an on-ramp quote and execute it in one request", Lane::outbound,
                         {{202, "CashInResult"}},
                         {Slug::invalid_reference, Slug::not_found, Slug::transaction_id_conflict,
                          Slug::wallet_not_verified, Slug::conflict, Slug::validation_failed,
                          Slug::trustline_missing, Slug::requirement_missing, Slug::quota_exceeded,
                          Slug::amount_precision, Slug::amount_out_of_range, Slug::provider_error,
                          Slug::provider_unavailable, Slug::provider_timeout},
                         cash_in),
                "CashIn", Body::json, kLargeBodyMax));
  for (Route& row : rows) {
    row.tag = kConnect.tag;
    row.access = kConnect.access;
    row.scope = kConnect.writes;
    row.moves_money = true;
  }
  return rows;
}

}  // namespace coffer::api
