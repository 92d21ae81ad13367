#include "api/ledger/statement_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/ledger/camt053.h"
#include "api/ledger/csv.h"
#include "base/digest.h"
#include "base/mutex.h"
#include "store/ledger/statements.h"
#include "store/ledger/wallets.h"

namespace coffer::api {
namespace {

constexpr int kExportChunk = 500;
// Text is sent in pieces of this size; larger pieces would allocate new memory each time.
constexpr std::size_t kPieceBytes = 32 * 1024;
// Bounds a pause, even after a long wait for a slow client.
constexpr std::int64_t kRestMaxMs = 5;

constexpr std::string_view kCsvHeader =
    "rowId,at,description,reference,counterparty,direction,amount,runningBalance,"
    "transactionRecordId,metadata\r\n";

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
  out.append(",").append(line.metadata ? csv_cell(*line.metadata) : "").append("\r\n");
}

std::string json_text(const std::optional<std::string>& text) {
  return text ? Json(*text).dump() : "null";
}

/// Writes the same content as statement_line_json without building a JSON object, because an export
/// may have millions of lines.
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
  out.append(line.payment ? '"' + line.payment->to_string() + '"' : "null");
  if (line.metadata) out.append(",\"metadata\":").append(*line.metadata);
  out.append("}\n");
}

/// The parts of an export in its format: head, lines and end.
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

Result<Script> camt053_script(const flows::Context& flows, store::Connection& db,
                              const Statement& statement, const store::EntryRange& range) {
  const auto wallet = store::find_wallet(db, statement.tenant, statement.wallet);
  if (!wallet) return unexpected(Slug::not_found, "The wallet was not found.");
  const Timestamp now = flows.clock.now();
  const std::string identity = statement.wallet.to_string() + " " + statement.asset.code.value() +
                               " " + statement.start.to_string() + " " + statement.end.to_string();
  std::string message = flows.random.uuid_v7(now).to_string();
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

/// The document of the API's page, with all lines.
Script json_script(store::Connection& db, const Statement& statement,
                   const store::EntryRange& range) {
  const int decimals = statement.asset.decimals;
  const auto balance = [&](std::int64_t entry) {
    return store::balance_before(db, statement.account, entry).to_string(decimals);
  };
  Json head{{"walletId", statement.wallet.to_string()}, {"assetCode", statement.asset.code.value()},
            {"startDate", statement.start.to_string()}, {"endDate", statement.end.to_string()},
            {"openingBalance", balance(range.from)},    {"closingBalance", balance(range.to)}};
  std::string opening = head.dump();
  opening.back() = ',';  // continues the object
  return Script{opening + "\"data\":[\n",
                [decimals, first = true](std::string& out, const StatementLine& line) mutable {
                  if (!std::exchange(first, false)) out += ",\n";
                  append_ndjson_line(out, line, decimals);
                  out.pop_back();  // its line feed
                },
                "\n],\"hasMore\":false,\"nextCursor\":null}\n"};
}

Result<Script> script_of(const flows::Context& flows, store::Connection& db,
                         const Statement& statement, const store::EntryRange& range,
                         StatementFormat format) {
  const int decimals = statement.asset.decimals;
  switch (format) {
    case StatementFormat::csv:
      return Script{std::string(kCsvHeader),
                    [decimals](std::string& out, const StatementLine& line) {
                      append_csv_line(out, line, decimals);
                    },
                    {}};
    case StatementFormat::camt053:
      return camt053_script(flows, db, statement, range);
    case StatementFormat::json:
      return json_script(db, statement, range);
    case StatementFormat::ndjson:
      break;
  }
  return Script{{},
                [decimals](std::string& out, const StatementLine& line) {
                  append_ndjson_line(out, line, decimals);
                },
                {}};
}

/// Gives payments precedence: while the writer is busy, an export pauses for as long as it has
/// worked.
void give_way(const flows::Context& flows, std::int64_t since_ms) {
  if (flows.queue.stats().busy_since_ms == 0) return;
  const std::int64_t worked_ms = flows.clock.monotonic_ms() - since_ms;
  Mutex mutex;
  Condition never;
  const Lock lock(mutex);
  never.wait_for_ms(mutex, std::clamp<std::int64_t>(worked_ms, 1, kRestMaxMs));
}

/// Streams the whole range in constant memory, with a reader per chunk.
bool stream_lines(const flows::Context& flows, const Tenant& tenant, AccountKey account,
                  const Export& what, const http::Sink& sink) {
  store::EntryRange range = what.range;
  std::string text = what.script.head;
  for (bool more = true; more;) {
    const std::int64_t began_ms = flows.clock.monotonic_ms();
    auto chunk = flows.read([&](store::Connection& db) {
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
    if (more) give_way(flows, began_ms);
  }
  text += what.script.tail;
  return text.empty() || sink(text);
}

}  // namespace

std::optional<StatementFormat> parse_statement_format(std::string_view text) {
  for (const StatementFormatInfo& info : kStatementFormats) {
    if (info.name == text) return info.format;
  }
  return std::nullopt;
}

Result<StatementFile> statement_file(const flows::Context& flows, const Statement& statement,
                                     StatementFormat format) {
  COFFER_TRY(Export what, flows.read([&](store::Connection& db) -> Result<Export> {
    const auto range = store::entries_between(db, statement.start, statement.end);
    COFFER_TRY(Script script, script_of(flows, db, statement, range, format));
    return Export{range, std::move(script)};
  }));
  const StatementFormatInfo& info = info_of(format);
  return StatementFile{
      "statement-" + statement.wallet.to_string() + "-" + statement.asset.code.value() +
          std::string(info.extension),
      info.content_type,
      [&flows, tenant = statement.tenant, account = statement.account, what = std::move(what)](
          const http::Sink& sink) { return stream_lines(flows, tenant, account, what, sink); }};
}

}  // namespace coffer::api
