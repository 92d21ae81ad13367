#include "api/json/json.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "store/lists/payment_list.h"

namespace coffer::api {
namespace {

std::optional<store::PaymentSort> parse_sort(std::string_view text) {
  if (text == "createdAt") return store::PaymentSort::created_at;
  if (text == "updatedAt") return store::PaymentSort::updated_at;
  return std::nullopt;
}

std::optional<std::string> parse_transaction_id(std::string_view text) {
  return is_transaction_id(text) ? std::optional<std::string>(text) : std::nullopt;
}

store::PaymentFilter read_filter(QueryFields& query) {
  store::PaymentFilter filter;
  filter.status = query.term("status", parse_term<PaymentStatus>);
  filter.type = query.term("type", parse_term<PaymentType>);
  filter.wallet = query.id<WalletId>("walletId");
  filter.asset = query.asset_code("assetCode");
  filter.beneficiary = query.id<BeneficiaryId>("beneficiaryId");
  filter.connector = query.id<ConnectorId>("connectorId");
  filter.transaction_id = query.term("transactionId", parse_transaction_id);
  filter.reference = query.text("reference");
  filter.metadata = query.metadata();
  filter.created_from = query.time("createdFrom");
  filter.created_to = query.time("createdTo");
  filter.updated_from = query.time("updatedFrom");
  filter.sort = query.term("sort", parse_sort).value_or(store::PaymentSort::created_at);
  return filter;
}

Result<http::Response> list_transactions(const Services& services, const Call& call) {
  QueryFields query(call.request);
  const store::PaymentFilter filter = read_filter(query);
  COFFER_TRY(const PageRequest page, read_page(services, call, query, "transactions"));
  return services.flows.read([&](store::Connection& db) {
    store::PaymentPage found = store::list_payments(db, call.caller.tenant, filter, page.at);
    std::vector<Json> rows;
    for (const store::PaymentRecord& record : found.records) {
      rows.push_back(record_json(record, call.caller.tenant.environment));
    }
    return page_response(page, std::move(rows), std::move(found.positions), found.next);
  });
}

Result<http::Response> read_transaction(const Services& services, const Call& call) {
  return services.flows.read([&](store::Connection& db) -> Result<http::Response> {
    const auto id = PaymentId::parse(call.param("transactionId"));
    const auto record = id ? store::find_payment(db, call.caller.tenant, *id) : std::nullopt;
    if (!record) return unexpected(Slug::not_found, "The transaction was not found.");
    return json_response(200, record_json(*record, call.caller.tenant.environment));
  });
}

}  // namespace

std::vector<Route> transactions_routes() {
  constexpr RouteGroup kTransactions{"Transactions", Scope::transactions_read};
  return {
      with_query(
          kTransactions("GET", "/v1/transactions", "listTransactions",
                        "List transaction records, newest first", Lane::read,
                        {{200, "TransactionList"}}, {}, list_transactions),
          page_query(
              {{"status", "TransactionStatus", "Only records in this status"},
               {"type", "TransactionType", "Only records of this type"},
               {"walletId", "Id", "Only records with this wallet on either side"},
               {"assetCode", "AssetCode", "Only records in this asset"},
               {"beneficiaryId", "Id", "Only payments to this beneficiary"},
               {"connectorId", "Id", "Only payments through this connector"},
               {"transactionId", "TransactionId", "Your ID of the payment"},
               {"reference", "Text", "Equals fromRef or toRef, including those of legs"},
               {"metadata", "PaymentMetadata", "Only records with these texts", false, {}, true},
               {"createdFrom", "DateOrTime", "Created at or after"},
               {"createdTo", "DateOrTime", "Created before"},
               {"updatedFrom", "DateOrTime", "Changed at or after"},
               {"sort", "TransactionSort", "Sort order, newest first"}})),
      kTransactions("GET", "/v1/transactions/{transactionId}", "getTransaction",
                    "Read a transaction record by its record ID", Lane::read,
                    {{200, "Transaction"}}, {Slug::not_found}, read_transaction)};
}

}  // namespace coffer::api
