#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "base/text/ascii.h"
#include "base/text/characters.h"
#include "base/text/unicode.h"
#include "flows/providers/arrivals.h"
#include "flows/providers/provider_callback.h"
#include "flows/providers/refunds.h"

namespace coffer::api {
namespace {

Result<ConnectorTerms> provider(const Services& services, const Call& call) {
  COFFER_TRY(const auto id, existing(ConnectorId::parse(call.param("connectorId")), "connector"));
  return flows::verify_provider(
      services.flows, id,
      {call.request.method, call.request.path, call.request.body,
       call.request.header("coffer-timestamp"), call.request.header("coffer-signature")});
}

/// Of `data`, a callback about a payment or a refund in progress uses only the ID.
Result<void> payment_updated(const Services& services, const ConnectorTerms& connector,
                             const http::JsonValue& value, Fields& data, bool is_refund) {
  const auto id = data.text("id", required);
  COFFER_TRY_VOID(data.check());
  if (is_refund) {
    const auto refund = RefundId::parse(*id);
    return refund ? flows::hear_refund(services.flows, connector, *refund, value) : Result<void>();
  }
  const auto payment = PaymentId::parse(*id);
  if (!payment) return {};
  return flows::hear_update(services.flows, connector, *payment, value);
}

/// The reported number. Zero, negative amounts and other texts are errors; an amount that the
/// ledger cannot store is not.
std::string read_amount(Fields& data) {
  const http::JsonValue* value = data.find("amount");
  const auto text = value != nullptr ? value->scalar_text() : std::nullopt;
  if (text) {
    const bool number = value->string() == nullptr;
    const AmountFault fault =
        parse_amount(*text, Amount::kScale, number ? Exponent::accepted : Exponent::rejected).fault;
    const bool positive =
        !text->starts_with('-') && text->find_first_of("123456789") != std::string::npos;
    if (fault != AmountFault::not_a_number && positive) return *text;
  }
  data.amount("amount", required);
  return {};
}

Payer read_sender(Fields& data) {
  Payer payer;
  const http::JsonValue* value = data.find("payer");
  if (value == nullptr || data.object("payer", optional) == nullptr) return payer;
  Fields members(*value, data.errors(), data.path("payer."));
  // The provider cannot correct what its customer wrote.
  payer.name = cleaned(members.any_text("name", optional).value_or(""));
  payer.account_number = members.any_text("accountNumber", optional);
  payer.phone = members.any_text("phone", optional);
  return payer;
}

Result<void> reference_paid(const Services& services, const Call& call,
                            const ConnectorTerms& connector, Fields& data) {
  // This callback credits a wallet, so a retired secret is not sufficient.
  if (connector.endpoint->retired) {
    return unexpected(Slug::unauthorized,
                      "reference.paid must be signed with the connector's current secret.");
  }
  flows::ReferenceArrival arrival;
  // Texts that only describe the payment are taken as they are, so that none of them refuses money.
  arrival.reference = data.any_text("reference", required).value_or("");
  arrival.provider_payment_id =
      data.opaque("providerPaymentId", required, kProviderReferenceMax).value_or("");
  arrival.amount = read_amount(data);
  const auto currency = data.asset_code("currencyIsoCode3", required).value_or(AssetCode());
  arrival.currency = ascii::to_upper(currency.value());
  arrival.payer = read_sender(data);
  COFFER_TRY_VOID(data.check());
  COFFER_TRY_VOID(
      flows::accept_reference_payment(services.flows, connector, arrival, call.request.request_id));
  return {};
}

/// A payout that came back. Texts are taken as they are, so that none of them refuses money.
Result<void> payout_returned(const Services& services, const ConnectorTerms& connector,
                             Fields& data) {
  flows::ReturnReport report;
  report.payout = data.any_text("id", required).value_or("");
  report.return_id = data.opaque("returnId", required, kProviderReferenceMax).value_or("");
  report.amount = read_amount(data);
  const auto currency = data.asset_code("currencyIsoCode3", required).value_or(AssetCode());
  report.currency = ascii::to_upper(currency.value());
  report.reason =
      first_characters(cleaned(data.any_text("reason", optional).value_or("")), kDescriptionMax);
  report.with_fee = data.boolean("feeReturned", optional).value_or(false);
  COFFER_TRY_VOID(data.check());
  return flows::accept_return(services.flows, connector, report);
}

Result<http::Response> take_callback(const Services& services, const Call& call) {
  COFFER_TRY(const ConnectorTerms connector, provider(services, call));
  Fields fields(*call.body);
  fields.text("id", required, kProviderReferenceMax);
  const auto type = fields.text("type", required);
  const auto* data = fields.object("data", required);
  COFFER_TRY_VOID(fields.check());
  COFFER_CHECK(data != nullptr);
  Fields members(*fields.find("data"), fields.errors(), "data.");
  if (*type == "reference.paid") {
    COFFER_TRY_VOID(reference_paid(services, call, connector, members));
  } else if (*type == "payout.returned") {
    COFFER_TRY_VOID(payout_returned(services, connector, members));
  } else if (*type == "payout.updated" || *type == "collection.updated" ||
             *type == "refund.updated") {
    COFFER_TRY_VOID(payment_updated(services, connector, *fields.find("data"), members,
                                    *type == "refund.updated"));
  } else {
    fields.add_error(
        Slug::malformed_request, "type",
        "must be payout.updated, payout.returned, collection.updated, refund.updated or "
        "reference.paid");
    COFFER_TRY_VOID(fields.check());
  }
  return json_response(200, {{"received", true}});
}

}  // namespace

std::vector<Route> callbacks_routes() {
  return {{.method = "POST",
           .pattern = "/v1/providers/{connectorId}/callbacks",
           .operation = "takeProviderCallback",
           .tag = "Providers",
           .summary = "Receive a signed callback from a provider",
           .lane = Lane::money,
           .access = Access::open,
           .body = Body::json,
           .request_schema = "ProviderCallback",
           .string_max = kBodyBytesMax,
           .responses = {{200, "Received"}},
           .problems = {Slug::unauthorized, Slug::not_found, Slug::amount_out_of_range},
           .handler = take_callback}};
}

}  // namespace coffer::api
