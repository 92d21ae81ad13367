// coffer report: settlement, fees and conversions of a period.
#include "store/operations/reports.h"

#include "api/ledger/csv.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "cli/providers/connectors.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/providers/connectors.h"

namespace coffer::cli {
namespace {

using store::Report;
using store::ReportRow;

/// The keys of a row, in order.
std::vector<std::string_view> columns_of(Report report) {
  std::vector<std::string_view> out{"day", "assetCode"};
  if (report == Report::settlement) out = {"day", "connectorId", "connector", "assetCode"};
  if (report == Report::conversion) out = {"assetCode", "soldAssetCode", "boughtAssetCode"};
  out.push_back("opening");
  for (const auto& column : store::terms_of(report).columns) out.push_back(column.name);
  out.insert(out.end(), {"closing", "entries"});
  return out;
}

Record row_view(store::Connection& db, Report report, const store::BookPeriod& period,
                const ReportRow& row) {
  const int decimals =
      store::find_asset(db, AssetCode::parse(row.account.asset_code).value())->decimals;
  Record out;
  if (!store::terms_of(report).by_pair) out.emplace_back("day", date_of(row.day));
  if (const auto& id = row.account.connector) {
    out.emplace_back("connectorId", *id);
    out.emplace_back("connector", store::find_connector(db, period.environment, *id)->terms.name);
  }
  out.emplace_back("assetCode", row.account.asset_code);
  if (store::terms_of(report).by_pair) {
    out.emplace_back("soldAssetCode", row.sold);
    out.emplace_back("boughtAssetCode", row.bought);
  }
  out.emplace_back("opening", row.opening.to_string(decimals));
  std::size_t at = 0;
  for (const auto& column : store::terms_of(report).columns) {
    out.emplace_back(std::string(column.name), row.moved[at++].to_string(decimals));
  }
  out.emplace_back("closing", row.closing.to_string(decimals));
  out.emplace_back("entries", row.entries);
  return out;
}

std::string csv_of(const CommandResult& result) {
  std::string out;
  const auto cell = [&](const std::string& text) { out += text + ','; };
  const auto end_line = [&] { out.replace(out.size() - 1, 1, "\r\n"); };
  for (const std::string_view column : result.columns) cell(std::string(column));
  end_line();
  for (const Record& record : result.records) {
    for (const Field& field : record) {
      const auto* text = std::get_if<std::string>(&field.value);
      // A name comes from outside; all else is written here, and amounts keep their sign.
      if (field.key == "connector")
        cell(api::csv_cell(*text));
      else
        cell(text != nullptr ? *text : std::to_string(std::get<std::int64_t>(field.value)));
    }
    end_line();
  }
  return out;
}

template <Report kReport>
Result<CommandResult> report(Session&, store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const DaysArgument days, days_argument(arguments, kReportDaysMax));
  auto environment = optional_term<Environment>(arguments, "environment");
  store::ReportShare share;
  std::optional<ConnectorId> connector;
  if (arguments.has("connector")) {
    COFFER_TRY(const auto terms, connector_argument(db, arguments, "connector"));
    if (environment && *environment != terms.environment) {
      return unexpected(Slug::not_found, "The connector was not found in this environment.");
    }
    environment = terms.environment;
    connector = terms.id;
    // The clearing accounts of a connector are its own.
    if (kReport != Report::settlement) share.connector = terms.key;
  }
  const auto period =
      store::book_period(db, environment.value_or(Environment::production), days.from, days.to);
  COFFER_TRY(const auto association, optional_id<AssociationId>(arguments, "association"));
  if (association) {
    COFFER_TRY(const Tenant tenant,
               existing(store::find_tenant(db, *association, period.environment), "association"));
    share.tenant = tenant.key;
  }
  COFFER_TRY(auto rows, store::report_rows(db, kReport, period, share));
  if (kReport == Report::settlement && connector) {
    std::erase_if(rows, [&](const ReportRow& row) { return row.account.connector != connector; });
  }
  auto result = list_of(columns_of(kReport), rows,
                        [&](const ReportRow& row) { return row_view(db, kReport, period, row); });
  if (arguments.text("format") == "table") return result;
  const std::string name = std::string(store::terms_of(kReport).name) + "-" +
                           arguments.text("from") + "-" + arguments.text("to") + ".csv";
  result.file = ProducedFile{
      name, "text/csv; charset=utf-8", true, {}, [text = csv_of(result)](const auto& sink) {
        return sink(text);
      }};
  return result;
}

Command report_row(std::string_view path, std::string_view summary, ReadCommand run,
                   bool by_connector) {
  std::vector<Argument> arguments{
      on_page(required_option("from", "DATE", "First day (UTC)"), "From", "2026-10-01"),
      on_page(required_option("to", "DATE", "Day after the last (UTC)"), "To", "2026-11-01"),
      option("association", "ID", "Only payments of this association")};
  if (by_connector) {
    arguments.push_back(option("connector", "ID", "Only payments through this connector"));
  }
  arguments.push_back(choice("environment", choices<Environment>(),
                             "Environment; without it, production or that of the connector"));
  arguments.push_back(choice("format", "table|csv", "Table, or a CSV file", "table"));
  return for_viewers(
      path, summary, run, std::move(arguments),
      {.hint = "List IDs with coffer association list and coffer connector list",
       .details = "In each row, opening and the columns beside it add up to closing. The last row "
                  "of an account closes\nwith its balance in the ledger. The command fails if a "
                  "sum differs."});
}

}  // namespace

std::vector<Command> report_commands() {
  return {report_row("report settlement", "Show what moved between coffer and connectors, by day",
                     report<Report::settlement>, true),
          report_row("report fees", "Show fees that were charged and given back, by day",
                     report<Report::fees>, true),
          report_row("report conversion", "Show conversions of each pair of assets",
                     report<Report::conversion>, false)};
}

}  // namespace coffer::cli
