#include <algorithm>
#include <array>
#include <iterator>

#include "domain/identity/operators.h"
#include "domain/identity/tenant.h"
#include "domain/ledger/ledger.h"
#include "domain/ledger/wallet.h"
#include "domain/operations/notification.h"
#include "domain/parties/beneficiary.h"
#include "domain/payments/payment.h"
#include "domain/providers/connector.h"
#include "domain/providers/provider_payment.h"
#include "domain/webhooks/event_type.h"
#include "domain/webhooks/webhook.h"
#include "store/ledger/journal.h"
#include "store/operations/export.h"
#include "store/webhooks/event_id.h"

// Rows refer to others by key; an export replaces the keys with public IDs.
#define OF_TENANT                                                                           \
  "(SELECT a.id FROM tenants t JOIN associations a ON a.association = t.association WHERE " \
  "t.tenant = x.tenant)"
#define ENVIRONMENT_OF "(SELECT environment FROM tenants WHERE tenant = x.tenant)"
#define ID_OF(table, key, column) "(SELECT id FROM " table " WHERE " key " = x." column ")"
#define ASSET_OF(column) "(SELECT code FROM assets WHERE asset = x." column ")"

namespace coffer::store {
namespace {

constexpr ExportColumn text(std::string_view name, std::string_view sql) {
  return {name, ExportKind::text, sql};
}
constexpr ExportColumn number(std::string_view name, std::string_view sql) {
  return {name, ExportKind::integer, sql};
}
constexpr ExportColumn flag(std::string_view name, std::string_view sql) {
  return {name, ExportKind::boolean, sql};
}
constexpr ExportColumn id(std::string_view name, std::string_view sql) {
  return {name, ExportKind::id, sql};
}
constexpr ExportColumn time(std::string_view name, std::string_view sql) {
  return {name, ExportKind::time, sql};
}
constexpr ExportColumn amount(std::string_view name, std::string_view sql) {
  return {name, ExportKind::amount, sql};
}
constexpr ExportColumn hex(std::string_view name, std::string_view sql) {
  return {name, ExportKind::hex, sql};
}
template <class Enum>
constexpr ExportColumn named(std::string_view column, std::string_view sql) {
  return {column, ExportKind::name, sql,
          [](std::int64_t value) -> std::string_view { return name(static_cast<Enum>(value)); }};
}

std::string_view word(std::int64_t value, std::span<const std::string_view> words) {
  const auto at = static_cast<std::size_t>(value);
  return at < words.size() ? words[at] : "unknown";
}
std::string_view account_kind(std::int64_t value) {
  constexpr std::array<std::string_view, 5> kWords{"wallet", "issuance", "liquidity", "fee",
                                                   "clearing"};
  return word(value, kWords);
}
std::string_view journal_kind(std::int64_t value) {
  constexpr std::array<std::string_view, 4> kWords{"payment", "funding", "liquidity", "refund"};
  return word(value, kWords);
}
std::string_view hold_state(std::int64_t value) {
  constexpr std::array<std::string_view, 3> kWords{"open", "posted", "voided"};
  return word(value, kWords);
}
std::string_view failure_code(std::int64_t value) {
  return info(static_cast<FailureCode>(value)).name;
}

/// Text members of nouns that share a table, each column once (domain/tables/text_field.h).
template <class... Nouns>
std::vector<ExportColumn> texts() {
  std::vector<ExportColumn> out;
  const auto add = [&](const TextFact& fact) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const ExportColumn& column) {
      return column.expression == fact.column;
    });
    if (!known) out.push_back(text(fact.name, fact.column));
  };
  (std::for_each(std::begin(TextFields<Nouns>::rows), std::end(TextFields<Nouns>::rows), add), ...);
  return out;
}

std::vector<ExportColumn> concatenated(
    const std::initializer_list<std::vector<ExportColumn>>& parts) {
  std::vector<ExportColumn> out;
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

constexpr auto kTenancy = std::to_array<ExportColumn>({
    id("association", OF_TENANT),
    named<Environment>("environment", ENVIRONMENT_OF),
});

constexpr auto kAssociations = std::to_array<ExportColumn>({
    id("id", "id"),
    text("name", "name"),
    named<AssociationStatus>("status", "status"),
    named<EntityType>("entityType", "entity_type"),
    time("createdAt", "created_at"),
    time("updatedAt", "updated_at"),
});
constexpr auto kApplications = std::to_array<ExportColumn>({
    id("id", "id"),
    id("association", OF_TENANT),
    named<Environment>("environment", "environment"),
    text("name", "name"),
    flag("suspended", "suspended"),
    text("scopes", "scopes"),
    number("keyVersion", "key_version"),
    text("clientId", "client_id"),
    text("publicKey", "public_key"),
    time("createdAt", "created_at"),
    time("updatedAt", "updated_at"),
});
constexpr auto kOperators = std::to_array<ExportColumn>({
    id("id", "id"),
    text("name", "name"),
    named<OperatorRole>("role", "role"),
    flag("suspended", "suspended"),
    flag("authenticator", "sealed_otp IS NOT NULL"),
    time("createdAt", "created_at"),
    time("updatedAt", "updated_at"),
});
constexpr auto kAuditEntries = std::to_array<ExportColumn>({
    number("act", "entry"),
    time("at", "at"),
    text("actor", "actor"),
    text("command", "command"),
    text("detail", "detail"),
    number("outcomeOf", "outcome_of"),
    text("outcome", "outcome"),
    hex("link", "link"),
});
constexpr auto kUsers = std::to_array<ExportColumn>({
    id("id", "id"),
    id("association", ID_OF("associations", "association", "association")),
    text("username", "username"),
    flag("suspended", "suspended"),
    time("createdAt", "created_at"),
    time("updatedAt", "updated_at"),
});
constexpr auto kAssets = std::to_array<ExportColumn>({
    text("code", "code"),
    text("issuer", "issuer"),
    text("name", "name"),
    number("decimals", "decimals"),
    time("createdAt", "created_at"),
});
constexpr auto kRates = std::to_array<ExportColumn>({
    named<Environment>("environment", "environment"),
    text("sellAssetCode", ASSET_OF("sell")),
    text("buyAssetCode", ASSET_OF("buy")),
    number("numerator", "numerator"),
    number("denominator", "denominator"),
    time("updatedAt", "updated_at"),
});
const auto kWallets = concatenated({{
                                        id("id", "x.id"),
                                        kTenancy[0],
                                        kTenancy[1],
                                        text("name", "name"),
                                        text("accountNumber", "account_number"),
                                        text("publicKey", "public_key"),
                                        flag("ownAccount", "own_account"),
                                        named<WalletStatus>("status", "status"),
                                        text("statusCode", "status_code"),
                                        text("statusMessage", "status_message"),
                                        named<EntityType>("entityType", "m.entity_type"),
                                    },
                                    texts<PersonMetadata, BusinessMetadata>(),
                                    {
                                        time("createdAt", "created_at"),
                                        time("updatedAt", "updated_at"),
                                    }});
constexpr auto kAccounts = std::to_array<ExportColumn>({
    number("account", "account"),
    named<Environment>("environment", ENVIRONMENT_OF),
    {"kind", ExportKind::name, "kind", account_kind},
    id("walletId", ID_OF("wallets", "wallet", "wallet")),
    text("assetCode", ASSET_OF("asset")),
    id("connectorId", ID_OF("connectors", "connector", "connector")),
    amount("balance", "balance"),
    amount("held", "held"),
    time("createdAt", "created_at"),
});
const auto kBeneficiaries = concatenated(
    {{
         id("id", "id"),
         kTenancy[0],
         kTenancy[1],
         named<EntityType>("entityType", "entity_type"),
     },
     texts<Individual, Company>(),
     {
         text("clientReference", "client_reference"),
         text("tags",
              "(SELECT group_concat(tag, ' ') FROM beneficiary_tags g WHERE g.beneficiary = "
              "x.beneficiary)"),
         time("createdAt", "created_at"),
         time("updatedAt", "updated_at"),
         time("archivedAt", "archived_at"),
     }});
constexpr auto kAddresses = std::to_array<ExportColumn>({
    id("beneficiaryId", ID_OF("beneficiaries", "beneficiary", "beneficiary")),
    number("position", "position"),
    text("addressType", "type"),
    text("line1", "line1"),
    text("line2", "line2"),
    text("city", "city"),
    text("state", "state"),
    text("postalCode", "postal_code"),
    text("country", "country"),
});
// A destination ID has one row per change.
const auto kDestinations =
    concatenated({{
                      number("destination", "destination"),
                      id("id", "id"),
                      id("beneficiaryId", ID_OF("beneficiaries", "beneficiary", "beneficiary")),
                      kTenancy[0],
                      kTenancy[1],
                      named<DestinationMethod>("method", "method"),
                      text("country", "country"),
                      text("currency", "currency"),
                      text("label", "label"),
                  },
                  texts<BankDetails, MobileMoneyDetails, CryptoDetails>(),
                  {
                      time("createdAt", "created_at"),
                      time("archivedAt", "archived_at"),
                  }});
constexpr auto kConnectors = std::to_array<ExportColumn>({
    id("id", "id"),
    named<Environment>("environment", "environment"),
    text("name", "name"),
    text("provider", "provider"),
    named<DriverKind>("driver", "driver"),
    named<ConnectorFlow>("flow", "flow"),
    named<Direction>("direction", "direction"),
    named<PayMethod>("method", "method"),
    text("country", "country"),
    text("currency", "currency"),
    text("assetCode", ASSET_OF("asset")),
    number("rateNumerator", "rate_numerator"),
    number("rateDenominator", "rate_denominator"),
    amount("feeFixed", "fee_fixed"),
    number("feeBasisPoints", "fee_basis_points"),
    amount("minAmount", "min_amount"),
    amount("maxAmount", "max_amount"),
    amount("dayLimit", "day_limit"),
    amount("monthLimit", "month_limit"),
    named<ConnectorStatus>("status", "status"),
    text("baseUrl",
         "(SELECT base_url FROM connector_endpoints e"
         " WHERE e.connector = x.connector AND e.retired_at IS NULL)"),
    time("createdAt", "created_at"),
    time("updatedAt", "updated_at"),
});
constexpr auto kEndpoints = std::to_array<ExportColumn>({
    number("connectorEndpoint", "connector_endpoint"),
    id("connectorId", ID_OF("connectors", "connector", "connector")),
    text("baseUrl", "base_url"),
    number("timeoutMs", "timeout_ms"),
    time("createdAt", "created_at"),
    time("retiredAt", "retired_at"),
});
constexpr auto kFees = std::to_array<ExportColumn>({
    id("association", ID_OF("associations", "association", "association")),
    id("connectorId", ID_OF("connectors", "connector", "connector")),
    named<TransactionType>("transactionType", "transaction_type"),
    amount("fixed", "fixed"),
    number("basisPoints", "basis_points"),
    time("updatedAt", "updated_at"),
});
constexpr auto kQuotes = std::to_array<ExportColumn>({
    id("id", "id"),
    kTenancy[0],
    kTenancy[1],
    id("connectorId", ID_OF("connectors", "connector", "connector")),
    id("beneficiaryId", ID_OF("beneficiaries", "beneficiary", "beneficiary")),
    named<TransactionType>("transactionType", "transaction_type"),
    amount("sendAmount", "send_amount"),
    amount("receiveAmount", "receive_amount"),
    amount("fee", "fee"),
    amount("total", "total"),
    number("rateNumerator", "rate_numerator"),
    number("rateDenominator", "rate_denominator"),
    text("providerReference", "provider_reference"),
    time("createdAt", "created_at"),
    time("expiresAt", "expires_at"),
    id("transactionRecordId", ID_OF("payments", "payment", "payment")),
});
constexpr auto kReferences = std::to_array<ExportColumn>({
    kTenancy[0],
    kTenancy[1],
    id("connectorId", ID_OF("connectors", "connector", "connector")),
    id("walletId", ID_OF("wallets", "wallet", "wallet")),
    text("customerId", "customer_id"),
    text("reference", "reference"),
    time("createdAt", "created_at"),
});
constexpr auto kPayments = std::to_array<ExportColumn>({
    id("transactionRecordId", "x.id"),
    kTenancy[0],
    kTenancy[1],
    text("transactionId", "transaction_id"),
    id("applicationId", ID_OF("applications", "application", "application")),
    text("requestId", "request_id"),
    named<PaymentType>("paymentType", "x.type"),
    named<PaymentStatus>("status", "status"),
    number("version", "version"),
    {"failure", ExportKind::name, "failure", failure_code},
    {"refundFailure", ExportKind::name, "refund_failure", failure_code},
    id("sourceWalletId", ID_OF("wallets", "wallet", "source_wallet")),
    id("destinationWalletId", ID_OF("wallets", "wallet", "destination_wallet")),
    text("sendingAssetCode", ASSET_OF("sending_asset")),
    amount("sendingAmount", "sending_amount"),
    text("receivingAssetCode", ASSET_OF("receiving_asset")),
    amount("receivingAmount", "receiving_amount"),
    text("fromRef", "from_ref"),
    text("toRef", "to_ref"),
    text("description", "description"),
    text("memo", "memo"),
    id("beneficiaryId", ID_OF("beneficiaries", "beneficiary", "beneficiary")),
    number("destination", "destination"),
    id("connectorId", ID_OF("connectors", "connector", "connector")),
    id("quoteId", ID_OF("quotes", "quote", "quote")),
    amount("fee", "q.fee"),
    amount("total", "q.total"),
    text("providerReference", "q.provider_reference"),
    number("connectorEndpoint", "q.connector_endpoint"),
    amount("collectedAmount", "q.collected_amount"),
    time("createdAt", "created_at"),
    time("processingAt", "processing_at"),
    time("completedAt", "completed_at"),
    time("refundPendingAt", "refund_pending_at"),
    time("refundClosedAt", "refund_closed_at"),
    time("updatedAt", "updated_at"),
});
constexpr auto kLegs = std::to_array<ExportColumn>({
    id("transactionRecordId", ID_OF("payments", "payment", "payment")),
    number("leg", "leg"),
    id("sourceWalletId", ID_OF("wallets", "wallet", "source_wallet")),
    id("destinationWalletId", ID_OF("wallets", "wallet", "destination_wallet")),
    text("assetCode", ASSET_OF("asset")),
    amount("amount", "amount"),
    text("fromRef", "from_ref"),
    text("toRef", "to_ref"),
    text("description", "description"),
});
constexpr auto kHolds = std::to_array<ExportColumn>({
    id("transactionRecordId", ID_OF("payments", "payment", "payment")),
    number("account", "account"),
    amount("amount", "amount"),
    {"state", ExportKind::name, "state", hold_state},
});
constexpr auto kAttempts = std::to_array<ExportColumn>({
    id("transactionRecordId", ID_OF("payments", "payment", "payment")),
    number("attempt", "attempt"),
    named<ProviderCall>("call", "call"),
    time("openedAt", "opened_at"),
    time("closedAt", "closed_at"),
    text("outcome", "outcome"),
});
constexpr auto kEntrySets = std::to_array<ExportColumn>({
    number("entrySet", "journal"),
    named<Environment>("environment", ENVIRONMENT_OF),
    {"kind", ExportKind::name, "kind", journal_kind},
    id("transactionRecordId", ID_OF("payments", "payment", "payment")),
    time("at", "at"),
    hex("ledgerTransactionHash", "link"),
});
constexpr auto kFundings = std::to_array<ExportColumn>({
    number("entrySet", "journal"),
    text("transactionId", "transaction_id"),
    text("description", "description"),
});
constexpr auto kEntries = std::to_array<ExportColumn>({
    number("entrySet", "entry / 1024"),
    number("line", "entry % 1024"),
    number("account", "account"),
    amount("amount", "amount"),
    amount("balanceAfter", "balance_after"),
    number("counterparty", "counterparty"),
    number("leg", "leg"),
});
constexpr auto kEvents = std::to_array<ExportColumn>({
    id("id", COFFER_EVENT_ID("x.")),
    kTenancy[0],
    kTenancy[1],
    number("sequence", "sequence"),
    named<EventType>("eventType", "type"),
    id("transactionRecordId", ID_OF("payments", "payment", "payment")),
    id("walletId", ID_OF("wallets", "wallet", "wallet")),
    id("webhookId", ID_OF("webhooks", "webhook", "webhook")),
    id("applicationId", ID_OF("applications", "application", "application")),
    number("version", "version"),
    flag("test", "test"),
    time("at", "at"),
});
constexpr auto kWebhooks = std::to_array<ExportColumn>({
    id("id", "id"),
    kTenancy[0],
    kTenancy[1],
    id("applicationId", ID_OF("applications", "application", "application")),
    text("url", "url"),
    text("description", "description"),
    number("eventTypeBits", "event_types"),
    number("failures", "failures"),
    number("lastStatus", "last_status"),
    time("lastAttemptAt", "last_attempt_at"),
    time("createdAt", "created_at"),
    time("updatedAt", "updated_at"),
    time("disabledAt", "disabled_at"),
    named<DisableReason>("disableReason", "disable_reason"),
});
constexpr auto kDeliveries = std::to_array<ExportColumn>({
    id("webhookId", ID_OF("webhooks", "webhook", "webhook")),
    number("sequence", "sequence"),
    named<DeliveryState>("state", "state"),
    number("tries", "tries"),
    time("createdAt", "created_at"),
    time("closedAt", "closed_at"),
});
constexpr auto kDeliveryAttempts = std::to_array<ExportColumn>({
    id("webhookId", ID_OF("webhooks", "webhook", "webhook")),
    number("sequence", "sequence"),
    number("attempt", "attempt"),
    time("at", "at"),
    number("durationMs", "duration_ms"),
    number("status", "status"),
    text("fault", "fault"),
});
constexpr auto kNotifications = std::to_array<ExportColumn>({
    id("transactionRecordId", ID_OF("payments", "payment", "payment")),
    named<NotificationChannel>("channel", "channel"),
    text("recipient", "recipient"),
    named<NotificationState>("state", "state"),
    number("attempts", "attempts"),
    time("closedAt", "closed_at"),
});

const auto kNouns = std::to_array<ExportNoun>({
    {"association", "associations", "association", kAssociations},
    {"application", "applications", "application", kApplications},
    {"operator", "operators", "operator", kOperators},
    {"act", "audit_log", "entry", kAuditEntries},
    {"user", "users", "user", kUsers},
    {"asset", "assets", "asset", kAssets},
    {"rate", "rates", "environment, sell, buy", kRates},
    {"wallet", "wallets", "x.wallet", kWallets,
     "LEFT JOIN wallet_metadata m ON m.wallet = x.wallet"},
    {"connector", "connectors", "connector", kConnectors},
    {"connectorEndpoint", "connector_endpoints", "connector_endpoint", kEndpoints},
    {"account", "accounts", "account", kAccounts},
    {"fee", "fee_rows", "association, connector, transaction_type", kFees},
    {"beneficiary", "beneficiaries", "beneficiary", kBeneficiaries},
    {"beneficiaryAddress", "beneficiary_addresses", "beneficiary, position", kAddresses},
    {"destination", "destinations", "destination", kDestinations},
    {"reference", "onramp_references", "onramp_reference", kReferences},
    {"quote", "quotes", "quote", kQuotes},
    {"payment", "payments", "x.payment", kPayments,
     "LEFT JOIN provider_payments q ON q.payment = x.payment"},
    {"paymentLeg", "payment_legs", "payment, leg", kLegs},
    {"hold", "payment_holds", "payment, account", kHolds},
    {"providerAttempt", "provider_attempts", "payment, attempt", kAttempts},
    {"entrySet", "journal", "journal", kEntrySets},
    {"entry", "entries", "entry", kEntries},
    {"funding", "fundings", "journal", kFundings},
    {"webhook", "webhooks", "webhook", kWebhooks},
    {"event", "events", "tenant, sequence", kEvents},
    {"delivery", "deliveries", "webhook, sequence", kDeliveries},
    {"deliveryAttempt", "delivery_attempts", "webhook, sequence, attempt", kDeliveryAttempts},
    {"notification", "notifications", "notification", kNotifications},
});

}  // namespace

std::span<const ExportNoun> export_nouns() { return kNouns; }

}  // namespace coffer::store
