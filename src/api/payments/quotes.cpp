#include "api/json/fields.h"
#include "api/payments/provider_json.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"

namespace coffer::api {
namespace {

Result<QuoteId> quote_id(const Call& call) {
  return existing(QuoteId::parse(call.param("quoteId")), "quote");
}

bool is_on_ramp(const http::Request& request) {
  const std::string* type = request.query_value("type");
  return type != nullptr && *type == "onramp";
}

/// An off-ramp requires exactly one of beneficiaryId and transactionType (docs/contract.md#quotes).
void read_off_ramp(Fields& fields, flows::QuoteRequest& request) {
  request.type = fields.transaction_type("transactionType");
  request.beneficiary = fields.id<BeneficiaryId>("beneficiaryId", optional);
  request.destination = fields.id<DestinationId>("destinationId", optional);
  const bool by_beneficiary = fields.find("beneficiaryId") != nullptr;
  const bool by_type = fields.find("transactionType") != nullptr;
  if (by_beneficiary == by_type) {
    const std::string rule = by_type ? "must not be sent together with " : "is required without ";
    const auto reject = [&](const char* field, const char* other) {
      if (fields.errors().names(field)) return;
      fields.add_error(Slug::validation_failed, field, rule + other);
    };
    reject("beneficiaryId", "transactionType");
    reject("transactionType", "beneficiaryId");
  } else if (by_type && request.destination) {
    fields.add_error(Slug::validation_failed, "destinationId",
                     "is allowed only together with beneficiaryId");
  }
}

Result<http::Response> create_quote(const Services& services, const Call& call) {
  Fields fields(*call.body);
  flows::QuoteRequest request;
  const auto amount = fields.amount("amount", required);
  const auto connector = fields.id<ConnectorId>("connectorId", required);
  if (is_on_ramp(call.request)) {
    request.direction = Direction::on_ramp;
    request.type = fields.transaction_type("transactionType");
  } else {
    request.direction = Direction::off_ramp;
    read_off_ramp(fields, request);
  }
  COFFER_TRY_VOID(fields.check());
  request.amount = *amount;
  request.connector = *connector;
  COFFER_TRY(const auto quoted, flows::make_quote(services.flows, call.caller.tenant, request));
  http::Response response = json_response(201, quote_json(quoted, quoted.quote.created_at));
  return response.header("Location", "/v1/quotes/" + quoted.quote.id.to_string());
}

Result<http::Response> read_quote(const Services& services, const Call& call) {
  COFFER_TRY(const QuoteId id, quote_id(call));
  COFFER_TRY(const auto quoted, flows::find_quote(services.flows, call.caller.tenant, id));
  return json_response(200, quote_json(quoted, services.flows.queue.now()));
}

Result<http::Response> sandbox_expire(const Services& services, const Call& call) {
  COFFER_TRY(const QuoteId id, quote_id(call));
  COFFER_TRY(const auto quoted, flows::expire_quote(services.flows, call.caller.tenant, id));
  return json_response(200, quote_json(quoted, services.flows.queue.now()));
}

/// A quote for an amount to send or to receive, according to the last path segment.
Result<http::Response> connect_quote(const Services& services, const Call& call) {
  const std::string_view direction = call.param("direction");
  if (direction != "send" && direction != "receive") {
    return unexpected(Slug::not_found, "This path does not exist.");
  }
  Fields fields(*call.body);
  const auto amount = fields.amount("amount", required);
  const auto connector = fields.id<ConnectorId>("connectorId", required);
  flows::QuoteRequest request;
  request.type = fields.transaction_type("transactionType");
  COFFER_TRY_VOID(fields.check());
  request.amount = *amount;
  request.connector = *connector;
  request.exact_receive = direction == "receive";
  COFFER_TRY(const auto quoted, flows::make_quote(services.flows, call.caller.tenant, request));
  http::Response response = json_response(402, quote_json(quoted, quoted.quote.created_at));
  return response.header("X-Success-Convention", "402");
}

}  // namespace

std::vector<Route> quotes_routes() {
  constexpr RouteGroup kQuotes{"Quotes", Scope::quotes_read, Scope::quotes_write};
  constexpr RouteGroup kSandbox{"Sandbox", {}, Scope::quotes_write, Access::sandbox};
  constexpr RouteGroup kConnect{"Connect", {}, Scope::connect_write, Access::connect};
  return {
      with_query(
          with_body(kQuotes("POST", "/v1/quotes", "createQuote",
                            "Request a quote for an off-ramp or, with type=onramp, an on-ramp",
                            Lane::outbound, {{201, "Quote"}},
                            {Slug::not_found, Slug::conflict, Slug::validation_failed,
                             Slug::amount_precision, Slug::amount_out_of_range,
                             Slug::quota_exceeded, Slug::limit_exceeded, Slug::provider_error,
                             Slug::provider_unavailable, Slug::provider_timeout},
                            create_quote),
                    "NewQuote"),
          {{"type", "Text", "`onramp` for an on-ramp; any other value means off-ramp"}}),
      kQuotes("GET", "/v1/quotes/{quoteId}", "getQuote", "Read a quote, including an expired one",
              Lane::read, {{200, "Quote"}}, {Slug::not_found}, read_quote),
      kSandbox("POST", "/v1/sandbox/quotes/{quoteId}/expire", "sandboxExpireQuote",
               "Expire an open quote", Lane::money, {{200, "Quote"}},
               {Slug::quote_expired, Slug::quote_already_used}, sandbox_expire),
      with_body(
          kConnect(
              "POST", "/v1/connect-quotes/{direction}", "createConnectQuote",
              "Request a quote by the amount to send or to receive; responds with 402 on success",
              Lane::outbound, {{402, "Quote"}},
              {Slug::not_found, Slug::conflict, Slug::validation_failed, Slug::amount_precision,
               Slug::amount_out_of_range, Slug::quota_exceeded, Slug::limit_exceeded,
               Slug::provider_error, Slug::provider_unavailable, Slug::provider_timeout},
              connect_quote),
          "NewConnectQuote"),
  };
}

}  // namespace coffer::api
