#include "store/ledger/statements.h"

#include <algorithm>

#include "api/json/json.h"
#include "api/ledger/statement_file.h"
#include "api/pipeline/page.h"
#include "api/pipeline/route_groups.h"
#include "api/pipeline/services.h"
#include "store/ledger/catalog.h"
#include "store/ledger/wallets.h"

namespace coffer::api {
namespace {

Result<Statement> read_statement(const Services& services, const Call& call, QueryFields& query) {
  Statement out{.tenant = call.caller.tenant};
  const auto wallet = query.text("walletId");
  const auto code = query.asset_code("assetCode");
  const auto start = query.time("startDate");
  const auto end = query.time("endDate");
  for (const char* name : {"walletId", "assetCode", "startDate", "endDate"}) {
    if (!query.text(name)) query.add_error(Slug::malformed_request, name, "is required");
  }
  if (start && end && *end < *start) {
    query.add_error(Slug::validation_failed, "endDate", "must not be before startDate");
  }
  COFFER_TRY_VOID(query.check());
  out.start = *start;
  out.end = *end;
  return services.flows.read([&](store::Connection& db) -> Result<Statement> {
    const auto id = WalletId::parse(*wallet);
    const auto brief = id ? store::find_wallet_brief(db, call.caller.tenant, *id) : std::nullopt;
    if (!brief) return unexpected(Slug::not_found, "The wallet was not found.");
    const auto asset = store::find_asset(db, *code);
    const auto account = asset ? store::find_trustline(db, brief->key, asset->key) : std::nullopt;
    if (!account) {
      return unexpected(Problem(Slug::trustline_missing, "The wallet does not hold this asset.",
                                {{"assetCode", "has no trustline in the wallet"}}));
    }
    out.wallet = *id;
    out.asset = *asset;
    out.account = *account;
    return out;
  });
}

/// Exports the whole range in the format of the route.
template <StatementFormat format>
Result<http::Response> export_statement(const Services& services, const Call& call) {
  QueryFields query(call.request);
  COFFER_TRY(const Statement statement, read_statement(services, call, query));
  COFFER_TRY(StatementFile file, statement_file(services.flows, statement, format));
  http::Response response;
  response.content_type = file.content_type;
  response.header("Content-Disposition", "attachment; filename=\"" + file.name + "\"");
  response.stream = std::move(file.write);
  return response;
}

Result<http::Response> page_of_lines(const Services& services, const Call& call,
                                     const Statement& statement, const PageRequest& page) {
  return services.flows.read([&](store::Connection& db) {
    const store::EntryRange whole = store::entries_between(db, statement.start, statement.end);
    store::EntryRange range = whole;
    if (page.at.key) range.from = std::max(range.from, *page.at.key);
    auto lines =
        store::statement_lines(db, call.caller.tenant, statement.account, range, page.at.limit + 1);
    std::optional<std::string> next;
    if (lines.size() > static_cast<std::size_t>(page.at.limit)) {
      next = services.cursors.encode({lines.back().entry, false}, page.binding);
      lines.pop_back();
    }
    const int decimals = statement.asset.decimals;
    Json data = Json::array();
    for (const StatementLine& line : lines) {
      data.push_back(statement_line_json(line, decimals));
    }
    const auto balance = [&](std::int64_t entry) {
      return store::balance_before(db, statement.account, entry).to_string(decimals);
    };
    return json_response(200, {{"walletId", statement.wallet.to_string()},
                               {"assetCode", statement.asset.code.value()},
                               {"startDate", statement.start.to_string()},
                               {"endDate", statement.end.to_string()},
                               {"openingBalance", balance(whole.from)},
                               {"closingBalance", balance(whole.to)},
                               {"data", std::move(data)},
                               {"hasMore", next.has_value()},
                               {"nextCursor", or_null(next)}});
  });
}

Result<http::Response> read_statement_lines(const Services& services, const Call& call) {
  QueryFields query(call.request);
  query.limit();  // so that `read_statement` reports its error
  COFFER_TRY(const Statement statement, read_statement(services, call, query));
  COFFER_TRY(const PageRequest page, read_page(services, call, query, "statement"));
  return page_of_lines(services, call, statement, page);
}

/// The operation of an export.
struct ExportRoute {
  StatementFormat format;
  std::string_view pattern;
  std::string_view operation;
  std::string_view summary;
  std::string_view schema;
  Handler handler;
};

constexpr ExportRoute kExportRoutes[] = {
    {StatementFormat::csv, "/v1/statements/transactions/csv", "getStatementCsv",
     "Export the whole range of a statement as CSV", "StatementCsv",
     export_statement<StatementFormat::csv>},
    {StatementFormat::ndjson, "/v1/statements/transactions/ndjson", "getStatementNdjson",
     "Export the whole range of a statement as one JSON object per line", "StatementNdjson",
     export_statement<StatementFormat::ndjson>},
    {StatementFormat::camt053, "/v1/statements/transactions/camt.053", "getStatementCamt053",
     "Export the whole range of a statement as ISO 20022 camt.053.001.08", "StatementCamt053",
     export_statement<StatementFormat::camt053>},
};

}  // namespace

std::vector<Route> statements_routes() {
  constexpr RouteGroup kStatements{"Statements", Scope::statements_read};
  const Route page =
      with_query(kStatements("GET", "/v1/statements/transactions", "getStatement",
                             "List the statement lines of a wallet in one asset, oldest first",
                             Lane::read, {{200, "Statement"}},
                             {Slug::not_found, Slug::validation_failed, Slug::trustline_missing},
                             read_statement_lines),
                 {{"walletId", "Id", "The wallet", true},
                  {"assetCode", "AssetCode", "The asset", true},
                  {"startDate", "DateOrTime", "Start of the period, inclusive", true},
                  {"endDate", "DateOrTime", "End of the period, exclusive", true}});
  std::vector<Route> out{page};
  for (const ExportRoute& one : kExportRoutes) {
    Route& whole = out.emplace_back(page);
    whole.pattern = one.pattern;
    whole.operation = one.operation;
    whole.summary = one.summary;
    whole.lane = Lane::exports;
    whole.responses = {{200, one.schema, info_of(one.format).media_type}};
    whole.handler = one.handler;
  }
  out.front().query = page_query(std::move(out.front().query));
  return out;
}

}  // namespace coffer::api
