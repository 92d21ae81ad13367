#include "cli/operating/payments.h"

#include "app.h"
#include "cli/commands/connectors.h"
#include "store/operating/noun_lists.h"
#include "store/operating/payment_lists.h"
#include "store/providers/connectors.h"
#include "store/wallets.h"

namespace coffer::cli {
namespace {

using store::Connection;

Result<std::int64_t> wallet_argument(Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<WalletId>(arguments, "wallet"));
  COFFER_TRY(const Tenant tenant, required(store::tenant_of_wallet(db, id), "wallet"));
  return store::find_wallet_brief(db, tenant, id)->key;
}

Result<std::int64_t> beneficiary_argument(Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<BeneficiaryId>(arguments, "beneficiary"));
  return required(store::beneficiary_key(db, id), "beneficiary");
}

Result<std::int64_t> connector_key(Connection& db, const Arguments& arguments) {
  COFFER_TRY(const auto id, id_argument<ConnectorId>(arguments, "connector"));
  COFFER_TRY(const auto row, required(store::find_connector_of_any(db, id), "connector"));
  return row.terms.key;
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
  if (arguments.has("connector")) {
    COFFER_TRY(out.connector, connector_key(db, arguments));
  }
  if (const auto status = arguments.find("status")) out.status = parse_payment_status(*status);
  if (const auto type = arguments.find("type")) out.type = parse_payment_type(*type);
  COFFER_TRY(out.from, optional_time(arguments, "from"));
  COFFER_TRY(out.to, optional_time(arguments, "to"));
  return out;
}

std::vector<std::string_view> columns() {
  return {"id",          "transactionId", "type",     "status", "sendingAmount", "sendingAssetCode",
          "environment", "association",   "createdAt"};
}

Result<Answer> list(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  return store::with_reader(session.app.database(), [&](Connection& db) -> Result<Answer> {
    COFFER_TRY(const auto wanted, wanted_payments(db, arguments));
    const store::KeyPage page = store::newest_payments(db, wanted, at);
    Answer answer{.list = true, .columns = columns()};
    Owners owners(db);
    for (const std::int64_t key : page.keys) {
      answer.records.push_back(payment_record(*store::find_payment_by_key(db, key), owners));
    }
    put_next(answer, page.next, page.cut_short);
    return answer;
  });
}

constexpr std::string_view kFindNote =
    "Looked through one piece of the payments, newest first, for what has no index: references, "
    "provider references, ledger hashes, and request ids that a caller chose. Go on with the "
    "cursor.";

Result<Answer> find(Session& session, const Arguments& arguments) {
  COFFER_TRY(const auto at, page_argument(arguments));
  return store::with_reader(session.app.database(), [&](Connection& db) -> Result<Answer> {
    const auto found = store::find_payments(db, arguments.text("TEXT"), at);
    Answer answer{.list = true, .columns = columns()};
    answer.columns.push_back("foundAs");
    Owners owners(db);
    for (const store::FoundPayment& one : found.found) {
      Record record = payment_record(*store::find_payment_by_key(db, one.payment), owners);
      record.emplace_back("foundAs", store::name(one.how));
      answer.records.push_back(std::move(record));
    }
    put_next(answer, found.next, false);
    if (found.next) answer.note = kFindNote;
    return answer;
  });
}

std::vector<Argument> list_arguments() {
  std::vector<Argument> out{
      choice("status",
             "initiated|processing|succeeded|failed|refund_pending|refunded|refund_failed|expired",
             "Only these"),
      choice("type",
             "p2p_own|p2p_beneficiary|p2p_own_multi|swap_own|swap_beneficiary|offramp|onramp|"
             "onramp_reference",
             "Only these"),
      option("wallet", "ID", "From or to this one"),
      option("beneficiary", "ID", "To this one"),
      option("connector", "ID", "Through this one"),
      option("from", "TIME", "Accepted at or after: 2026-01-31, or 2026-01-31T09:00:00Z"),
      option("to", "TIME", "Accepted before")};
  for (const auto& more : {owner_arguments(), page_arguments()}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

constexpr std::string_view kHint = "coffer payment list shows what there is";

constexpr std::string_view kFindDetails =
    "Found among all payments: the record id, the transactionId, the id of a quote, an event, a "
    "wallet or a beneficiary, an account number, a public key, and a request id that coffer made, "
    "because it holds its time. References, provider references, ledger hashes and request ids "
    "that "
    "a caller chose have no index: they are looked for in the newest 5,000 payments, and in "
    "5,000 older ones with every cursor.";

constexpr std::string_view kResolveDetails =
    "Ask the provider first: it is not asked here, and what it says afterwards changes nothing.\n"
    "  succeeded  it paid the receiver, or collected from the payer\n"
    "  failed     it did not and will not: what was held is released, what was debited comes back\n"
    "  refunded   it gave back what was debited; also for a refund that has failed\n"
    "The reason stays with the payment and in the audit log.";

}  // namespace

Record payment_record(const store::PaymentRecord& payment, Owners& owners) {
  const PaymentRequest& request = payment.request;
  const TransferLeg* leg = request.type == PaymentType::p2p_own_multi ? nullptr : &request.only();
  const auto of_leg = [&](auto member) {
    return leg != nullptr ? shown((*leg).*member) : std::nullopt;
  };
  std::optional<std::string> sending, receiving, failure;
  if (payment.sending_asset) sending = payment.sending_asset->value();
  const auto receives = store::receiving_denomination(payment);
  if (receives) receiving = receives->code;
  if (payment.failure) failure = info(*payment.failure).name;
  Record record{{"id", payment.id.to_string()},
                {"transactionId", request.transaction_id},
                {"type", name(request.type)},
                {"status", name(payment.status)},
                {"sendingAmount", shown(payment.sending_amount, payment.sending_decimals)},
                {"sendingAssetCode", sending},
                {"receivingAmount",
                 receives ? shown(payment.receiving_amount, receives->decimals) : std::nullopt},
                {"receivingAssetCode", receiving}};
  owners.put(record, payment.tenant);
  record.emplace_back("sourceWalletId", of_leg(&TransferLeg::source_wallet));
  record.emplace_back("destinationWalletId", of_leg(&TransferLeg::destination_wallet));
  record.emplace_back("beneficiaryId", shown(request.beneficiary));
  record.emplace_back("connectorId", payment.provider
                                         ? std::optional(payment.provider->connector.to_string())
                                         : std::nullopt);
  record.emplace_back("fromRef", leg != nullptr ? leg->refs.from_ref : std::nullopt);
  record.emplace_back("toRef", leg != nullptr ? leg->refs.to_ref : std::nullopt);
  record.emplace_back("failureCode", failure);
  record.emplace_back("createdAt", payment.created_at.to_string());
  record.emplace_back("updatedAt", payment.updated_at.to_string());
  return record;
}

std::vector<Command> payment_commands() {
  const Argument id = positional("ID", "Its record id");
  std::vector<Argument> find_arguments{
      positional("TEXT", "An id, a reference, a hash: whatever you have of it")};
  for (const Argument& one : page_arguments()) find_arguments.push_back(one);
  return {{.path = "payment list",
           .summary = "List payments of all associations, newest first",
           .run = list,
           .role = OperatorRole::viewer,
           .arguments = list_arguments()},
          {.path = "payment find",
           .summary = "Find payments by whatever you have of them",
           .run = find,
           .role = OperatorRole::viewer,
           .arguments = std::move(find_arguments),
           .details = kFindDetails},
          {.path = "payment show",
           .summary = "Show all there is about a payment",
           .run = show_payment,
           .role = OperatorRole::viewer,
           .arguments = {id},
           .hint = kHint},
          {.path = "payment retry",
           .summary = "Take the next step of a payment now: settle it, or ask its provider",
           .run = retry_payment,
           .role = OperatorRole::operating,
           .arguments = {id},
           .hint = kHint},
          {.path = "payment resolve",
           .summary = "Say how a stuck cash-out or collection ended",
           .run = resolve_payment,
           .role = OperatorRole::operating,
           .arguments = {id,
                         {.name = "as",
                          .help = "How it ended",
                          .kind = Argument::Kind::choice,
                          .required = true,
                          .placeholder = "succeeded|failed|refunded"},
                         required_option("reason", "TEXT", "How you know")},
           .hint = kHint,
           .details = kResolveDetails}};
}

}  // namespace coffer::cli
