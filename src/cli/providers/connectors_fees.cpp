// coffer fee: fees for single associations, which replace the connector's fee. Also contains the
// arguments that connectors and fees share.
#include "app/app.h"
#include "base/text/next_part.h"
#include "cli/command_groups.h"
#include "cli/ledger/market.h"
#include "cli/paging.h"
#include "cli/providers/members.h"
#include "flows/providers/connector_changes.h"

namespace coffer::cli {
namespace {

Record fee_view(const store::FeeRow& row, int decimals) {
  Record out{{"associationId", row.association},
             {"connectorId", row.connector},
             {"transactionType", name(row.type)},
             {"fee", shown_fee(row.fee, decimals)}};
  each_member<FeeRule>([&](const auto& each) { put_member(out, each, row.fee, decimals); });
  return out;
}

Result<TransactionType> parse_type(const std::string& label, std::string_view word) {
  const auto type = parse_term_in_any_case<TransactionType>(word);
  if (type) return *type;
  return unexpected(Slug::malformed_request,
                    label + " \"" + std::string(word) +
                        "\" is not a transaction type. Use C2C, C2B, B2C or B2B.");
}

Result<CommandResult> set(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto association, id_argument<AssociationId>(arguments, "ASSOCIATION"));
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "CONNECTOR"));
  COFFER_TRY(const TransactionType type, parse_type("TYPE", arguments.text("TYPE")));
  COFFER_TRY(const FeeChange fee, given_members<FeeRule>(session, arguments));
  COFFER_TRY(const auto row, flows::set_fee(session.app.flows(), association, terms.id, type, fee));
  return CommandResult{.records = {fee_view(row, terms.send_decimals())}};
}

Result<CommandResult> remove(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto association, id_argument<AssociationId>(arguments, "ASSOCIATION"));
  COFFER_TRY(const auto connector, id_argument<ConnectorId>(arguments, "CONNECTOR"));
  COFFER_TRY(const TransactionType type, parse_type("TYPE", arguments.text("TYPE")));
  COFFER_TRY_VOID(flows::remove_fee(session.app.flows(), association, connector, type));
  return CommandResult{.records = {{{"associationId", association},
                                    {"connectorId", connector},
                                    {"transactionType", name(type)},
                                    {"removed", true}}}};
}

Result<CommandResult> list_fees(Session&, store::Connection& db, const Arguments&) {
  return list_of({"associationId", "connectorId", "transactionType", "fee"}, store::list_fees(db),
                 [&](const store::FeeRow& row) {
                   const auto connector = store::find_connector_by_key(db, row.connector_key);
                   return fee_view(row, connector->terms.send_decimals());
                 });
}

}  // namespace

Result<Amount> fee_value(const Arguments& arguments, const std::string& name) {
  const std::string& text = arguments.text(name);
  const ParsedAmount parsed = parse_fee(text, Amount::kScale);
  if (parsed.fault == AmountFault::none) return parsed.amount;
  return unexpected(Slug::malformed_request,
                    "--" + name + " \"" + text +
                        "\" is not a fee. Write it like 0.50, with at most 7 decimal places.");
}

Argument connector_id() {
  return positional_id("ID", "ID of the connector", "List IDs with coffer connector list");
}

Result<TransactionTypes> types_argument(const Arguments& arguments, const std::string& name) {
  std::string_view rest = arguments.text(name);
  if (rest == "all") return kAllTransactionTypes;
  TransactionTypes types = 0;
  while (!rest.empty()) {
    const std::string_view word = next_part(rest, ',');
    COFFER_TRY(const TransactionType type, parse_type("--" + name, word));
    types |= 1U << static_cast<unsigned>(type);
  }
  return types;
}

std::string shown_fee(const FeeRule& fee, int decimals) {
  std::string percent = std::to_string(fee.basis_points % 100);
  if (percent.size() < 2) percent.insert(0, "0");
  return fee.fixed.to_string(decimals) + " + " + std::to_string(fee.basis_points / 100) + "." +
         percent + " %";
}

Result<ConnectorTerms> connector_argument(Session& session, const Arguments& arguments,
                                          const std::string& name) {
  return session.app.flows().read(
      [&](store::Connection& db) { return connector_argument(db, arguments, name); });
}

Result<ConnectorTerms> connector_argument(store::Connection& db, const Arguments& arguments,
                                          const std::string& name) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, name));
  COFFER_TRY(const auto row, existing(store::find_connector_of_any(db, id), "connector"));
  return row.terms;
}

Result<std::optional<std::int64_t>> connector_filter(store::Connection& db,
                                                     const Arguments& arguments) {
  if (!arguments.has("connector")) return std::optional<std::int64_t>();
  COFFER_TRY(const ConnectorTerms terms, connector_argument(db, arguments, "connector"));
  return std::optional(terms.key);
}

std::vector<Command> fee_commands() {
  const Argument association = identifying(
      "associationId",
      positional_id("ASSOCIATION", "ID of the association",
                    "List IDs with coffer association list and coffer connector list, fees with "
                    "coffer fee list"));
  const Argument connector =
      identifying("connectorId", positional("CONNECTOR", "ID of the connector"));
  const Argument type = identifying(
      "transactionType",
      on_page(chosen_among(terms<TransactionType>(),
                           positional("TYPE", "Transaction type: C2C, C2B, B2C or B2B")),
              "Transaction type"));
  return {for_administrators(
              "fee set", "Set the off-ramp fee of an association at a connector; zero is permitted",
              "Set fee", "It applies to new quotes. A field that you leave empty stays.", set,
              joined({association, connector, type}, arguments_of<FeeRule>(false)),
              {.details = "A part that is not given stays; in a new fee, it is zero.",
               .partial = true,
               .present = "fee list"}),
          for_viewers("fee list", "List fees of associations", list_fees),
          for_administrators("fee remove",
                             "Remove the fee of an association; the connector's fee applies again",
                             "Remove fee", "The connector's fee applies to new quotes.", remove,
                             {association, connector, type})};
}

}  // namespace coffer::cli
