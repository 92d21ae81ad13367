// coffer reconcile: statements of banks and providers, and the payments that their lines show.
#include <algorithm>

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "cli/paths.h"
#include "cli/providers/connectors.h"
#include "flows/reconciliation/statement_import.h"

namespace coffer::cli {
namespace {

constexpr int kPlaces = 2;  // shown at least; the currency of a statement is not registered

Record choice_view(const MatchChoice& choice, PaymentId payment) {
  return {{"transactionRecordId", payment}, {"kind", choice.kind}, {"rule", choice.rule}};
}

/// With the payments that it is matched with, or that are offered.
Record line_view(store::Connection& db, const store::BankLineRow& row) {
  std::vector<Record> payments;
  std::optional<std::string> first;
  if (row.state == LineState::matched) {
    for (const auto& one : store::matches_of_line(db, row.key)) {
      Record& made = payments.emplace_back(choice_view(one.choice, one.payment_id));
      made.emplace_back("matchedBy", one.actor);
      made.emplace_back("matchedAt", one.at);
      made.emplace_back("reason", one.reason);
      if (!first) first = one.payment_id.to_string();
    }
  } else {
    for (const auto& one : store::offers_of(db, row.key)) {
      Record& made = payments.emplace_back(choice_view(one.choice, one.payment_id));
      made.emplace_back("because", std::string(label(one.choice.rule)));
      if (!first) first = one.payment_id.to_string();
    }
  }
  return {{"id", row.id},
          {"state", row.state},
          {"connectorId", row.connector_id},
          {"account", row.account},
          {"bookedOn", date_of(row.is.booked_on)},
          {"amount", row.is.amount.to_string(kPlaces)},
          {"currencyIsoCode3", row.is.currency},
          {"reference", row.is.reference},
          {"bankReference", row.is.bank_reference},
          {"text", row.is.text},
          {"partyName", row.is.party_name},
          {"partyAccount", row.is.party_account},
          {"code", row.is.code},
          {"importedAt", row.imported_at},
          {"transactionRecordId", first},
          {"payments", std::move(payments)}};
}

Result<CommandResult> import_file(Session& session, const Arguments& arguments) {
  const flows::Context& flows = session.app.flows();
  COFFER_TRY(const ConnectorTerms connector, connector_argument(session, arguments, "connector"));
  COFFER_TRY(const CsvMapping mapping, flows::csv_mapping_named(flows, arguments.find("mapping")));
  const flows::StatementToImport file{connector.key, connector.environment, arguments.text("FILE"),
                                      optional_term<StatementFormat>(arguments, "format"), mapping};
  COFFER_TRY(const auto done, flows::import_statement(flows, file, session.actor));
  CommandResult result{.records = {{{"format", done.format},
                                    {"lines", done.lines},
                                    {"stored", done.stored},
                                    {"known", done.lines - done.stored},
                                    {"completed", done.completed},
                                    {"matched", done.counts.matched},
                                    {"offered", done.counts.offered},
                                    {"notes", records_of(done.notes, [](const std::string& note) {
                                       return Record{{"note", note}};
                                     })}}}};
  for (const std::string& note : done.notes) result.note += note + "\n";
  if (!done.known_since) return result;
  result.note = "The file was imported at " + done.known_since->to_string() + ". ";
  if (done.moved) {
    result.note += "Its lines without a match count for this connector now.";
  } else {
    result.note += "Nothing changed.";
    result.unchanged = result.note;
  }
  return result;
}

Result<CommandResult> list_lines(Session&, store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  COFFER_TRY(const auto connector, connector_filter(db, arguments));
  return page_of(
      {"id", "state", "bookedOn", "amount", "currencyIsoCode3", "reference", "text", "partyName",
       "transactionRecordId"},
      store::list_bank_lines(db, optional_term<LineState>(arguments, "state"), connector, at),
      [&](const store::BankLineRow& row) { return line_view(db, row); });
}

Result<CommandResult> show_line(Session& session, BankLineId id) {
  COFFER_TRY(const auto record,
             session.app.flows().read([&](store::Connection& db) -> Result<Record> {
               COFFER_TRY(const auto row, existing(store::find_bank_line(db, id), "line"));
               return line_view(db, row);
             }));
  return CommandResult{.records = {record}};
}

Result<CommandResult> match(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto line, id_argument<BankLineId>(arguments, "LINE"));
  COFFER_TRY(const auto payment, id_argument<PaymentId>(arguments, "PAYMENT"));
  COFFER_TRY_VOID(flows::match_line(session.app.flows(), line, payment, arguments.text("reason"),
                                    arguments.has("although-it-differs"), session.actor));
  return show_line(session, line);
}

Result<CommandResult> unmatch(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto line, id_argument<BankLineId>(arguments, "LINE"));
  COFFER_TRY_VOID(
      flows::unmatch_line(session.app.flows(), line, arguments.text("reason"), session.actor));
  return show_line(session, line);
}

Result<CommandResult> report(Session&, store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const ConnectorTerms connector, connector_argument(db, arguments, "connector"));
  COFFER_TRY(const DaysArgument days, days_argument(arguments, kReportDaysMax));
  const auto shown = [&](Amount amount) { return amount.to_string(connector.currency_decimals); };
  return list_of({"day", "books", "provider", "bank", "difference", "openLines", "open"},
                 store::reconciled_days(db, connector.key, *days.from, *days.to),
                 [&](const store::ReconciledDay& one) -> Record {
                   return {{"day", date_of(one.day)},
                           {"currencyIsoCode3", connector.currency},
                           {"clearing", one.clearing.to_string(connector.asset.decimals)},
                           {"clearingAsset", connector.asset.code.value()},
                           {"books", shown(one.books)},
                           {"provider", shown(one.provider)},
                           {"bank", shown(one.bank)},
                           {"difference", shown(one.bank - one.books)},
                           {"providerDifference", shown(one.provider - one.books)},
                           {"openLines", one.open_lines},
                           {"open", shown(one.open)}};
                 });
}

Result<CommandResult> save_mapping(Session& session, const Arguments& arguments) {
  const store::CsvMappingRow row{arguments.text("NAME"), arguments.text("columns"),
                                 arguments.text("separator"), arguments.text("decimal"),
                                 arguments.text("date")};
  COFFER_TRY_VOID(flows::save_csv_mapping(session.app.flows(), row));
  return CommandResult{.records = {{{"name", row.name}, {"columns", row.columns}}}};
}

Result<CommandResult> list_mappings(Session&, store::Connection& db, const Arguments&) {
  return list_of({"name", "columns", "separator", "decimal", "date"}, store::list_csv_mappings(db),
                 [](const store::CsvMappingRow& row) -> Record {
                   return {{"name", row.name},
                           {"columns", row.columns},
                           {"separator", row.separator},
                           {"decimal", row.decimal},
                           {"date", row.date}};
                 });
}

}  // namespace

std::vector<Command> reconcile_commands() {
  const Argument line =
      positional_id("LINE", "ID of the line", "List lines with coffer reconcile list");
  const Argument connector =
      required_option("connector", "ID", "Connector whose provider the statement is about");
  const auto reason = [](std::string_view help) {
    return on_page(required_option("reason", "TEXT", help), "Evidence");
  };
  return {
      for_operators(
          "reconcile import",
          "Import a statement of a bank or provider, and match its lines with payments",
          "Import statement",
          "Lines with exactly one matching payment are matched; others are offered.", import_file,
          {naming(Argument::Value::document,
                  positional("FILE", "camt.053, camt.054, MT940 or CSV file")),
           connector,
           choice_of<StatementFormat>("format", "Format; by default, that of the content"),
           option("mapping", "NAME", "Mapping of the columns of a CSV file")},
          {.hint = "List IDs with coffer connector list, mappings with coffer reconcile mappings",
           .details = "The same file changes nothing, and an entry that is in several files is "
                      "stored once. A file that "
                      "cannot be\nread completely is refused, with the line."}),
      for_viewers(
          "reconcile list", "List lines of statements, newest first", list_lines,
          joined({choice_of<LineState>("state", "Only lines in this state"),
                  option("connector", "ID", "Only lines that were imported for this connector")},
                 page_arguments())),
      for_operators(
          "reconcile match", "Match a line of a statement with a payment", "Match line", "", match,
          {line, positional("PAYMENT", "ID of the payment"),
           reason("Evidence that they belong together"),
           toggle("although-it-differs",
                  "Although the amount exceeds what is left of the payment, or the currency "
                  "or direction differs")}),
      for_operators("reconcile unmatch", "Undo the match of a line of a statement", "Undo match",
                    "The line is open again. The match stays in the records.", unmatch,
                    {line, reason("Evidence that they do not belong together")}),
      for_viewers(
          "reconcile report", "Compare books, provider and bank by day", report,
          {required_option("connector", "ID", "Connector to compare"),
           on_page(required_option("from", "DATE", "First day (UTC)"), "From", "2026-01-01"),
           on_page(required_option("to", "DATE", "Day after the last (UTC)"), "To", "2026-02-01")},
          {.hint = "List IDs with coffer connector list"}),
      for_operators(
          "reconcile map", "Save a mapping of the columns of CSV files", "Save mapping",
          "It replaces a mapping with this name.", save_mapping,
          {identifying("name", positional("NAME", "Name of the mapping")),
           on_page(member_of("columns", required_option("columns", "LIST",
                                                        "MEMBER=COLUMN, separated by commas; "
                                                        "==TEXT is the same for all lines")),
                   "Columns", "bookingDate=Date,amount=Amount,currency==EUR,text=Purpose"),
           member_of("separator", option("separator", "CHARACTER", "Between cells; or tab", ",")),
           member_of("decimal",
                     option("decimal", "CHARACTER", "Decimal mark of amounts: . or a comma", ".")),
           member_of("date",
                     option("date", "FORM", "Form of dates, such as DD.MM.YYYY", "YYYY-MM-DD"))},
          {.details = "Members: bookingDate, valueDate, amount, debit, credit, charges, currency, "
                      "account, reference, "
                      "text, bankReference,\npartyName, partyAccount, code.",
           .present = "reconcile mappings"}),
      for_viewers("reconcile mappings", "List mappings of CSV files", list_mappings)};
}

}  // namespace coffer::cli
