// coffer fee: what one association pays instead of a connector's own fee.
#include "app.h"
#include "cli/commands/connectors.h"
#include "flows/providers/connector_changes.h"

namespace coffer::cli {
namespace {

Record view(const store::FeeRow& row, int decimals) {
  return {{"associationId", row.association.to_string()},
          {"connectorId", row.connector.to_string()},
          {"transactionType", name(row.type)},
          {"fee", shown_fee(row.fee, decimals)}};
}

Result<TransactionType> type_argument(const Arguments& arguments) {
  const auto type = parse_term_in_any_case<TransactionType>(arguments.text("TYPE"));
  if (type) return *type;
  return unexpected(Slug::malformed_request,
                    "TYPE \"" + arguments.text("TYPE") + "\" is not one of C2C, C2B, B2C, B2B.");
}

Result<Answer> set(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto association, id_argument<AssociationId>(arguments, "ASSOCIATION"));
  COFFER_TRY(const ConnectorTerms terms, connector_argument(session, arguments, "CONNECTOR"));
  const int decimals = terms.send_decimals();
  COFFER_TRY(const TransactionType type, type_argument(arguments));
  COFFER_TRY(const FeeRule fee, fee_argument(arguments, decimals));
  COFFER_TRY(const auto row, flows::set_fee(session.app.flows(), association, terms.id, type, fee));
  return Answer{.records = {view(row, decimals)}};
}

Result<Answer> remove(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto association, id_argument<AssociationId>(arguments, "ASSOCIATION"));
  COFFER_TRY(const auto connector, id_argument<ConnectorId>(arguments, "CONNECTOR"));
  COFFER_TRY(const TransactionType type, type_argument(arguments));
  COFFER_TRY_VOID(flows::remove_fee(session.app.flows(), association, connector, type));
  return Answer{.records = {{{"associationId", association.to_string()},
                             {"connectorId", connector.to_string()},
                             {"transactionType", name(type)},
                             {"removed", true}}}};
}

Result<Answer> list(Session& session, const Arguments&) {
  return store::with_reader(session.app.database(), [](store::Connection& db) -> Result<Answer> {
    Answer answer{.list = true};
    for (const store::FeeRow& row : store::list_fees(db)) {
      const auto connector = store::find_connector_by_key(db, row.connector_key);
      answer.records.push_back(view(row, connector->terms.send_decimals()));
    }
    return answer;
  });
}

}  // namespace

std::vector<Command> fee_commands() {
  const Argument association = positional("ASSOCIATION", "Whose fee");
  const Argument connector = positional("CONNECTOR", "By which connector");
  const Argument type = positional("TYPE", "Transaction type: C2C, C2B, B2C or B2B");
  constexpr std::string_view kHint =
      "coffer fee list, association list and connector list show what there is";
  return {{.path = "fee set",
           .summary = "Set what an association pays for cash-outs, zero included",
           .run = set,
           .arguments = {association, connector, type,
                         option("fee-fixed", "AMOUNT", "Fixed part, in what is sent"),
                         option("fee-bps", "N", "Hundredths of a percent of the amount")},
           .hint = kHint},
          {.path = "fee list",
           .summary = "List the fees of associations",
           .run = list,
           .role = OperatorRole::viewer},
          {.path = "fee remove",
           .summary = "Let the connector's own fee count again",
           .run = remove,
           .arguments = {association, connector, type},
           .hint = kHint}};
}

}  // namespace coffer::cli
