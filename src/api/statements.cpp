#include "api/statements.h"

#include "api/json.h"
#include "api/pipeline/page.h"
#include "api/pipeline/services.h"
#include "store/catalog.h"
#include "store/statements.h"
#include "store/wallets.h"

namespace coffer::api {
namespace {

constexpr int kExportChunk = 500;

enum class Format { json, csv, ndjson };

std::optional<Format> parse_format(std::string_view text) {
  if (text == "json") return Format::json;
  if (text == "csv") return Format::csv;
  if (text == "ndjson") return Format::ndjson;
  return std::nullopt;
}

/// `format` decides; without it the Accept header may ask for an export.
Format wanted_format(const http::Request& request, QueryFields& query) {
  if (const auto format = query.term("format", parse_format)) return *format;
  const std::string* accept = request.header("accept");
  if (accept != nullptr && accept->find("text/csv") != std::string::npos) return Format::csv;
  if (accept != nullptr && accept->find("application/x-ndjson") != std::string::npos) {
    return Format::ndjson;
  }
  return Format::json;
}

/// A statement request with its account found.
struct Statement {
  WalletId wallet;
  Asset asset;
  AccountKey account = 0;
  Timestamp start;
  Timestamp end;
};

Result<Statement> read_statement(const Services& services, const Call& call, QueryFields& query) {
  Statement out;
  const auto wallet = query.text("walletId");
  const auto code = query.asset_code("assetCode");
  const auto start = query.time("startDate");
  const auto end = query.time("endDate");
  for (const char* name : {"walletId", "assetCode", "startDate", "endDate"}) {
    if (!query.text(name)) query.faults().add(Slug::malformed_request, name, "is required");
  }
  if (start && end && *end < *start) {
    query.faults().add(Slug::validation_failed, "endDate", "must not be before startDate");
  }
  COFFER_TRY_VOID(check(query.faults()));
  out.start = *start;
  out.end = *end;
  return store::with_reader(
      services.flows.database, [&](store::Connection& db) -> Result<Statement> {
        const auto id = WalletId::parse(*wallet);
        const auto brief =
            id ? store::find_wallet_brief(db, call.caller.tenant, *id) : std::nullopt;
        if (!brief) return unexpected(Slug::not_found, "There is no such wallet.");
        const auto asset = store::find_asset(db, *code);
        const auto account =
            asset ? store::find_trustline(db, brief->key, asset->key) : std::nullopt;
        if (!account) {
          return unexpected(Problem(Slug::trustline_missing, "The wallet does not hold this asset.",
                                    {{"assetCode", "the wallet has no trustline for it"}}));
        }
        out.wallet = *id;
        out.asset = *asset;
        out.account = *account;
        return out;
      });
}

/// Spreadsheets run a cell that starts like a formula: such text gets an apostrophe in front.
std::string csv_cell(const std::string& text) {
  std::string cell = text;
  if (!cell.empty() && std::string_view("=+-@\t\r").find(cell[0]) != std::string_view::npos) {
    cell.insert(0, 1, '\'');
  }
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

constexpr std::string_view kCsvHeader =
    "rowId,at,description,reference,counterparty,direction,amount,runningBalance,"
    "transactionRecordId\r\n";

/// Amounts are ours and numeric: they keep their sign.
std::string csv_line(const StatementLine& line, int decimals) {
  return line.row_id + "," + line.at.to_string() + "," +
         csv_cell(line.description.value_or("")) + "," + csv_cell(line.reference.value_or("")) +
         "," + csv_cell(line.counterparty.value_or("")) + "," +
         (line.amount.is_negative() ? "debit" : "credit") + "," + line.amount.to_string(decimals) +
         "," + line.running_balance.to_string(decimals) + "," +
         (line.payment ? line.payment->to_string() : "") + "\r\n";
}

/// The whole range in constant memory, a reader at a time for each chunk.
bool stream_lines(const Services& services, const Tenant& tenant, const Statement& statement,
                  Format format, const http::Sink& sink) {
  if (format == Format::csv && !sink(kCsvHeader)) return false;
  std::optional<store::EntryRange> range;
  for (bool more = true; more;) {
    auto chunk = store::with_reader(
        services.flows.database,
        [&](store::Connection& db) -> Result<std::vector<StatementLine>> {
          if (!range) range = store::entries_between(db, statement.start, statement.end);
          return store::statement_lines(db, tenant, statement.account, *range, kExportChunk);
        });
    if (!chunk) return false;
    std::string text;
    for (const StatementLine& line : *chunk) {
      text += format == Format::csv
                  ? csv_line(line, statement.asset.decimals)
                  : statement_line_json(line, statement.asset.decimals).dump() + "\n";
      range->from = line.entry + 1;
    }
    if (!text.empty() && !sink(text)) return false;
    more = chunk->size() == static_cast<std::size_t>(kExportChunk);
  }
  return true;
}

http::Response export_response(const Services& services, const Call& call,
                               const Statement& statement, Format format) {
  http::Response response;
  const bool csv = format == Format::csv;
  response.content_type = csv ? "text/csv; charset=utf-8" : "application/x-ndjson";
  response.header("Content-Disposition",
                  "attachment; filename=\"statement-" + statement.wallet.to_string() + "-" +
                      statement.asset.code.value() + (csv ? ".csv\"" : ".ndjson\""));
  response.stream = [&services, tenant = call.caller.tenant, statement,
                     format](const http::Sink& sink) {
    return stream_lines(services, tenant, statement, format, sink);
  };
  return response;
}

Result<http::Response> page_of_lines(const Services& services, const Call& call,
                                     const Statement& statement, const PageRequest& page) {
  return store::with_reader(
      services.flows.database, [&](store::Connection& db) -> Result<http::Response> {
        const store::EntryRange whole =
            store::entries_between(db, statement.start, statement.end);
        store::EntryRange range = whole;
        if (page.at.key) range.from = std::max(range.from, *page.at.key);
        auto lines = store::statement_lines(db, call.caller.tenant, statement.account, range,
                                            page.at.limit);
        std::optional<std::string> next;
        if (lines.size() > static_cast<std::size_t>(page.limit)) {
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
  Faults faults;
  QueryFields query(call.request, faults);
  const Format format = wanted_format(call.request, query);
  const int limit = query.limit();
  COFFER_TRY(const Statement statement, read_statement(services, call, query));
  if (format != Format::json) return export_response(services, call, statement, format);
  COFFER_TRY(PageRequest page,
             read_page(call.request, query, services.cursors, call.caller.tenant,
                       {"statement", "walletId", "assetCode", "startDate", "endDate"}));
  page.limit = limit;
  return page_of_lines(services, call, statement, page);
}

}  // namespace

std::vector<Route> statements_routes() {
  return {{.method = "GET",
           .pattern = "/v1/statements/transactions",
           .operation = "getStatement",
           .tag = "Statements",
           .summary = "Statement lines of a wallet in one asset, oldest first",
           .scope = Scope::statements_read,
           .query = {{"walletId", "Id", "The wallet", true},
                     {"assetCode", "AssetCode", "The asset", true},
                     {"startDate", "DateOrTime", "Inclusive", true},
                     {"endDate", "DateOrTime", "Exclusive", true},
                     {"format", "StatementFormat", "A page of JSON, or the whole range as export"},
                     {"limit", "Limit", "Lines of a page"},
                     {"cursor", "Cursor", "Continues a statement"}},
           .answers = {{200, "Statement"}, {404}, {422}},
           .handler = read_statement_lines}};
}

}  // namespace coffer::api
