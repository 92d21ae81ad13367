#include "api/json.h"

#include <utility>

#include "base/digest.h"

namespace coffer::api {
namespace {

/// Adds a member only where there is a value.
void put(Json& object, const char* name, const std::optional<std::string>& value) {
  if (value) object[name] = *value;
}

Json metadata_json(const Metadata& metadata) {
  Json out;
  out["entityType"] = name(entity_type(metadata));
  if (const auto* person = std::get_if<PersonMetadata>(&metadata)) {
    out["firstName"] = person->first_name;
    out["lastName"] = person->last_name;
    out["dateOfBirth"] = person->date_of_birth;
    out["nationality"] = person->nationality;
    put(out, "idType", person->id_type);
    put(out, "idNumber", person->id_number);
    put(out, "address", person->address);
    put(out, "email", person->email);
    put(out, "phone", person->phone);
    return out;
  }
  const auto& business = std::get<BusinessMetadata>(metadata);
  out["companyName"] = business.company_name;
  out["registrationNumber"] = business.registration_number;
  out["registrationCountry"] = business.registration_country;
  put(out, "taxId", business.tax_id);
  put(out, "address", business.address);
  put(out, "contactEmail", business.contact_email);
  return out;
}

/// The statuses a record went through, from the times it keeps of each.
Json history_json(const store::PaymentRecord& record) {
  Json out = Json::array();
  const auto add = [&](PaymentStatus status, std::optional<Timestamp> at) {
    if (!at) return;
    Json item{{"status", name(status)}, {"at", at->to_string()}};
    if (status == PaymentStatus::failed && record.failure) {
      item["code"] = info(*record.failure).name;
      item["message"] = info(*record.failure).message;
    }
    out.push_back(std::move(item));
  };
  add(PaymentStatus::initiated, record.created_at);
  add(PaymentStatus::processing, record.processing_at);
  if (record.completed_at) {
    const PaymentStatus end = record.failure                               ? PaymentStatus::failed
                              : record.status == PaymentStatus::expired ? PaymentStatus::expired
                                                                        : PaymentStatus::succeeded;
    add(end, record.completed_at);
  }
  add(PaymentStatus::refund_pending, record.refund_pending_at);
  if (record.refund_closed_at) add(record.status, record.refund_closed_at);
  return out;
}

Json legs_json(const store::PaymentRecord& record) {
  Json out = Json::array();
  for (std::size_t i = 0; i < record.request.legs.size(); ++i) {
    const TransferLeg& leg = record.request.legs[i];
    Json item{{"sourceWalletId", leg.source_wallet.to_string()},
              {"destinationWalletId", leg.destination_wallet.to_string()},
              {"sendingAssetCode", leg.sending_asset.value()},
              {"amount", leg.amount.to_string(record.leg_decimals[i])}};
    put(item, "fromRef", leg.refs.from_ref);
    put(item, "toRef", leg.refs.to_ref);
    put(item, "description", leg.description);
    out.push_back(std::move(item));
  }
  return out;
}

/// What differs between one payment and many in one.
void put_movement(Json& out, const store::PaymentRecord& record) {
  if (record.request.type == PaymentType::p2p_own_multi) {
    out["legs"] = legs_json(record);
    return;
  }
  const TransferLeg& leg = record.request.only();
  out["sourceWalletId"] = leg.source_wallet.to_string();
  out["destinationWalletId"] = leg.destination_wallet.to_string();
  put(out, "fromRef", leg.refs.from_ref);
  put(out, "toRef", leg.refs.to_ref);
  put(out, "description", leg.description);
}

}  // namespace

http::Response json_response(int status, const Json& body) {
  http::Response response;
  response.status = status;
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

http::Response envelope_response(const std::string& message, const Json& data) {
  return json_response(200, {{"success", true}, {"message", message}, {"data", data}});
}

Json or_null(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

Json collection(Json data, const PageLinks& links) {
  return {{"data", std::move(data)},
          {"hasMore", links.next_cursor.has_value()},
          {"nextCursor", or_null(links.next_cursor)},
          {"prevCursor", or_null(links.prev_cursor)}};
}

Json whole_collection(Json data) { return collection(std::move(data), {}); }

Json association_json(const store::AssociationRow& association) {
  return {{"id", association.id.to_string()},
          {"name", association.name},
          {"status", name(association.status)}};
}

Json asset_json(const Asset& asset, const std::string& network_name) {
  return {{"code", asset.code.value()},
          {"issuer", asset.issuer},
          {"name", asset.name},
          {"decimals", asset.decimals},
          {"networkName", network_name}};
}

Json wallet_json(const store::WalletRow& wallet, const std::string& network_name,
                 const std::optional<std::vector<store::WalletBalance>>& balances) {
  Json out{{"id", wallet.id.to_string()},
           {"walletName", wallet.name},
           {"accountNumber", wallet.account_number},
           {"publicKey", wallet.public_key},
           {"networkName", network_name},
           {"assetCode", wallet.asset_code.value()},
           {"ownAccount", wallet.own_account},
           {"status", name(wallet.status)}};
  if (wallet.reason) {
    out["statusReason"] = {{"code", wallet.reason->code}, {"message", wallet.reason->message}};
  }
  if (wallet.metadata) out["metadata"] = metadata_json(*wallet.metadata);
  out["balances"] = Json::array();
  if (!balances) out["balancesUnavailable"] = true;
  for (const auto& item : balances.value_or(std::vector<store::WalletBalance>())) {
    const int decimals = item.asset.decimals;
    out["balances"].push_back({{"assetCode", item.asset.code.value()},
                               {"issuer", item.asset.issuer},
                               {"decimals", decimals},
                               {"balance", item.balance.to_string(decimals)},
                               {"available", (item.balance - item.held).to_string(decimals)},
                               {"held", item.held.to_string(decimals)}});
  }
  out["createdAt"] = wallet.created_at.to_string();
  out["updatedAt"] = wallet.updated_at.to_string();
  return out;
}

Json record_json(const store::PaymentRecord& record, Environment environment) {
  Json out{{"id", record.id.to_string()},
           {"transactionRecordId", record.id.to_string()},
           {"transactionId", record.request.transaction_id},
           {"type", name(record.request.type)},
           {"status", name(record.status)}};
  if (record.failure) {
    const FailureInfo& failure = info(*record.failure);
    out["statusReason"] = {{"code", failure.name},
                           {"message", failure.message},
                           {"retryable", failure.retryable}};
  }
  out["statusHistory"] = history_json(record);
  out["environment"] = name(environment);
  if (record.sending_asset) {
    const std::string amount = record.sending_amount->to_string(record.sending_decimals);
    out["sendingAssetCode"] = record.sending_asset->value();
    out["sendingAmount"] = amount;
    out["total"] = amount;
  }
  if (record.request.receiving_asset) {
    out["receivingAssetCode"] = record.request.receiving_asset->value();
    const int decimals = record.receiving_decimals.value_or(Amount::kScale);
    if (record.receiving_amount) {
      out["receivingAmount"] = record.receiving_amount->to_string(decimals);
    }
    if (record.request.min_receiving) {
      out["minReceivingAmount"] = record.request.min_receiving->to_string(decimals);
    }
  }
  put(out, "path", record.path);
  put_movement(out, record);
  put(out, "memo", record.request.memo);
  if (record.ledger_hash) out["ledgerTransactionHash"] = to_hex(std::string_view(*record.ledger_hash));
  out["version"] = record.version;
  out["createdAt"] = record.created_at.to_string();
  out["updatedAt"] = record.updated_at.to_string();
  if (record.completed_at) out["completedAt"] = record.completed_at->to_string();
  return out;
}

Json statement_line_json(const StatementLine& line, int decimals) {
  Json out{{"rowId", line.row_id},
           {"at", line.at.to_string()},
           {"description", or_null(line.description)},
           {"reference", or_null(line.reference)}};
  put(out, "counterparty", line.counterparty);
  out["direction"] = line.amount.is_negative() ? "debit" : "credit";
  out["amount"] = line.amount.to_string(decimals);
  out["runningBalance"] = line.running_balance.to_string(decimals);
  out["transactionRecordId"] =
      line.payment ? Json(line.payment->to_string()) : Json(nullptr);
  return out;
}

}  // namespace coffer::api
