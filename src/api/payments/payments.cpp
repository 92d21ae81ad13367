#include "api/payments/payments.h"

#include "api/json/fields.h"
#include "api/json/json.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "base/text/characters.h"
#include "base/text/unicode.h"
#include "domain/contact.h"
#include "flows/payments/submit_payment.h"

namespace coffer::api {
namespace {

constexpr std::size_t kFieldNameMax = 64;

void read_references(Fields& fields, TransferLeg& leg) {
  leg.refs.from_ref = fields.reference("fromRef");
  leg.refs.to_ref = fields.reference("toRef");
  leg.description = fields.text("description", optional, kDescriptionMax);
}

/// The fields of a leg, which have the same names in a single payment and in a multi-transfer.
TransferLeg read_leg(Fields& fields) {
  TransferLeg leg;
  leg.source_wallet = fields.id<WalletId>("sourceWalletId", required);
  leg.destination_wallet = fields.id<WalletId>("destinationWalletId", required);
  leg.sending_asset = fields.asset_code("sendingAssetCode", required).value_or(AssetCode());
  leg.amount = fields.amount("amount", required).value_or(Amount());
  read_references(fields, leg);
  return leg;
}

/// In a payment that moves one asset, receivingAssetCode may repeat its code
/// (docs/contract.md#unknown-fields).
void read_repeated_asset(Fields& fields, const TransferLeg& leg) {
  const auto code = fields.asset_code("receivingAssetCode", optional);
  if (!code || leg.sending_asset == AssetCode() || *code == leg.sending_asset) return;
  fields.add_error(Slug::validation_failed, "receivingAssetCode",
                   "must be null or equal to sendingAssetCode: this payment moves one asset");
}

/// Asset codes may repeat those of the quote; the submission compares them with it.
void read_quoted_assets(Fields& fields, TransferLeg& leg, PaymentRequest& request) {
  leg.sending_asset = fields.asset_code("sendingAssetCode", optional).value_or(AssetCode());
  request.receiving_asset = fields.asset_code("receivingAssetCode", optional);
}

/// The members of an object as texts, unless `fault_of` has a fault. `takes_null`: null is absent.
template <class FaultOf>
void read_object(Fields& fields, std::string_view object_name,
                 std::map<std::string, std::string>& out, bool takes_null,
                 const FaultOf& fault_of) {
  const auto* object = fields.object(object_name, optional);
  if (object == nullptr) return;
  for (const auto& [name, value] : *object) {
    if (takes_null && value.is_null()) continue;
    std::string fault = fault_of(name, value);
    if (fault.empty()) {
      out[name] = value.scalar_text().value();
    } else {
      fields.add_error(Slug::malformed_request, std::string(object_name) + "." + name,
                       std::move(fault));
    }
  }
}

void read_metadata(Fields& fields, PaymentRequest& request) {
  const auto fault_of = [](const std::string& key, const http::JsonValue& value) -> std::string {
    const std::string* text = value.string();
    std::string fault = metadata_fault(key, text == nullptr ? "-" : *text);
    if (text == nullptr && fault.empty()) {
      fault = "must be a string, not " + std::string(value.type_name());
    }
    return fault;
  };
  read_object(fields, "metadata", request.metadata, false, fault_of);
  if (request.metadata.size() > kMetadataKeysMax) {
    fields.add_error(Slug::malformed_request, "metadata", kMetadataCountRule);
  }
}

/// The fields of every submission except its legs.
void read_common(Fields& fields, PaymentRequest& request) {
  request.transaction_id = read_transaction_id(fields);
  request.memo = fields.memo("memo");
  read_metadata(fields, request);
}

void read_notify(Fields& fields, PaymentRequest& request) {
  request.notify_email = fields.boolean("notifyEmail", optional).value_or(false);
  request.notify_whatsapp = fields.boolean("notifyWhatsApp", optional).value_or(false);
}

/// The contract's notification flags in a payment without a beneficiary.
void read_no_notification(Fields& fields) {
  for (const char* flag : {"notifyEmail", "notifyWhatsApp"}) {
    if (!fields.boolean(flag, optional).value_or(false)) continue;
    fields.add_error(Slug::validation_failed, flag,
                     "must be false: an on-ramp has no beneficiary to notify");
  }
}

void read_single(Fields& fields, PaymentRequest& request) {
  read_common(fields, request);
  request.legs.push_back(read_leg(fields));
  read_notify(fields, request);
}

/// The receiving side of a payment to a beneficiary.
void read_recipient(Fields& fields, PaymentRequest& request) {
  request.beneficiary = fields.id<BeneficiaryId>("beneficiaryId", required);
  request.destination = fields.id<DestinationId>("destinationId", optional);
  fields.reject("destinationWalletId",
                "is not accepted here; send beneficiaryId and, where needed, destinationId");
}

/// A payment to a beneficiary's crypto destination.
void read_to_address(Fields& fields, PaymentRequest& request) {
  read_common(fields, request);
  TransferLeg leg;
  leg.source_wallet = fields.id<WalletId>("sourceWalletId", required);
  read_recipient(fields, request);
  leg.sending_asset = fields.asset_code("sendingAssetCode", required).value_or(AssetCode());
  leg.amount = fields.amount("amount", required).value_or(Amount());
  read_references(fields, leg);
  request.legs.push_back(std::move(leg));
  read_notify(fields, request);
}

/// Accepts scalars only. A number keeps its source text, so it is not rounded.
void read_additional_fields(Fields& fields, PaymentRequest& request) {
  const auto fault_of = [](const std::string& name, const http::JsonValue& value) -> std::string {
    if (name.empty() || character_count(name) > kFieldNameMax) {
      return "has a name that no connector requires: names have 1 to " +
             std::to_string(kFieldNameMax) + " characters";
    }
    const auto text = value.scalar_text();
    return text ? character_fault(*text) : "must be a string, a number, true or false";
  };
  read_object(fields, "additionalFields", request.additional_fields, true, fault_of);
}

Payer read_payer(Fields& fields) {
  Payer payer;
  const http::JsonValue* value = fields.find("payer");
  if (fields.object("payer", required) == nullptr) return payer;
  Fields members(*value, fields.errors(), fields.path("payer."));
  payer.name = members.text("name", required).value_or("");
  payer.account_number = members.text("accountNumber", optional, 64);
  if (payer.account_number && is_masked(*payer.account_number)) {
    members.add_error(Slug::validation_failed, "accountNumber", kMaskedFault);
  }
  payer.phone = members.text("phone", optional, 32);
  if (payer.phone && !is_e164(*payer.phone)) {
    fields.errors().add(Slug::malformed_request, "payer.phone",
                        "must be a phone number in E.164 form such as +254712345678");
  }
  members.reject_unknown();
  return payer;
}

void read_p2p_beneficiary(Fields& fields, PaymentRequest& request) {
  read_to_address(fields, request);
  read_repeated_asset(fields, request.only());
}

void read_market(Fields& fields, PaymentRequest& request) {
  request.receiving_asset = fields.asset_code("receivingAssetCode", required);
  request.min_receiving = fields.amount("minReceivingAmount", optional);
}

void read_swap_beneficiary(Fields& fields, PaymentRequest& request) {
  read_to_address(fields, request);
  read_market(fields, request);
}

void read_offramp(Fields& fields, PaymentRequest& request) {
  read_common(fields, request);
  request.quote = fields.id<QuoteId>("quoteId", required);
  TransferLeg leg;
  leg.source_wallet = fields.id<WalletId>("sourceWalletId", required);
  read_recipient(fields, request);
  read_quoted_assets(fields, leg, request);
  request.compliance = Compliance{fields.text("purposeOfPayment", required).value_or(""),
                                  fields.text("sourceOfFunds", required).value_or(""),
                                  fields.text("relationship", required).value_or("")};
  read_additional_fields(fields, request);
  read_references(fields, leg);
  request.legs.push_back(std::move(leg));
  read_notify(fields, request);
}

void read_transfer(Fields& fields, PaymentRequest& request) {
  read_single(fields, request);
  read_repeated_asset(fields, request.only());
}

void read_swap(Fields& fields, PaymentRequest& request) {
  read_single(fields, request);
  read_market(fields, request);
}

void read_multi(Fields& fields, PaymentRequest& request) {
  read_common(fields, request);
  if (const auto* transfers = fields.array("transfers", required)) {
    if (transfers->empty() || transfers->size() > kLegsMax) {
      fields.errors().add(Slug::malformed_request, "transfers",
                          "must have 1 to " + std::to_string(kLegsMax) + " transfers");
    }
    for (std::size_t i = 0; i < transfers->size() && i < kLegsMax; ++i) {
      Fields leg((*transfers)[i], fields.errors(), "transfers[" + std::to_string(i) + "].");
      request.legs.push_back(read_leg(leg));
      read_repeated_asset(leg, request.legs.back());
      leg.reject_unknown();
    }
  }
}

void read_onramp(Fields& fields, PaymentRequest& request) {
  request.quote = fields.id<QuoteId>("quoteId", required);
  read_collection(fields, request);
}

using Reader = void (*)(Fields&, PaymentRequest&);
/// Nullptr: a provider initiates payments of this type.
Reader reader_of(PaymentType type) {
  switch (type) {
    case PaymentType::p2p_own:
      return read_transfer;
    case PaymentType::p2p_beneficiary:
      return read_p2p_beneficiary;
    case PaymentType::p2p_own_multi:
      return read_multi;
    case PaymentType::swap_own:
      return read_swap;
    case PaymentType::swap_beneficiary:
      return read_swap_beneficiary;
    case PaymentType::offramp:
      return read_offramp;
    case PaymentType::onramp:
      return read_onramp;
    case PaymentType::onramp_reference:
      break;
  }
  return nullptr;
}

/// With `validate_only`, runs all checks and stores nothing.
template <PaymentType type, bool validate_only>
Result<http::Response> submit(const Services& services, const Call& call) {
  COFFER_TRY(const PaymentRequest request, read_submission(type, *call.body));
  COFFER_TRY(const auto submission, flows::submit_payment(services.flows, call.caller, request,
                                                          call.request.request_id, validate_only));
  return validate_only ? json_response(200, {{"valid", true}}) : acknowledgement(submission);
}

/// Problems of a payment whose amount is in the request.
std::vector<Slug> transfer_problems() {
  return {Slug::invalid_reference,   Slug::not_found,         Slug::transaction_id_conflict,
          Slug::wallet_not_verified, Slug::validation_failed, Slug::insufficient_funds,
          Slug::trustline_missing,   Slug::amount_precision,  Slug::amount_out_of_range,
          Slug::quota_exceeded,      Slug::limit_exceeded};
}

/// Problems of a payment against a quote.
std::vector<Slug> quoted_problems(std::initializer_list<Slug> more) {
  std::vector<Slug> out{
      Slug::invalid_reference,   Slug::not_found,         Slug::transaction_id_conflict,
      Slug::wallet_not_verified, Slug::conflict,          Slug::quote_expired,
      Slug::quote_already_used,  Slug::validation_failed, Slug::trustline_missing,
      Slug::requirement_missing, Slug::quota_exceeded};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

/// A submission and its validation operation.
struct Submission {
  std::string_view pattern;
  std::string_view operation;
  std::string_view summary;
  std::string_view schema;
  std::string_view check_pattern;
  std::string_view check_operation;
};

template <PaymentType type>
void add(std::vector<Route>& rows, const Submission& names, std::vector<Slug> problems) {
  rows.push_back(
      {.method = "POST",
       .pattern = names.pattern,
       .operation = names.operation,
       .tag = "Payments",
       .summary = names.summary,
       .lane = Lane::money,
       .scope = Scope::payments_write,
       .moves_money = true,
       .body = Body::json,
       .request_schema = names.schema,
       .body_bytes_max = has_legs(type) || is_quoted(type) ? kLargeBodyMax : kBodyBytesMax,
       .responses = {{202, "Acknowledgement"}},
       .problems = std::move(problems),
       .handler = submit<type, false>});
  add_validation(rows, names.check_pattern, names.check_operation, submit<type, true>);
}

}  // namespace

std::string read_transaction_id(Fields& fields) {
  std::string id = fields.text("transactionId", required, 4096).value_or("");
  if (!id.empty() && !is_transaction_id(id)) {
    fields.errors().add(Slug::malformed_request, "transactionId",
                        "must have 1 to 64 characters, each a letter, a digit or one of . _ : -");
  }
  return id;
}

void read_collection(Fields& fields, PaymentRequest& request) {
  request.type = PaymentType::onramp;
  read_common(fields, request);
  TransferLeg leg;
  leg.destination_wallet = fields.id<WalletId>("destinationWalletId", required);
  read_quoted_assets(fields, leg, request);
  read_no_notification(fields);
  request.payer = read_payer(fields);
  read_additional_fields(fields, request);
  read_references(fields, leg);
  request.legs.push_back(std::move(leg));
}

Result<PaymentRequest> read_submission(PaymentType type, const http::JsonValue& body) {
  const Reader read = reader_of(type);
  if (read == nullptr) {
    return unexpected(Slug::validation_failed, "A provider initiates payments of this type.");
  }
  Fields fields(body);
  PaymentRequest request{.type = type};
  read(fields, request);
  fields.reject_unknown();
  COFFER_TRY_VOID(fields.check());
  return request;
}

http::Response acknowledgement(const flows::Submission& submission, const Json& more) {
  Json body = flows::object_with_room(more.size(), "transactionRecordId", submission.id.to_string(),
                                      "status", "accepted", "isIdempotent", submission.replayed,
                                      "message", "Accepted for settlement");
  body.update(more);
  http::Response response = json_response(202, body);
  if (submission.replayed) response.header("Idempotent-Replayed", "true");
  return response;
}

void add_validation(std::vector<Route>& rows, std::string_view pattern, std::string_view operation,
                    Handler handler) {
  Route row = rows.back();
  row.pattern = pattern;
  row.operation = operation;
  row.summary = "Validate this payment without storing it";
  row.needs_storage = false;
  row.responses = {{200, "Validation"}};
  row.handler = handler;
  rows.push_back(std::move(row));
}

std::vector<Route> payments_routes() {
  std::vector<Route> rows;
  add<PaymentType::p2p_beneficiary>(
      rows,
      {"/v1/payments/p2p/beneficiary", "payBeneficiary",
       "Pay a beneficiary's CRYPTO destination in one asset", "BeneficiaryTransfer",
       "/v1/payments/p2p/beneficiary/validate", "validateBeneficiaryPayment"},
      transfer_problems());
  add<PaymentType::swap_beneficiary>(
      rows,
      {"/v1/payments/swap/beneficiary", "swapToBeneficiary",
       "Swap to a beneficiary (strict-send path payment)", "BeneficiarySwap",
       "/v1/payments/swap/beneficiary/validate", "validateBeneficiarySwap"},
      transfer_problems());
  add<PaymentType::offramp>(
      rows,
      {"/v1/payments/offramp", "executeOfframp", "Execute an off-ramp (payout) against a quote",
       "Offramp", "/v1/payments/offramp/validate", "validateOfframp"},
      quoted_problems({Slug::insufficient_funds, Slug::amount_out_of_range, Slug::limit_exceeded}));
  add<PaymentType::onramp>(
      rows,
      {"/v1/payments/onramp", "executeOnramp", "Execute an on-ramp (collection) against a quote",
       "Onramp", "/v1/payments/onramp/validate", "validateOnramp"},
      quoted_problems({}));
  add<PaymentType::p2p_own>(rows,
                            {"/v1/payments/p2p/own", "transferBetweenOwnWallets",
                             "Transfer one asset between own wallets", "OwnTransfer",
                             "/v1/payments/p2p/own/validate", "validateOwnTransfer"},
                            transfer_problems());
  add<PaymentType::p2p_own_multi>(
      rows,
      {"/v1/payments/p2p/own/multi", "transferBetweenOwnWalletsAtomically",
       "Transfer between own wallets atomically: all transfers settle or none", "MultiTransfer",
       "/v1/payments/p2p/own/multi/validate", "validateOwnMultiTransfer"},
      transfer_problems());
  add<PaymentType::swap_own>(rows,
                             {"/v1/payments/swap/own", "swapBetweenOwnWallets",
                              "Swap between own wallets (strict send on the best market path)",
                              "OwnSwap", "/v1/payments/swap/own/validate", "validateOwnSwap"},
                             transfer_problems());
  return rows;
}

}  // namespace coffer::api
