#include "api/json/json.h"

#include <utility>

#include "api/json/fields.h"

namespace coffer::api {
namespace {

/// Adds the member only if there is a value.
void put(Json& object, const char* name, const std::optional<std::string>& value) {
  if (value) object[name] = *value;
}

Json metadata_json(const Metadata& metadata) {
  Json out{{"entityType", name(entity_type(metadata))}};
  std::visit([&](const auto& details) { put_texts(out, details); }, metadata);
  return out;
}

Json balance_json(const store::WalletBalance& item) {
  const int decimals = item.asset.decimals;
  return flows::object_with_room(
      0, "assetCode", item.asset.code.value(), "issuer", item.asset.issuer, "decimals", decimals,
      "balance", item.balance.to_string(decimals), "available",
      (item.balance - item.held).to_string(decimals), "held", item.held.to_string(decimals));
}

}  // namespace

http::Response json_response(int status, const Json& body) {
  http::Response response;
  response.status = status;
  response.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return response;
}

http::Response empty_response() {
  http::Response response;
  response.status = 204;
  response.content_type.clear();
  return response;
}

http::Response envelope_response(const std::string& message, const Json& data) {
  return json_response(200, {{"success", true}, {"message", message}, {"data", data}});
}

Json or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

Json collection(Json data, const PageLinks& links) {
  return {{"data", std::move(data)},
          {"hasMore", links.next_cursor.has_value()},
          {"nextCursor", or_null(links.next_cursor)},
          {"prevCursor", or_null(links.prev_cursor)}};
}

void reject_changes(Fields& fields, const Json& shown, std::initializer_list<const char*> fixed) {
  for (const char* name : fixed) {
    const http::JsonValue* sent = fields.find(name);
    if (sent == nullptr) continue;
    const Json present = shown.value(name, Json());
    const std::string text = present.is_string() ? present.get<std::string>() : present.dump();
    const bool same_type = (sent->string() != nullptr) == present.is_string();
    if (same_type && sent->scalar_text() == text) continue;
    fields.add_error(Slug::validation_failed, name, "cannot be changed");
  }
}

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
  Json out = flows::wallet_identity_json(wallet, network_name);
  if (wallet.metadata) out["metadata"] = metadata_json(*wallet.metadata);
  Json::array_t shown;
  if (balances) {
    shown.reserve(balances->size());
    for (const store::WalletBalance& item : *balances) shown.push_back(balance_json(item));
  }
  out["balances"] = std::move(shown);
  if (!balances) out["balancesUnavailable"] = true;
  out["createdAt"] = wallet.created_at.to_string();
  out["updatedAt"] = wallet.updated_at.to_string();
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
  out["transactionRecordId"] = line.payment ? Json(line.payment->to_string()) : Json(nullptr);
  if (line.metadata) out["metadata"] = Json::parse(*line.metadata, nullptr, false);
  return out;
}

}  // namespace coffer::api
