// A whole statement as a file, oldest entry first. The API and the commands of the operator write
// the same bytes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "domain/identity/tenant.h"
#include "domain/ledger/money.h"
#include "flows/context.h"
#include "http/message.h"

namespace coffer::api {

enum class StatementFormat { json, csv, ndjson, camt053 };

struct StatementFormatInfo {
  StatementFormat format;
  std::string_view name;
  std::string_view media_type;
  std::string_view content_type;
  std::string_view extension;
};

inline constexpr StatementFormatInfo kStatementFormats[] = {
    {StatementFormat::json, "json", "application/json", "application/json", ".json"},
    {StatementFormat::csv, "csv", "text/csv", "text/csv; charset=utf-8", ".csv"},
    {StatementFormat::ndjson, "ndjson", "application/x-ndjson", "application/x-ndjson", ".ndjson"},
    {StatementFormat::camt053, "camt.053", "application/xml", "application/xml", ".camt053.xml"},
};

constexpr const StatementFormatInfo& info_of(StatementFormat format) {
  return kStatementFormats[static_cast<std::size_t>(format)];
}
std::optional<StatementFormat> parse_statement_format(std::string_view text);

/// The entries of one account in a period.
struct Statement {
  Tenant tenant;
  WalletId wallet;
  Asset asset;
  AccountKey account = 0;
  Timestamp start;  // inclusive
  Timestamp end;    // exclusive
};

struct StatementFile {
  std::string name;
  std::string_view content_type;
  /// Streams the file in constant memory and gives payments precedence. Call it once. Returns false
  /// if the file is incomplete.
  std::function<bool(const http::Sink&)> write;
};

/// Determines the entries and both balances; later postings are not in the file. `json` is one
/// document with the members of the API's page. `flows` must outlive the file.
Result<StatementFile> statement_file(const flows::Context& flows, const Statement& statement,
                                     StatementFormat format);

}  // namespace coffer::api
