// coffer arrival: customer payments that could not be assigned to a reference.
#include "flows/providers/arrivals.h"

#include "app/app.h"
#include "cli/command_groups.h"
#include "cli/paging.h"
#include "cli/payments/payments.h"
#include "store/operations/payment_lists.h"

namespace coffer::cli {
namespace {

Record arrival_view(const store::ArrivalRow& row) {
  return {{"id", row.id},
          {"connectorId", row.connector_id},
          {"providerPaymentId", row.provider_payment_id},
          {"reference", row.reference},
          {"amount", row.amount},
          {"currencyIsoCode3", row.currency},
          {"payerName", row.payer.name},
          {"payerAccount", row.payer.account_number},
          {"arrivedAt", row.arrived_at},
          {"returnedAt", row.returned_at},
          {"transactionRecordId", row.payment_id}};
}

Result<CommandResult> list(Session&, store::Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  return page_of({"id", "connectorId", "providerPaymentId", "reference", "amount",
                  "currencyIsoCode3", "payerName", "arrivedAt"},
                 store::list_arrivals(db, arguments.has("all"), at), arrival_view);
}

Result<CommandResult> assign(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ArrivalId>(arguments, "ID"));
  COFFER_TRY(const PaymentId payment,
             flows::assign_arrival(session.app.flows(), id, arguments.text("reference"),
                                   "arrival-" + id.to_string()));
  return run_read(session, show_payment, {{{"ID", payment.to_string()}}, arguments.json});
}

Result<CommandResult> give_back(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ArrivalId>(arguments, "ID"));
  COFFER_TRY(const auto row, flows::return_arrival(session.app.flows(), id));
  return CommandResult{.records = {arrival_view(row)}};
}

}  // namespace

std::vector<Command> arrival_commands() {
  const Argument id =
      positional_id("ID", "ID of the arrival", "List arrivals with coffer arrival list");
  return {
      for_viewers("arrival list", "List customer payments without a known reference, newest first",
                  list,
                  joined({toggle("all", "Also list those that were assigned or returned")},
                         page_arguments())),
      for_operators("arrival assign", "Assign a customer payment to a reference of its connector",
                    "Assign payment",
                    "The wallet of the reference is credited, as if the payer had used it.", assign,
                    {id, required_option("reference", "TEXT", "Reference that the payer meant")},
                    {.sensitive = true}),
      for_operators(
          "arrival return", "Record that the provider returned a customer payment to its payer",
          "Record return", "", give_back,
          {id, on_page(required_option("reason", "TEXT", "Evidence for the return"), "Evidence")},
          {.details = "The reason is stored in the audit log.", .sensitive = true})};
}

}  // namespace coffer::cli
