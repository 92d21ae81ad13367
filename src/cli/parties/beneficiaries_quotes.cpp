// coffer quote: lists off-ramp and on-ramp quotes, and the payments that used them.
#include <map>

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "cli/providers/connectors.h"
#include "store/operations/noun_lists.h"
#include "store/providers/connectors.h"

namespace coffer::cli {
namespace {

using store::Connection;

Record quote_view(Connection& db, const store::QuoteRow& quote, const ConnectorTerms& connector,
                  Timestamp now) {
  std::optional<PaymentId> payment;
  if (quote.payment) payment = store::payment_id(db, *quote.payment);
  const int send = connector.send_decimals();
  return {{"id", quote.id},
          {"status", name(quote.status(now))},
          {"connectorId", connector.id},
          {"connector", connector.name},
          {"direction", name(connector.direction)},
          {"transactionType", quote.type},
          {"sendAmount", quote.price.send.to_string(send)},
          {"sendAssetCode", connector.send_code()},
          {"receiveAmount", quote.price.receive.to_string(connector.receive_decimals())},
          {"receiveAssetCode", connector.receive_code()},
          {"fee", quote.price.fee.to_string(send)},
          {"total", quote.price.total.to_string(send)},
          {"rate", quote.price.rate},
          {"beneficiaryId", quote.beneficiary_id},
          {"transactionRecordId", payment},
          {"createdAt", quote.created_at},
          {"expiresAt", quote.expires_at}};
}

Result<CommandResult> list_quotes(Session& session, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  store::QuotesWanted wanted;
  wanted.now = session.app.queue().now();
  COFFER_TRY(wanted.tenants, owners_argument(db, arguments));
  wanted.status = optional_term<QuoteStatus>(arguments, "status");
  COFFER_TRY(wanted.connector, connector_filter(db, arguments));
  Owners owners(db);
  std::map<std::int64_t, ConnectorTerms> connectors;  // of the page, each read once
  return page_of({"id", "status", "connector", "sendAmount", "sendAssetCode", "receiveAmount",
                  "receiveAssetCode", "fee", "rate", "association", "createdAt"},
                 store::newest_quotes(db, wanted, at), [&](const auto& listed) {
                   const auto [of, is_new] = connectors.try_emplace(listed.row.connector);
                   if (is_new) of->second = store::find_connector_by_key(db, of->first)->terms;
                   Record record = quote_view(db, listed.row, of->second, wanted.now);
                   owners.put(record, listed.tenant);
                   return record;
                 });
}

}  // namespace

std::vector<Command> quote_commands() {
  return {for_viewers("quote list", "List quotes of all associations, newest first", list_quotes,
                      joined({choice_of<QuoteStatus>("status", "Filter by status"),
                              option("connector", "ID", "Filter by connector")},
                             owner_arguments(), page_arguments()))};
}

}  // namespace coffer::cli
