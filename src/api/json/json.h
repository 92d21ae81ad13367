// JSON responses. JSON that events contain too is in flows/payments/record_json.h.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "domain/ledger/money.h"
#include "domain/ledger/statement.h"
#include "flows/payments/record_json.h"
#include "http/message.h"
#include "store/identity/tenants.h"
#include "store/ledger/wallets.h"
#include "store/payments/payments.h"

namespace coffer::api {

using flows::Json;

http::Response json_response(int status, const Json& body);
/// 204.
http::Response empty_response();
/// {success: true, message, data}, the envelope of the business routes.
http::Response envelope_response(const std::string& message, const Json& data);

/// A page of a collection (docs/contract.md#collections). Adds the Link header for `next`.
struct PageLinks {
  std::optional<std::string> next_cursor;
  std::optional<std::string> prev_cursor;
};
Json collection(Json data, const PageLinks& links);

Json association_json(const store::AssociationRow& association);
Json asset_json(const Asset& asset, const std::string& network_name);
/// Omits the balances if the ledger could not be read (docs/contract.md#wallets).
Json wallet_json(const store::WalletRow& wallet, const std::string& network_name,
                 const std::optional<std::vector<store::WalletBalance>>& balances);
using flows::record_json;
Json statement_line_json(const StatementLine& line, int decimals);

class Fields;
/// Adds an error for each of these members whose value differs from that in `shown`: a resource may
/// be sent back as it was read.
void reject_changes(Fields& fields, const Json& shown, std::initializer_list<const char*> fixed);

/// null for an empty optional.
Json or_null(const std::optional<std::string>& text);

}  // namespace coffer::api
