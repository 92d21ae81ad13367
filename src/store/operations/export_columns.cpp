#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>
#include <utility>

#include "base/text/ascii.h"
#include "domain/identity/operators.h"
#include "domain/identity/tenant.h"
#include "domain/ledger/wallet.h"
#include "domain/operations/message.h"
#include "domain/parties/beneficiary.h"
#include "domain/payments/payment.h"
#include "domain/payments/refund.h"
#include "domain/providers/connector.h"
#include "domain/providers/provider_payment.h"
#include "domain/reconciliation/matching.h"
#include "domain/webhooks/event_type.h"
#include "domain/webhooks/webhook.h"
#include "store/ledger/journal.h"
#include "store/operations/export.h"
#include "store/rows/members.h"
#include "store/webhooks/event_id.h"

// Rows refer to others by key; an export replaces the keys with public IDs.
#define OF_TENANT                                                                           \
  "(SELECT a.id FROM tenants t JOIN associations a ON a.association = t.association WHERE " \
  "t.tenant = x.tenant)"
#define ENVIRONMENT_OF "(SELECT environment FROM tenants WHERE tenant = x.tenant)"
#define ID_OF(table, key, column) "(SELECT id FROM " table " WHERE " key " = x." column ")"
#define BASE_URL                                \
  "(SELECT base_url FROM connector_endpoints e" \
  " WHERE e.connector = x.connector AND e.retired_at IS NULL)"
#define TAGS \
  "(SELECT group_concat(tag, ' ') FROM beneficiary_tags g WHERE g.beneficiary = x.beneficiary)"
#define ASSET_OF(column) "(SELECT code FROM assets WHERE asset = x." column ")"
// A refund that failed and was credited later was closed when it was credited.
#define REFUND_CLOSED_AT "iif(x.status = 5, x.updated_at, x.refund_closed_at)"

namespace coffer::store {
namespace exported {
namespace {

static_assert(stored(PaymentStatus::refunded) == 5);

using Columns = std::vector<ExportColumn>;

/// `createdAt` for the column `x.created_at`.
std::string api_name(std::string_view column) {
  std::string out;
  for (const char c : column.substr(column.find('.') + 1)) {
    if (!out.empty() && out.back() == '_') {
      out.back() = ascii::to_upper(c);
    } else {
      out += c;
    }
  }
  return out;
}

/// Makes columns of one kind. A column has its name in the API, unless it has another one.
struct Maker {
  ExportKind kind;
  std::string_view (*named)(std::int64_t) = nullptr;

  ExportColumn operator()(std::string_view column) const {
    return {api_name(column), kind, column, named};
  }
  ExportColumn operator()(std::string name, std::string_view sql) const {
    return {std::move(name), kind, sql, named};
  }
};
constexpr Maker text{ExportKind::text}, number{ExportKind::integer}, flag{ExportKind::boolean},
    id{ExportKind::id}, time{ExportKind::time}, amount{ExportKind::amount}, hex{ExportKind::hex},
    json{ExportKind::json};
template <class Enum>
constexpr Maker named{ExportKind::name, [](std::int64_t value) -> std::string_view {
                        return coffer::name(static_cast<Enum>(value));
                      }};

std::string_view failure_code(std::int64_t value) {
  return info(static_cast<FailureCode>(value)).name;
}

/// Text members of nouns that share a table, each column once (domain/tables/text_field.h).
template <class... Nouns>
Columns texts() {
  Columns out;
  const auto add = [&](const TextFact& fact) {
    const bool known = std::ranges::any_of(
        out, [&](const ExportColumn& column) { return column.expression == fact.column; });
    if (!known) out.push_back(text(std::string(fact.name), fact.column));
  };
  (std::for_each(std::begin(TextFields<Nouns>::rows), std::end(TextFields<Nouns>::rows), add), ...);
  return out;
}

template <class Value>
constexpr Maker maker_of() {
  if constexpr (std::is_enum_v<Value>) return named<Value>;
  if constexpr (std::is_same_v<Value, Amount>) return amount;
  if constexpr (std::is_same_v<Value, bool>) return flag;
  if constexpr (std::is_same_v<Value, std::string>) return text;
  if constexpr (requires(Value value) { value.uuid; }) return id;
  return number;
}

/// The members of a noun that have a name, except sets of transaction types.
template <class Noun>
Columns members() {
  Columns out;
  each_member<Noun>([&]<auto... kPath>(const Member<kPath...>& row) {
    using Type = MemberType<kPath...>;
    if (row.name.empty() || std::is_same_v<Type, TransactionTypes>) return;
    if constexpr (std::is_same_v<Type, Asset>) {
      out.push_back(text("assetCode", ASSET_OF("asset")));
    } else {
      for (std::string& name : names_of(row))
        out.push_back(maker_of<MemberValue<kPath...>>()(kept(std::move(name))));
    }
  });
  return out;
}

/// A list of single columns and of lists.
template <class... Parts>
Columns columns(const Parts&... parts) {
  Columns out;
  const auto add = [&](const auto& part) {
    if constexpr (std::is_same_v<decltype(part), const Columns&>) {
      out.insert(out.end(), part.begin(), part.end());
    } else {
      out.push_back(part);
    }
  };
  (add(parts), ...);
  return out;
}

const auto kTenant = id("association", OF_TENANT);
const auto kEnvironment = named<Environment>("environment", ENVIRONMENT_OF);
const auto kAssociation = id("association", ID_OF("associations", "association", "association"));
const auto kApplication = id("applicationId", ID_OF("applications", "application", "application"));
const auto kWallet = id("walletId", ID_OF("wallets", "wallet", "wallet"));
const auto kBeneficiary = id("beneficiaryId", ID_OF("beneficiaries", "beneficiary", "beneficiary"));
const auto kConnector = id("connectorId", ID_OF("connectors", "connector", "connector"));
const auto kPayment = id("transactionRecordId", ID_OF("payments", "payment", "payment"));
const auto kMetadata = json("metadata", "iif(json_valid(metadata), metadata, NULL)");
const auto kWebhook = id("webhookId", ID_OF("webhooks", "webhook", "webhook"));

const auto kNouns = std::to_array<ExportNoun>({
    {"association", "associations", "association",
     columns(id("id"), text("name"), named<AssociationStatus>("status"),
             named<EntityType>("entity_type"), time("created_at"), time("updated_at"))},
    {"application", "applications", "application",
     columns(id("id"), kTenant, named<Environment>("environment"), text("name"), flag("suspended"),
             text("scopes"), number("key_version"), text("client_id"), text("public_key"),
             time("created_at"), time("updated_at"))},
    {"operator", "operators", "operator",
     columns(id("id"), text("name"), named<OperatorRole>("role"), flag("suspended"),
             flag("authenticator", "sealed_otp IS NOT NULL"), time("created_at"),
             time("updated_at"))},
    {"auditEntry", "audit_log", "entry",
     columns(number("entry"), time("at"), text("actor"), text("command"), text("detail"),
             number("outcome_of"), text("outcome"), hex("link"))},
    {"user", "users", "user",
     columns(id("id"), kAssociation, text("username"), flag("suspended"), time("created_at"),
             time("updated_at"))},
    {"asset", "assets", "asset",
     columns(text("code"), text("issuer"), text("name"), number("decimals"), time("created_at"))},
    {"rate", "rates", "environment, sell, buy",
     columns(named<Environment>("environment"), text("sellAssetCode", ASSET_OF("sell")),
             text("buyAssetCode", ASSET_OF("buy")), number("numerator"), number("denominator"),
             time("updated_at"))},
    {"wallet", "wallets", "x.wallet",
     columns(id("x.id"), kTenant, kEnvironment, text("name"), text("account_number"),
             text("public_key"), flag("own_account"), named<WalletStatus>("status"),
             text("status_code"), text("status_message"), named<EntityType>("m.entity_type"),
             texts<PersonMetadata, BusinessMetadata>(), time("created_at"), time("updated_at")),
     "LEFT JOIN wallet_metadata m ON m.wallet = x.wallet"},
    {"connector", "connectors", "connector",
     columns(members<ConnectorTerms>(), text("baseUrl", BASE_URL), time("created_at"),
             time("updated_at"))},
    {"connectorEndpoint", "connector_endpoints", "connector_endpoint",
     columns(number("connector_endpoint"), kConnector, text("base_url"), number("timeout_ms"),
             time("created_at"), time("retired_at"))},
    {"account", "accounts", "account",
     columns(number("account"), kEnvironment, named<AccountKind>("kind"), kWallet,
             text("assetCode", ASSET_OF("asset")), kConnector, amount("balance"), amount("held"),
             time("created_at"))},
    {"fee", "fee_rows", "association, connector, transaction_type",
     columns(kAssociation, kConnector, named<TransactionType>("transaction_type"), amount("fixed"),
             number("basis_points"), time("updated_at"))},
    {"paymentLimit", "payment_limits", "payment_limit",
     columns(kTenant, kEnvironment, kApplication, kWallet, text("assetCode", ASSET_OF("asset")),
             amount("per_payment"), amount("per_day"), amount("per_month"), number("count_per_day"),
             number("count_per_month"), time("created_at"), time("updated_at"))},
    {"beneficiary", "beneficiaries", "beneficiary",
     columns(id("id"), kTenant, kEnvironment, named<EntityType>("entity_type"),
             texts<Individual, Company>(), text("client_reference"), text("tags", TAGS),
             time("created_at"), time("updated_at"), time("archived_at"))},
    {"beneficiaryAddress", "beneficiary_addresses", "beneficiary, position",
     columns(kBeneficiary, number("position"), text("addressType", "type"), text("line1"),
             text("line2"), text("city"), text("state"), text("postal_code"), text("country"))},
    // An ID has one row per change.
    {"destination", "destinations", "destination",
     columns(number("destination"), id("id"), kBeneficiary, kTenant, kEnvironment,
             named<DestinationMethod>("method"), text("country"), text("currency"), text("label"),
             texts<BankDetails, MobileMoneyDetails, CryptoDetails>(), time("created_at"),
             time("archived_at"))},
    {"reference", "onramp_references", "onramp_reference",
     columns(kTenant, kEnvironment, kConnector, kWallet, text("customer_id"), text("reference"),
             time("created_at"))},
    {"quote", "quotes", "quote",
     columns(id("id"), kTenant, kEnvironment, kConnector, kBeneficiary,
             named<TransactionType>("transaction_type"), amount("send_amount"),
             amount("receive_amount"), amount("fee"), amount("total"), number("rate_numerator"),
             number("rate_denominator"), text("provider_reference"), time("created_at"),
             time("expires_at"), kPayment)},
    {"payment", "payments", "x.payment",
     columns(id("transactionRecordId", "x.id"), kTenant, kEnvironment, text("transaction_id"),
             kApplication, text("request_id"), named<PaymentType>("paymentType", "x.type"),
             named<PaymentStatus>("status"), number("version"),
             Maker{ExportKind::name, failure_code}("failure"),
             Maker{ExportKind::name, failure_code}("refund_failure"),
             id("sourceWalletId", ID_OF("wallets", "wallet", "source_wallet")),
             id("destinationWalletId", ID_OF("wallets", "wallet", "destination_wallet")),
             text("sendingAssetCode", ASSET_OF("sending_asset")), amount("sending_amount"),
             text("receivingAssetCode", ASSET_OF("receiving_asset")), amount("receiving_amount"),
             text("from_ref"), text("to_ref"), text("description"), text("memo"), kMetadata,
             kBeneficiary, number("destination"), kConnector,
             id("quoteId", ID_OF("quotes", "quote", "quote")), amount("q.fee"), amount("q.total"),
             text("q.provider_reference"), number("q.connector_endpoint"),
             amount("q.collected_amount"), text("q.arrived_currency"),
             named<OpenItem>("q.open_item"), time("corrected_at"),
             named<PaymentStatus>("corrected_from"), amount("refunded_amount"), time("created_at"),
             time("processing_at"), time("completed_at"), time("refund_pending_at"),
             time("refundClosedAt", REFUND_CLOSED_AT), time("updated_at")),
     "LEFT JOIN provider_payments q ON q.payment = x.payment"},
    {"refund", "refunds", "refund",
     columns(number("refund"), kPayment, kTenant, kEnvironment, named<RefundState>("state"),
             amount("amount"), amount("fee"), text("reason"), time("at"), time("booked_at"),
             number("entrySet", "journal"), text("return_id"), text("report"), amount("returned"),
             flag("with_fee"), text("transaction_id"), amount("wanted"), id("refundId", "id"),
             amount("asked"), amount("held"), time("failed_at"),
             Maker{ExportKind::name, failure_code}("failure"))},
    {"arrival", "unassigned_arrivals", "arrival",
     columns(id("id"), kConnector, text("provider_payment_id"), text("reference"),
             text("reportedAmount", "amount"), text("currency"), text("payer_name"),
             text("payer_account"), text("payer_phone"), time("arrived_at"), time("returned_at"),
             kPayment)},
    {"bankLine", "bank_lines", "bank_line",
     columns(id("id"), named<Environment>("environment"), kConnector, text("account"),
             time("booked_on"), time("value_on"), amount("amount"), amount("charges"),
             text("currency"), amount("original_amount"), text("original_currency"),
             text("bank_reference"), text("reference"), text("text"), text("party_name"),
             text("party_account"), text("code"), time("imported_at"), named<LineState>("state"))},
    {"bankMatch", "bank_matches", "bank_match",
     columns(number("match", "bank_match"),
             id("lineId", ID_OF("bank_lines", "bank_line", "bank_line")), kPayment,
             named<MatchKind>("kind"), number("refund"), named<MatchRule>("rule"), number("undoes"),
             text("reason"), text("actor"), time("at"))},
    {"paymentLeg", "payment_legs", "payment, leg",
     columns(kPayment, number("leg"),
             id("sourceWalletId", ID_OF("wallets", "wallet", "source_wallet")),
             id("destinationWalletId", ID_OF("wallets", "wallet", "destination_wallet")),
             text("assetCode", ASSET_OF("asset")), amount("amount"), text("from_ref"),
             text("to_ref"), text("description"))},
    {"hold", "payment_holds", "payment, account",
     columns(kPayment, number("account"), amount("amount"), named<HoldState>("state"))},
    {"providerAttempt", "provider_attempts", "payment, attempt",
     columns(kPayment, number("attempt"), named<ProviderCall>("call"), time("opened_at"),
             time("closed_at"), text("outcome"))},
    {"entrySet", "journal", "journal",
     columns(number("entrySet", "journal"), kEnvironment, named<JournalKind>("kind"), kPayment,
             time("at"), hex("ledgerTransactionHash", "link"))},
    {"entry", "entries", "entry",
     columns(number("entrySet", "entry / 1024"), number("line", "entry % 1024"), number("account"),
             amount("amount"), amount("balance_after"), number("counterparty"), number("leg"))},
    {"closedPeriod", "closed_periods", "period",
     columns(number("period"), number("entrySet", "journal"), number("accounts"), hex("digest"),
             time("closed_at"))},
    {"funding", "fundings", "journal",
     columns(number("entrySet", "journal"), text("transaction_id"), text("description"))},
    {"webhook", "webhooks", "webhook",
     columns(id("id"), kTenant, kEnvironment, kApplication, text("url"), text("description"),
             number("eventTypeBits", "event_types"), number("failures"), number("last_status"),
             time("last_attempt_at"), time("created_at"), time("updated_at"), time("disabled_at"),
             named<DisableReason>("disable_reason"))},
    {"event", "events", "tenant, sequence",
     columns(id("id", COFFER_EVENT_ID("x.")), kTenant, kEnvironment, number("sequence"),
             named<EventType>("eventType", "type"), kPayment, kWallet, kWebhook, kApplication,
             number("version"), flag("test"), time("at"))},
    {"delivery", "deliveries", "webhook, sequence",
     columns(kWebhook, number("sequence"), named<DeliveryState>("state"), number("tries"),
             time("created_at"), time("closed_at"))},
    {"deliveryAttempt", "delivery_attempts", "webhook, sequence, attempt",
     columns(kWebhook, number("sequence"), number("attempt"), time("at"), number("duration_ms"),
             number("status"), text("fault"))},
    {"notification", "(SELECT * FROM messages WHERE payment IS NOT NULL)", "message",
     columns(kPayment, named<MessageChannel>("channel"), text("recipient"),
             named<MessageState>("state"), number("attempts"), time("closed_at"))},
});

}  // namespace
}  // namespace exported

std::span<const ExportNoun> export_nouns() { return exported::kNouns; }

}  // namespace coffer::store
