#include "store/ledger/statements.h"

#include <algorithm>

#include "api/json.h"
#include "api/ledger/camt053.h"
#include "api/ledger/csv.h"
#include "api/pipeline/page.h"
#include "api/pipeline/services.h"
#include "api/route_groups.h"
#include "base/digest.h"
#include "base/mutex.h"
#include "store/ledger/catalog.h"
#include "store/ledger/wallets.h"

namespace coffer::api {
namespace {

constexpr int kExportChunk = 500;
// Text is sent in pieces of this size; larger pieces would allocate new memory each time.
constexpr std::size_t kPieceBytes = 32 * 1024;
// About the duration of a few chunks. Time spent on a slow client does not count as work.
constexpr std::int64_t kRestMaxMs = 5;

enum class Format { json, csv, ndjson, camt053 };

struct FormatInfo {
  Format format;
  std::string_view name;
  std::string_view media_type;
  std::string_view content_type;
  std::string_view extension;
};

constexpr FormatInfo kFormats[] = {
    {Format::json, "json", "application/json", "application/json", ".json"},
    {Format::csv, "csv", "text/csv", "text/csv; charset=utf-8", ".csv"},
    {Format::ndjson, "ndjson", "application/x-ndjson", "application/x-ndjson", ".ndjson"},
    {Format::camt053, "camt.053", "application/xml", "application/xml", ".camt053.xml"},
};

const FormatInfo& info_of(Format format) { return kFormats[static_cast<std::size_t>(format)]; }

std::optional<Format> parse_format(std::string_view text) {
  for (const FormatInfo& info : kFormats) {
    if (info.name == text) return info.format;
  }
  return std::nullopt;
}

/// `format` takes precedence over the Accept header. Browsers list XML among many other types, so
/// an export needs a single accepted type.
Format wanted_format(const http::Request& request, QueryFields& query) {
  if (const auto format = query.term("format", parse_format)) return *format;
  const std::string* accept = request.header("accept");
  if (accept == nullptr) return Format::json;
  for (const Format format : {Format::csv, Format::ndjson}) {
    if (accept->find(info_of(format).media_type) != std::string::npos) return format;
  }
  return *accept == info_of(Format::camt053).media_type ? Format::camt053 : Format::json;
}

/// A statement request with its account.
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
    if (!query.text(name)) query.errors().add(Slug::malformed_request, name, "is required");
  }
  if (start && end && *end < *start) {
    query.errors().add(Slug::validation_failed, "endDate", "must not be before startDate");
  }
  COFFER_TRY_VOID(check(query.errors()));
  out.start = *start;
  out.end = *end;
  return store::with_reader(
      services.flows.database, [&](store::Connection& db) -> Result<Statement> {
        const auto id = WalletId::parse(*wallet);
        const auto brief =
            id ? store::find_wallet_brief(db, call.caller.tenant, *id) : std::nullopt;
        if (!brief) return unexpected(Slug::not_found, "The wallet was not found.");
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

constexpr std::string_view kCsvHeader =
    "rowId,at,description,reference,counterparty,direction,amount,runningBalance,"
    "transactionRecordId\r\n";

/// Amounts come from coffer and are numeric, so they keep their sign.
void append_csv_line(std::string& out, const StatementLine& line, int decimals) {
  out.append(line.row_id).append(",").append(line.at.to_string()).append(",");
  for (const auto* text : {&line.description, &line.reference, &line.counterparty}) {
    if (*text) out += csv_cell(**text);
    out += ',';
  }
  out.append(line.amount.is_negative() ? "debit," : "credit,");
  out.append(line.amount.to_string(decimals)).append(",");
  out.append(line.running_balance.to_string(decimals)).append(",");
  if (line.payment) out += line.payment->to_string();
  out += "\r\n";
}

std::string json_text(const std::optional<std::string>& text) {
  return text ? Json(*text).dump() : "null";
}

/// The content of statement_line_json without creating the object, because an export may have
/// millions of lines.
void append_ndjson_line(std::string& out, const StatementLine& line, int decimals) {
  out.append("{\"rowId\":\"").append(line.row_id);
  out.append("\",\"at\":\"").append(line.at.to_string());
  out.append("\",\"description\":").append(json_text(line.description));
  out.append(",\"reference\":").append(json_text(line.reference));
  if (line.counterparty) out.append(",\"counterparty\":").append(json_text(line.counterparty));
  out.append(",\"direction\":").append(line.amount.is_negative() ? "\"debit\"" : "\"credit\"");
  out.append(",\"amount\":\"").append(line.amount.to_string(decimals));
  out.append("\",\"runningBalance\":\"").append(line.running_balance.to_string(decimals));
  out.append("\",\"transactionRecordId\":");
  if (line.payment) {
    out.append("\"").append(line.payment->to_string()).append("\"}\n");
  } else {
    out.append("null}\n");
  }
}

/// The format of an export, from top to bottom.
struct Script {
  std::string head;
  std::function<void(std::string& out, const StatementLine&)> append_line;
  std::string tail;
};

/// The range is fixed while it is streamed; later postings are outside it.
struct Export {
  store::EntryRange range;
  Script script;
};

Result<Script> camt053_script(const Services& services, const Call& call, store::Connection& db,
                              const Statement& statement, const store::EntryRange& range) {
  const auto wallet = store::find_wallet(db, call.caller.tenant, statement.wallet);
  if (!wallet) return unexpected(Slug::not_found, "The wallet was not found.");
  const Timestamp now = services.flows.clock.now();
  const std::string identity = statement.wallet.to_string() + " " + statement.asset.code.value() +
                               " " + statement.start.to_string() + " " + statement.end.to_string();
  std::string message = services.flows.random.uuid_v7(now).to_string();
  std::erase(message, '-');
  const CamtStatement camt{.message_id = std::move(message),
                           .statement_id = to_hex(as_text(sha256(identity)).substr(0, 16)),
                           .created = now,
                           .start = statement.start,
                           .end = statement.end,
                           .account_number = wallet->account_number,
                           .account_name = wallet->name,
                           .asset = statement.asset.code,
                           .decimals = statement.asset.decimals,
                           .opening = store::balance_before(db, statement.account, range.from),
                           .closing = store::balance_before(db, statement.account, range.to)};
  return Script{camt053_opening(camt),
                [camt](std::string& out, const StatementLine& line) {
                  append_camt053_entry(out, camt, line);
                },
                camt053_closing(camt)};
}

Result<Script> script_of(const Services& services, const Call& call, store::Connection& db,
                         const Statement& statement, const store::EntryRange& range,
                         Format format) {
  const int decimals = statement.asset.decimals;
  switch (format) {
    case Format::csv:
      return Script{std::string(kCsvHeader),
                    [decimals](std::string& out, const StatementLine& line) {
                      append_csv_line(out, line, decimals);
                    },
                    {}};
    case Format::camt053:
      return camt053_script(services, call, db, statement, range);
    case Format::json:
    case Format::ndjson:
      break;
  }
  return Script{{},
                [decimals](std::string& out, const StatementLine& line) {
                  append_ndjson_line(out, line, decimals);
                },
                {}};
}

/// Gives payments precedence: while a payment is being written, an export rests for as long as it
/// has worked.
void give_way(const flows::Context& flows, std::int64_t since_ms) {
  if (flows.queue.stats().busy_since_ms == 0) return;
  const std::int64_t worked_ms = flows.clock.monotonic_ms() - since_ms;
  Mutex mutex;
  Condition never;
  const Lock lock(mutex);
  never.wait_for_ms(mutex, std::clamp<std::int64_t>(worked_ms, 1, kRestMaxMs));
}

/// Streams the whole range in constant memory, with a reader per chunk.
bool stream_lines(const Services& services, const Tenant& tenant, AccountKey account,
                  const Export& what, const http::Sink& sink) {
  store::EntryRange range = what.range;
  std::string text = what.script.head;
  for (bool more = true; more;) {
    const std::int64_t began_ms = services.flows.clock.monotonic_ms();
    auto chunk = store::with_reader(
        services.flows.database, [&](store::Connection& db) -> Result<std::vector<StatementLine>> {
          return store::statement_lines(db, tenant, account, range, kExportChunk);
        });
    if (!chunk) return false;
    for (const StatementLine& line : *chunk) {
      what.script.append_line(text, line);
      range.from = line.entry + 1;
      if (text.size() < kPieceBytes) continue;
      if (!sink(text)) return false;
      text.clear();
    }
    more = chunk->size() == static_cast<std::size_t>(kExportChunk);
    if (more) give_way(services.flows, began_ms);
  }
  text += what.script.tail;
  return text.empty() || sink(text);
}

Result<http::Response> export_response(const Services& services, const Call& call,
                                       const Statement& statement, Format format) {
  COFFER_TRY(
      Export what,
      store::with_reader(services.flows.database, [&](store::Connection& db) -> Result<Export> {
        const auto range = store::entries_between(db, statement.start, statement.end);
        COFFER_TRY(Script script, script_of(services, call, db, statement, range, format));
        return Export{range, std::move(script)};
      }));
  const FormatInfo& info = info_of(format);
  http::Response response;
  response.content_type = info.content_type;
  response.header("Content-Disposition",
                  "attachment; filename=\"statement-" + statement.wallet.to_string() + "-" +
                      statement.asset.code.value() + std::string(info.extension) + "\"");
  response.stream = [&services, tenant = call.caller.tenant, account = statement.account,
                     what = std::move(what)](const http::Sink& sink) {
    return stream_lines(services, tenant, account, what, sink);
  };
  return response;
}

Result<http::Response> page_of_lines(const Services& services, const Call& call,
                                     const Statement& statement, const PageRequest& page) {
  return store::with_reader(
      services.flows.database, [&](store::Connection& db) -> Result<http::Response> {
        const store::EntryRange whole = store::entries_between(db, statement.start, statement.end);
        store::EntryRange range = whole;
        if (page.at.key) range.from = std::max(range.from, *page.at.key);
        auto lines =
            store::statement_lines(db, call.caller.tenant, statement.account, range, page.at.limit);
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

/// Exports the whole range in the format of the route.
template <Format format>
Result<http::Response> export_statement(const Services& services, const Call& call) {
  ValidationErrors errors;
  QueryFields query(call.request, errors);
  COFFER_TRY(const Statement statement, read_statement(services, call, query));
  return export_response(services, call, statement, format);
}

Result<http::Response> read_statement_lines(const Services& services, const Call& call) {
  ValidationErrors errors;
  QueryFields query(call.request, errors);
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

/// A separate operation for an export, equivalent to `?format=` with the name of the format.
struct ExportRoute {
  Format format;
  std::string_view pattern;
  std::string_view operation;
  std::string_view summary;
  std::string_view schema;
  Handler handler;
};

constexpr ExportRoute kExportRoutes[] = {
    {Format::csv, "/v1/statements/transactions/csv", "getStatementCsv",
     "Export the whole range of a statement as CSV", "StatementCsv", export_statement<Format::csv>},
    {Format::ndjson, "/v1/statements/transactions/ndjson", "getStatementNdjson",
     "Export the whole range of a statement as one JSON object per line", "StatementNdjson",
     export_statement<Format::ndjson>},
    {Format::camt053, "/v1/statements/transactions/camt.053", "getStatementCamt053",
     "Export the whole range of a statement as ISO 20022 camt.053.001.08", "StatementCamt053",
     export_statement<Format::camt053>},
};

}  // namespace

std::vector<Route> statements_routes() {
  Route page{.method = "GET",
             .pattern = "/v1/statements/transactions",
             .operation = "getStatement",
             .tag = "Statements",
             .summary = "List the statement lines of a wallet in one asset, oldest first",
             .lane = Lane::read,
             .scope = Scope::statements_read,
             .query = {{"walletId", "Id", "The wallet", true},
                       {"assetCode", "AssetCode", "The asset", true},
                       {"startDate", "DateOrTime", "Start of the period, inclusive", true},
                       {"endDate", "DateOrTime", "End of the period, exclusive", true}},
             .responses = {{200, "Statement"}},
             .problems = {Slug::not_found, Slug::validation_failed, Slug::trustline_missing},
             .handler = read_statement_lines};
  std::vector<Route> out{page};
  for (const ExportRoute& one : kExportRoutes) {
    const FormatInfo& info = info_of(one.format);
    Route& whole = out.emplace_back(page);
    whole.pattern = one.pattern;
    whole.operation = one.operation;
    whole.summary = one.summary;
    whole.lane = Lane::exports;
    whole.responses = {{200, one.schema, info.media_type}};
    whole.handler = one.handler;
    out.front().variants.push_back({"format", info.name, one.operation});
  }
  out.front().query.insert(
      out.front().query.end(),
      {{"format", "Text", "A page as JSON (`json`), or the whole period as an export"},
       {"limit", "Limit", "Maximum number of lines on the page"},
       {"cursor", "Cursor", "Cursor from an earlier page"}});
  return out;
}

}  // namespace coffer::api
