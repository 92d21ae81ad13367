#include "cli/payments/payments.h"

#include <limits>

#include "app/app.h"
#include "base/text/join.h"
#include "cli/command_groups.h"
#include "cli/providers/connectors.h"
#include "domain/parties/beneficiary.h"
#include "flows/settlement/resolve_payment.h"
#include "store/ledger/wallets.h"
#include "store/operations/noun_lists.h"
#include "store/operations/payment_lists.h"
#include "store/providers/connectors.h"

namespace coffer::cli {
namespace {

using store::Connection;

Result<std::int64_t> wallet_argument(Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<WalletId>(arguments, "wallet"));
  COFFER_TRY(const Tenant tenant, existing(store::tenant_of_wallet(db, id), "wallet"));
  return store::find_wallet_brief(db, tenant, id)->key;
}

Result<std::int64_t> beneficiary_argument(Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<BeneficiaryId>(arguments, "beneficiary"));
  return existing(store::beneficiary_key(db, id), "beneficiary");
}

/// Amounts that begin with the given digits: 1348 stands for 1348 up to 1348.9999999.
Result<std::optional<store::AmountRange>> amount_filter(const Arguments& arguments) {
  const auto text = arguments.find("amount");
  if (!text) return std::optional<store::AmountRange>();
  const auto [amount, fault] = parse_amount(*text, Amount::kScale);
  if (fault != AmountFault::none) {
    return unexpected(Slug::malformed_request,
                      "--amount \"" + *text +
                          "\" is not an amount. Write it like 1348 or 1348.50, without thousands "
                          "separators.");
  }
  std::int64_t width = Amount::kUnitsPerWhole;
  if (const auto point = text->find('.'); point != std::string::npos) {
    for (auto digits = text->size() - point - 1; digits > 0 && width > 1; --digits) width /= 10;
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t lowest = amount.units();
  return std::optional(store::AmountRange{lowest, lowest > kMost - width ? kMost : lowest + width});
}

Result<store::PaymentsWanted> wanted_payments(Connection& db, const Arguments& arguments) {
  store::PaymentsWanted out;
  COFFER_TRY(out.tenants, owners_argument(db, arguments));
  if (arguments.has("wallet")) {
    COFFER_TRY(out.wallet, wallet_argument(db, arguments));
  }
  if (arguments.has("beneficiary")) {
    COFFER_TRY(out.beneficiary, beneficiary_argument(db, arguments));
  }
  COFFER_TRY(out.connector, connector_filter(db, arguments));
  out.status = optional_term<PaymentStatus>(arguments, "status");
  out.type = optional_term<PaymentType>(arguments, "type");
  COFFER_TRY(out.from, optional_time(arguments, "from"));
  COFFER_TRY(out.to, optional_time(arguments, "to"));
  out.open_item = optional_term<OpenItem>(arguments, "open");
  COFFER_TRY(out.amount, amount_filter(arguments));
  if (const auto failure = arguments.find("failure")) out.failure = parse_failure_code(*failure);
  out.text = arguments.find("text");
  const auto metadata = arguments.find("metadata");
  if (metadata) out.metadata = metadata_of(*metadata);
  if (metadata && out.metadata.empty()) {
    return unexpected(
        Slug::malformed_request,
        "--metadata takes KEY=TEXT, such as order=A-1. KEY has up to 40 letters, digits and . _ -,"
        " and TEXT is one line of up to 500 characters.");
  }
  return out;
}

std::vector<std::string_view> columns() {
  return {"id",          "transactionId", "type",     "status", "sendingAmount", "sendingAssetCode",
          "environment", "association",   "createdAt"};
}

Result<CommandResult> list_payments(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  COFFER_TRY(const auto wanted, wanted_payments(db, arguments));
  const store::KeyPage page = store::newest_payments(db, wanted, at);
  Owners owners(db);
  CommandResult result = list_of(columns(), page.keys, [&](std::int64_t key) {
    Record record = payment_record(*store::find_payment_by_key(db, key), owners);
    put_sides(record, store::sides_of_payment(db, key));
    return record;
  });
  put_next(result, page.next, page.cut_short);
  return result;
}

Result<CommandResult> count(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto wanted, wanted_payments(db, arguments));
  const store::PaymentCount found = store::count_payments(db, wanted);
  CommandResult result{.records = {{{"payments", found.payments}, {"isExact", found.exact}}}};
  if (!found.exact) {
    result.note = "The count stopped after " + std::to_string(store::kRowsMax) +
                  " rows and index entries, so it is a lower bound.";
  }
  return result;
}

constexpr std::string_view kFindNote =
    "For values without an index (references, provider references, ledger hashes, and request IDs "
    "chosen by a caller), this page covers one section of the payments, newest first. Continue "
    "with the cursor.";

Result<CommandResult> find(Session&, Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  const auto found = store::find_payments(db, arguments.text("TEXT"), at);
  Owners owners(db);
  CommandResult result = list_of(columns(), found.found, [&](const store::FoundPayment& one) {
    Record record = payment_record(*store::find_payment_by_key(db, one.payment), owners);
    record.emplace_back("foundAs", store::name(one.how));
    return record;
  });
  result.columns.push_back("foundAs");
  put_next(result, found.next, false);
  result.empty = "No payment has this ID, reference or hash.";
  if (found.next) result.note = kFindNote;
  return result;
}

/// The names of the failure table as choices, `a|b|...`.
std::string_view failure_choices() {
  static const std::string choices = join(failure_table(), "|", std::mem_fn(&FailureInfo::name));
  return choices;
}

/// The open items that wait for an operator.
constexpr std::string_view kOpenItems = "unbooked|contradicted";

std::vector<Argument> filter_arguments() {
  return joined(
      {option("text", "TEXT", "Beginning of the transactionId, or of a wallet's account number"),
       choice_of<PaymentStatus>("status", "Filter by status"),
       choice_of<PaymentType>("type", "Filter by type"),
       choice("failure", failure_choices(), "Filter by failure reason"),
       choice("open", kOpenItems,
              "Filter by what is left to do: money to book or return, or a "
              "status that the provider contradicts"),
       on_page(option("amount", "AMOUNT",
                      "Beginning of the amount sent or received: 1348 also finds 1348.50"),
               "Amount", "1348.50"),
       option("wallet", "ID", "Filter by wallet, as source or destination"),
       option("beneficiary", "ID", "Filter by beneficiary"),
       option("connector", "ID", "Filter by connector"),
       on_page(option("metadata", "KEY=TEXT", "Filter by a key of the metadata and its text"),
               "Metadata", "order=A-1"),
       option("from", "TIME",
              "Accepted at or after this time, such as 2026-01-31 or 2026-01-31T09:00:00Z"),
       option("to", "TIME", "Accepted before this time")},
      owner_arguments());
}

constexpr std::string_view kFindDetails =
    "For a record ID, a transactionId, the ID of a quote, event, wallet or beneficiary, an account "
    "number, a public key, metadata as KEY=TEXT, or a request ID created by coffer, the search "
    "covers all payments. "
    "References, provider references, ledger hashes and request IDs chosen by a caller have no "
    "index: the search covers the newest 5,000 payments, and 5,000 older ones with each cursor.";

constexpr std::string_view kListHint = "List payments with coffer payment list";

constexpr std::string_view kResolveDetails =
    "Confirm with the provider first. The reason is stored with the payment and in the audit log.\n"
    "  succeeded  the provider paid the recipient, or collected from the payer\n"
    "  failed     the provider did not and will not: the hold is released, a debit is returned\n"
    "             (also of the refund of an on-ramp)\n"
    "  refunded   the provider returned the money; also after a failed refund\n"
    "  returned   the provider returned money that no wallet was credited with\n"
    "  unchanged  the final status stands, although the provider contradicts it\n"
    "A final status can be corrected once, after its provider has contradicted it, or if money "
    "that "
    "arrived was not credited: see coffer payment list --open.";

constexpr std::string_view kReverseDetails =
    "Moves the money from the recipient's wallet back to the sender's. A payout is credited from "
    "the "
    "connector's clearing account: use this only if the provider has returned the money without "
    "reporting it, or in another currency. Of an on-ramp, the provider gives the money back to its "
    "payer. A swap moves back as a whole, at the original amounts.";

}  // namespace

std::vector<Record> pairs(const std::map<std::string, std::string>& values) {
  return records_of(values, [](const auto& pair) -> Record {
    return {{"name", pair.first}, {"value", pair.second}};
  });
}

Record payment_record(const store::PaymentRecord& payment, Owners& owners) {
  const PaymentRequest& request = payment.request;
  const TransferLeg* leg = has_legs(request.type) ? nullptr : &request.only();
  const auto of_leg = [&](auto member) { return leg != nullptr ? (*leg).*member : std::nullopt; };
  std::optional<std::string> sending, receiving, failure, message;
  if (payment.sending_asset) sending = payment.sending_asset->value();
  const auto receives = store::receiving_denomination(payment);
  if (receives) receiving = receives->code;
  const auto& why = payment.refunds.empty() ? payment.failure : payment.refunds.back().failure;
  if (why && payment.status != PaymentStatus::succeeded) {
    failure = info(*why).name;
    message = info(*why).message;
  }
  Record record{{"id", payment.id},
                {"transactionId", request.transaction_id},
                {"type", name(request.type)},
                {"status", name(payment.status)},
                {"sendingAmount", shown(payment.sending_amount, payment.sending_decimals)},
                {"sendingAssetCode", sending},
                {"receivingAmount",
                 receives ? shown(payment.receiving_amount, receives->decimals) : std::nullopt},
                {"receivingAssetCode", receiving}};
  Amount back;
  for (const auto& refund : payment.refunds)
    if (refund.state == RefundState::booked) back = back + refund.amount;
  record.emplace_back("refundedAmount",
                      back.is_zero() ? std::nullopt : shown(back, payment.sending_decimals));
  owners.put(record, payment.tenant);
  record.emplace_back("sourceWalletId", of_leg(&TransferLeg::source_wallet));
  record.emplace_back("destinationWalletId", of_leg(&TransferLeg::destination_wallet));
  record.emplace_back("beneficiaryId", request.beneficiary);
  record.emplace_back("connectorId",
                      payment.provider ? std::optional(payment.provider->connector) : std::nullopt);
  record.emplace_back("fromRef", leg != nullptr ? leg->refs.from_ref : std::nullopt);
  record.emplace_back("toRef", leg != nullptr ? leg->refs.to_ref : std::nullopt);
  record.emplace_back("metadata", pairs(request.metadata));
  record.emplace_back("failureCode", failure);
  record.emplace_back("failureMessage", message);
  record.emplace_back("createdAt", payment.created_at);
  record.emplace_back("updatedAt", payment.updated_at);
  return record;
}

void put_sides(Record& record, const store::StorySides& sides) {
  const auto account = [](const store::StorySide& side) {
    return side.account ? std::optional(masked(*side.account)) : std::nullopt;
  };
  record.emplace_back("sourceName", sides.source.name);
  record.emplace_back("sourceAccount", account(sides.source));
  record.emplace_back("destinationName", sides.destination.name);
  record.emplace_back("destinationAccount", account(sides.destination));
}

std::vector<Command> payment_commands() {
  const Argument id = positional_id("ID", "Record ID of the payment", kListHint);
  std::vector<Command> out{
      for_viewers("payment list", "List payments of all associations, newest first", list_payments,
                  joined(filter_arguments(), page_arguments())),
      for_viewers("payment count", "Count payments, with the filters of payment list", count,
                  filter_arguments()),
      for_viewers("payment find", "Find payments by any ID, reference or hash", find,
                  joined({on_page(positional("TEXT", "Any ID, reference or hash of the payment"),
                                  "ID, reference or hash")},
                         page_arguments()),
                  {.details = kFindDetails}),
      for_viewers("payment show", "Show a payment with its entries, events and provider attempts",
                  show_payment,
                  {positional_id("ID", "Record ID or transaction ID of the payment", kListHint)}),
      for_operators("payment retry", "Retry a payment: settle it now, or query its provider",
                    "Retry payment", "coffer settles the payment now, or queries its provider.",
                    retry_payment, {id}),
      for_operators(
          "payment resolve",
          "Resolve a payment in place of its provider: stuck, late or not credited",
          "Resolve payment", "", resolve_payment,
          {id,
           {.name = "as",
            .help = "Result at the provider",
            .kind = Argument::Kind::choice,
            .required = true,
            .placeholder = choices<flows::Resolution>()},
           option("amount", "AMOUNT",
                  "Amount to credit, in the asset of the wallet, when late money is booked; "
                  "without it, the amount that the price gives"),
           option("refund", "ID",
                  "Refund of an on-ramp: the one that waits, or with refunded one that failed "
                  "although its payer has the money"),
           on_page(required_option("reason", "TEXT", "Evidence for the result"), "Evidence")},
          {.details = kResolveDetails, .sensitive = true, .moves = resolved_amount}),
      for_operators(
          "payment reverse", "Give back a payment that has succeeded, in whole or in part",
          "Reverse payment", "", reverse_payment,
          {id,
           option("amount", "AMOUNT",
                  "Amount to give back, in the sending asset; without it, all that is left"),
           needed_on_page(required_option(
               "transaction-id", "TEXT",
               "Your ID of the reversal, with which a repeated command changes nothing")),
           on_page(required_option("reason", "TEXT", "Reason, shown in the record"), "Reason"),
           toggle("preview", "Check the reversal and move nothing")},
          {.details = kReverseDetails,
           .sensitive = true,
           .moves = reversed_amount,
           .preview = "preview"})};
  for (Command& command : submitting_commands()) out.push_back(std::move(command));
  return out;
}

}  // namespace coffer::cli
