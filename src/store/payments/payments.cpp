#include "store/payments/payments.h"

#include <algorithm>

#include "base/check.h"
#include "base/numbers.h"
#include "base/telemetry/log.h"
#include "store/payments/destination_sums.h"
#include "store/payments/limits.h"
#include "store/payments/open_payments.h"
#include "store/payments/refunds.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"

namespace coffer::store {
namespace {

constexpr std::int64_t kNobody = 0;

std::optional<MessageChannel> optional_channel(const Query& q, int column) {
  if (q.integer(column) == kNobody) return std::nullopt;
  return q.enumeration<MessageChannel>(column);
}

using Record = PaymentRecord;
using Request = PaymentRequest;
// The leg of a record that is not a multi-transfer is read separately.
constexpr Column<Record> kRecordColumns[] = {
    joined<&Record::key>("p.payment"),
    joined<&Record::id>("p.id"),
    joined<&Record::tenant>("p.tenant"),
    joined<&Record::application>("p.application"),
    joined<&Record::request_id>("p.request_id"),
    joined<&Record::request, &Request::transaction_id>("p.transaction_id"),
    joined<&Record::request, &Request::type>("p.type"),
    joined<&Record::status>("p.status"),
    joined<&Record::version>("p.version"),
    joined<&Record::sending_asset>("sa.code"),
    joined<&Record::sending_decimals>("sa.decimals"),
    joined<&Record::sending_amount>("p.sending_amount"),
    joined<&Record::request, &Request::receiving_asset>("ra.code"),
    joined<&Record::receiving_decimals>("ra.decimals"),
    joined<&Record::receiving_amount>("p.receiving_amount"),
    joined<&Record::request, &Request::min_receiving>("p.min_receiving"),
    joined<&Record::path>("p.path"),
    joined<&Record::metadata>("p.metadata"),
    joined<&Record::request, &Request::memo>("p.memo"),
    {"p.notify",
     [](const Query& q, int at, Record& r) {
       const auto channel = optional_channel(q, at);
       r.request.notify_email = channel == MessageChannel::email;
       r.request.notify_whatsapp = channel == MessageChannel::messaging;
     }},
    joined<&Record::request, &Request::beneficiary>("b.id"),
    joined<&Record::request, &Request::destination>("t.id"),
    joined<&Record::request, &Request::quote>("q.id"),
    joined<&Record::failure>("p.failure"),
    joined<&Record::refund_failure>("p.refund_failure"),
    joined<&Record::corrected_at>("p.corrected_at"),
    joined<&Record::corrected_from>("p.corrected_from"),
    // A placeholder for the rows, which are read separately.
    {"p.refunded_amount", [](const Query&, int, Record& r) { r.refunds.emplace_back(); }},
    joined<&Record::created_at>("p.created_at"),
    joined<&Record::processing_at>("p.processing_at"),
    joined<&Record::completed_at>("p.completed_at"),
    joined<&Record::refund_pending_at>("p.refund_pending_at"),
    joined<&Record::refund_closed_at>("p.refund_closed_at"),
    joined<&Record::updated_at>("p.updated_at"),
    joined_blob<&Record::ledger_hash>(
        "(SELECT j.link FROM journal j WHERE j.payment = p.payment ORDER BY j.journal LIMIT 1)"),
};
constexpr Column<ProviderPart> kProviderColumns[] = {
    joined<&ProviderPart::connector>("c.id"),
    joined<&ProviderPart::direction>("c.direction"),
    joined<&ProviderPart::currency>("coalesce(v.arrived_currency, c.currency)"),
    // All places of an amount that arrived with more than the currency has.
    joined<&ProviderPart::currency_decimals>(
        "iif(v.arrived_currency IS NOT NULL OR p.failure IS 19, 7, c.currency_decimals)"),
    joined<&ProviderPart::fee>("v.fee"),
    joined<&ProviderPart::total>("v.total"),
    joined<&ProviderPart::state>("v.state"),
    joined<&ProviderPart::in_review>("v.in_review"),
    joined<&ProviderPart::expires_at>("v.expires_at"),
    joined<&ProviderPart::provider_reference>("v.provider_reference"),
    joined<&ProviderPart::collected>("v.collected_amount"),
    joined<&ProviderPart::quoted_receiving>("q.receive_amount"),
    joined<&ProviderPart::open_item>("v.open_item"),
};
static_assert(stored(FailureCode::amount_precision) == 19);
static_assert(Amount::kScale == 7);
constexpr Column<Compliance> kComplianceColumns[] = {
    column<&Compliance::purpose_of_payment>("v.purpose_of_payment"),
    column<&Compliance::source_of_funds>("v.source_of_funds"),
    column<&Compliance::relationship>("v.relationship"),
};
constexpr Column<Payer> kPayerColumns[] = {
    column<&Payer::name>("v.payer_name"),
    column<&Payer::account_number>("v.payer_account"),
    column<&Payer::phone>("v.payer_phone"),
};
// Omits asset and amount. No other table of the two statements has the last three columns.
constexpr Column<TransferLeg> kLegColumns[] = {
    joined<&TransferLeg::source_wallet>("s.id"),
    joined<&TransferLeg::destination_wallet>("d.id"),
    joined<&TransferLeg::refs, &References::from_ref>("from_ref"),
    joined<&TransferLeg::refs, &References::to_ref>("to_ref"),
    joined<&TransferLeg::description>("description"),
};
// Positions of the first columns in the statement.
constexpr int kLegAt = std::size(kRecordColumns);
constexpr int kProviderAt = kLegAt + std::size(kLegColumns);
constexpr int kComplianceAt = kProviderAt + std::size(kProviderColumns);
constexpr int kPayerAt = kComplianceAt + std::size(kComplianceColumns);

const std::string kSelectPayment =
    select(kRecordColumns, kLegColumns, kProviderColumns, kComplianceColumns, kPayerColumns) +
    " FROM payments p LEFT JOIN wallets s ON s.wallet = p.source_wallet"
    " LEFT JOIN wallets d ON d.wallet = p.destination_wallet"
    " LEFT JOIN assets sa ON sa.asset = p.sending_asset"
    " LEFT JOIN assets ra ON ra.asset = p.receiving_asset"
    " LEFT JOIN beneficiaries b ON b.beneficiary = p.beneficiary"
    " LEFT JOIN destinations t ON t.destination = p.destination"
    " LEFT JOIN connectors c ON c.connector = p.connector LEFT JOIN quotes q ON q.quote = p.quote"
    " LEFT JOIN provider_payments v ON v.payment = p.payment";
const std::string kById = kSelectPayment + " WHERE p.tenant = ? AND p.id = ?";
const std::string kPaymentByKey = kSelectPayment + " WHERE p.payment = ?";
constexpr const char* kIdOf = "SELECT id FROM payments WHERE payment = ?";
constexpr const char* kKeyByTransactionId =
    "SELECT payment FROM payments WHERE tenant = ? AND transaction_id = ?";

const std::string kLegRows =
    select(kLegColumns) +
    ", a.code, a.decimals, l.amount"
    " FROM payment_legs l JOIN wallets s ON s.wallet = l.source_wallet"
    " JOIN wallets d ON d.wallet = l.destination_wallet JOIN assets a ON a.asset = l.asset"
    " WHERE l.payment = ? ORDER BY l.leg";
constexpr const char* kInsertPayment =
    "INSERT INTO payments (payment, tenant, id, transaction_id, application, request_id, type, "
    "status,"
    " source_wallet, destination_wallet, sending_asset, sending_amount, receiving_asset,"
    " receiving_amount, min_receiving, from_ref, to_ref, description, memo, notify, beneficiary,"
    " destination, connector, quote, settle_at, created_at, mac, metadata)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertMetadataTerm =
    "INSERT INTO metadata_terms (tenant, term, payment) VALUES (?, ?, ?)";
// Only another program writes a text that is not JSON.
constexpr const char* kMetadataOf =
    "SELECT key, value FROM json_each((SELECT iif(json_valid(metadata), metadata, '{}')"
    " FROM payments WHERE payment = ?))";
const std::string kInsertProvider =
    ColumnList{"payment", "fee", "total", "transaction_type", "arrived_currency"}
        .add(kComplianceColumns)
        .add(kPayerColumns)
        .insert_into("provider_payments");
constexpr const char* kInsertField =
    "INSERT INTO payment_fields (payment, name, value) VALUES (?, ?, ?)";
constexpr const char* kFields = "SELECT name, value FROM payment_fields WHERE payment = ?";
constexpr const char* kInstructions =
    "SELECT name, value FROM payment_instructions WHERE payment = ?";
constexpr const char* kInsertLeg =
    "INSERT INTO payment_legs (payment, leg, source_wallet, destination_wallet, asset, amount,"
    " from_ref, to_ref, description) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
using View = SettlementView;
constexpr Column<View> kViewColumns[] = {
    joined<&View::tenant>("p.tenant"),
    joined<&View::environment>("t.environment"),
    joined<&View::type>("p.type"),
    joined<&View::status>("p.status"),
    joined<&View::version>("p.version"),
    joined<&View::settle_at>("p.settle_at"),
    joined<&View::receiving_asset>("p.receiving_asset"),
    joined<&View::keys, &PaymentKeys::receiving_asset>("p.receiving_asset"),
    joined<&View::min_receiving>("p.min_receiving"),
    joined<&View::keys, &PaymentKeys::beneficiary>("p.beneficiary"),
    joined<&View::keys, &PaymentKeys::destination>("p.destination"),
    joined<&View::keys, &PaymentKeys::connector>("p.connector"),
    joined<&View::keys, &PaymentKeys::quote>("p.quote"),
    joined<&View::receiving_amount>("p.receiving_amount"),
    {"p.notify", [](const Query& q, int at, View& view) { view.notify = optional_channel(q, at); }},
};
constexpr Column<PaymentKeys::Leg> kLegKeyColumns[] = {
    joined<&PaymentKeys::Leg::source_wallet>("source_wallet"),
    joined<&PaymentKeys::Leg::destination_wallet>("destination_wallet"),
    joined<&PaymentKeys::Leg::asset>("asset"),
};
const std::string kSettlementView =
    select(kViewColumns) +
    ", p.source_wallet, p.destination_wallet, p.sending_asset, p.sending_amount, " +
    std::string(sealed_payment_columns()) +
    " FROM payments p JOIN tenants t ON t.tenant = p.tenant WHERE p.payment = ?";
const std::string kLegKeys =
    select(kLegKeyColumns) + ", amount FROM payment_legs WHERE payment = ? ORDER BY leg";
constexpr const char* kChangeStatus =
    "UPDATE payments SET status = ?3, version = ?4, settle_at = NULL, failure = ?5,"
    " refund_failure = ?6, receiving_amount = ?7, path = ?8, processing_after = ?9,"
    " completed_after = ?10, updated_after = ?11, refund_pending_at = ?12, refund_closed_at = ?13,"
    " mac = ?14, corrected_at = ?15, corrected_from = ?16, refunded_amount = ?17 WHERE payment = "
    "?1 AND status = ?2";
constexpr const char* kSchedule =
    "UPDATE payments SET settle_at = ?, settle_attempts = 0 WHERE payment = ?";
// 1 s, 2 s, 4 s ... up to about 17 minutes.
constexpr const char* kPostpone =
    "UPDATE payments SET settle_attempts = settle_attempts + 1,"
    " settle_at = ?3 + (1000 << min(settle_attempts, 10)) WHERE payment = ?2 AND settle_at = ?1";
constexpr const char* kDue =
    "SELECT settle_at, payment FROM payments INDEXED BY payments_to_settle WHERE settle_at <= ?"
    " ORDER BY settle_at, payment LIMIT ?";
constexpr const char* kNextDue =
    "SELECT settle_at FROM payments INDEXED BY payments_to_settle WHERE settle_at IS NOT NULL"
    " ORDER BY settle_at LIMIT 1";

std::optional<MessageChannel> notified_by(const PaymentRequest& request) {
  if (request.notify_email) return MessageChannel::email;
  if (request.notify_whatsapp) return MessageChannel::messaging;
  return std::nullopt;
}

std::map<std::string, std::string> read_texts(Connection& db, const char* sql, std::int64_t key) {
  std::map<std::string, std::string> out;
  Query q(db, sql, key);
  while (q.step()) out[q.text(0)] = q.text(1);
  return out;
}

void add_leg(PaymentRecord& record, TransferLeg leg, const AssetCode& asset, Amount amount,
             int decimals) {
  leg.sending_asset = asset;
  leg.amount = amount;
  record.request.legs.push_back(std::move(leg));
  record.leg_decimals.push_back(decimals);
}

void read_provider(const Query& q, PaymentRecord& r) {
  r.provider = read_row<ProviderPart>(q, kProviderColumns, kProviderAt);
  if (!q.is_null(kComplianceAt)) {
    r.request.compliance = read_row<Compliance>(q, kComplianceColumns, kComplianceAt);
  }
  if (!q.is_null(kPayerAt)) r.request.payer = read_row<Payer>(q, kPayerColumns, kPayerAt);
  // The sending side of a collection is a currency.
  if (r.sending_asset || has_legs(r.request.type)) return;
  r.sending_asset = AssetCode::parse(r.provider->currency);
  r.sending_decimals = r.provider->currency_decimals;
}

/// The parts of a record that are in its own row.
PaymentRecord record_row(const Query& q) {
  auto r = read_row<PaymentRecord>(q, kRecordColumns);
  if (!q.is_null(kProviderAt)) read_provider(q, r);
  if (!has_legs(r.request.type)) {
    if (!r.sending_asset || !r.sending_amount)
      throw InternalError("a single payment sends nothing");
    add_leg(r, read_row<TransferLeg>(q, kLegColumns, kLegAt), *r.sending_asset, *r.sending_amount,
            r.sending_decimals);
  }
  return r;
}

void read_legs(Connection& db, PaymentRecord& record) {
  constexpr int kAssetAt = std::size(kLegColumns);
  Query q(db, kLegRows.c_str(), record.key);
  while (q.step()) {
    add_leg(record, read_row<TransferLeg>(q, kLegColumns), q.asset_code(kAssetAt),
            q.amount(kAssetAt + 2), static_cast<int>(q.integer(kAssetAt + 1)));
  }
}

/// Without returns that are worth less than the last place of the asset.
void read_refunds(Connection& db, PaymentRecord& record) {
  record.refunds.clear();
  for (RefundRow& row : refunds_of(db, record.key)) {
    if (!row.journal && !row.id) continue;
    const Timestamp at = row.booked_at.value_or(row.failed_at.value_or(row.at));
    record.refunds.push_back({row.asked.value_or(row.total()), at, std::move(row.reason)});
    if (row.id) record.refunds.back().asked_at = row.at;
    record.refunds.back().state = row.state;
    record.refunds.back().failure = row.failure;
  }
}

template <class... Args>
std::optional<PaymentRecord> one_record(Connection& db, const std::string& sql,
                                        const Args&... args) {
  std::optional<PaymentRecord> record;
  {
    Query query(db, sql.c_str(), args...);
    if (query.step()) record = record_row(query);
  }
  if (record && has_legs(record->request.type)) read_legs(db, *record);
  if (record && record->metadata) {
    record->request.metadata = read_texts(db, kMetadataOf, record->key);
  }
  const bool reversed = record && record->provider && record->refund_pending_at &&
                        record->request.type != PaymentType::offramp;
  if (reversed || (record && !record->refunds.empty())) read_refunds(db, *record);
  if (record && record->provider) {
    record->request.additional_fields = read_texts(db, kFields, record->key);
    // The writer reads parts that get their digests at the end of the commit.
    if (is_writer(db) || has_intact_provider_part(db, record->key)) {
      record->provider->instructions = read_texts(db, kInstructions, record->key);
    } else {
      log_error("store", "another program changed the instructions of a payment; they are hidden",
                {{"payment_key", record->key}});
    }
  }
  return record;
}

/// Neither keys nor texts have control characters. nullopt without metadata.
std::optional<std::string> object_of(const PaymentMetadata& metadata) {
  if (metadata.empty()) return std::nullopt;
  std::string out;
  for (const auto& [key, value] : metadata) {
    out += out.empty() ? "{\"" : "\",\"";
    out += key + "\":\"";
    for (const char c : value) (c == '"' || c == '\\' ? out += '\\' : out) += c;
  }
  return out + "\"}";
}

/// Size of the rows that an acceptance writes, for the tenant's quota.
std::int64_t bytes_of(const NewPayment& payment) {
  const PaymentRequest& request = payment.request;
  // The transactionId is stored in an index too.
  std::size_t texts = 2 * request.transaction_id.size() + payment.request_id.size();
  texts += request.memo.value_or("").size();
  for (const TransferLeg& leg : request.legs) texts += leg.description.value_or("").size();
  for (const auto& [name, value] : request.additional_fields) texts += name.size() + value.size();
  for (const auto& [key, value] : request.metadata) {
    texts += key.size() + value.size() + row_bytes::kMetadataTerm;
  }
  const bool multi = has_legs(request.type);
  const auto legs = static_cast<std::int64_t>(multi ? request.legs.size() : 0);
  return row_bytes::kPayment + row_bytes::kLeg * legs + static_cast<std::int64_t>(texts);
}

void insert_legs(WriteTx& tx, std::int64_t key, const NewPayment& payment) {
  for (std::size_t i = 0; i < payment.request.legs.size(); ++i) {
    const TransferLeg& l = payment.request.legs[i];
    const PaymentKeys::Leg& k = payment.keys.legs[i];
    tx.db().run(kInsertLeg, key, static_cast<std::int64_t>(i), k.source_wallet,
                k.destination_wallet, k.asset, l.amount, l.refs.from_ref, l.refs.to_ref,
                l.description);
  }
}

void insert_provider(WriteTx& tx, std::int64_t key, const NewPayment& payment) {
  const PaymentRequest& request = payment.request;
  Query query(tx.db(), kInsertProvider.c_str(), key, payment.provider->fee, payment.provider->total,
              payment.provider->type, payment.provider->arrived_currency);
  constexpr int kAt = 6;
  if (request.compliance) bind_row(query, kAt, kComplianceColumns, *request.compliance);
  if (request.payer) {
    bind_row(query, kAt + kPayerAt - kComplianceAt, kPayerColumns, *request.payer);
  }
  query.run();
  tx.provider_parts().push_back(key);
  for (const auto& [name, value] : request.additional_fields) {
    tx.db().run(kInsertField, key, name, value);
  }
}

/// What settlement_view() will read of a new payment that is not a multi-transfer.
SettlementView view_of(const Tenant& tenant, const NewPayment& payment, SealedPayment sealed) {
  const PaymentRequest& request = payment.request;
  SettlementView view{.key = sealed.key,
                      .tenant = tenant.key,
                      .environment = tenant.environment,
                      .type = request.type,
                      .settle_at = payment.settle_at,
                      .receiving_asset = payment.keys.receiving_asset,
                      .min_receiving = request.min_receiving,
                      .receiving_amount = sealed.state.receiving_amount,
                      .keys = payment.keys,
                      .amounts = {request.only().amount},
                      .notify = notified_by(request)};
  view.sealed = std::move(sealed);
  return view;
}

ForeignChange other_payment(std::int64_t payment, const char* column) {
  return ForeignChange("payment " + std::to_string(payment) + " is not the one that has this " +
                       column + ": another program changed an index");
}

}  // namespace

std::optional<PaymentRecord> find_by_transaction_id(Connection& db, const Tenant& tenant,
                                                    std::string_view transaction_id) {
  // In two steps, because every acceptance runs this check and almost never finds a payment.
  std::int64_t key = 0;
  {
    Query query(db, kKeyByTransactionId, tenant.key, transaction_id);
    if (!query.step()) return std::nullopt;
    key = query.integer(0);
  }
  auto record = find_payment_by_key(db, key);
  const bool same =
      record && record->tenant == tenant.key && record->request.transaction_id == transaction_id;
  if (!same) throw other_payment(key, "transaction_id");
  return record;
}

void require_payment_id(Connection& db, std::int64_t payment, PaymentId id) {
  Query query(db, kIdOf, payment);
  if (!query.step() || query.id<PaymentId>(0) != id) throw other_payment(payment, "id");
}

std::optional<PaymentRecord> find_payment(Connection& db, const Tenant& tenant, PaymentId id) {
  auto record = one_record(db, kById, tenant.key, id);
  if (record) require_payment_id(db, record->key, id);
  return record;
}

std::optional<PaymentRecord> find_payment_by_key(Connection& db, std::int64_t payment) {
  return one_record(db, kPaymentByKey, payment);
}

std::optional<Denomination> receiving_denomination(const PaymentRecord& record) {
  if (record.request.receiving_asset) {
    return Denomination{record.request.receiving_asset->value(),
                        record.receiving_decimals.value_or(Amount::kScale)};
  }
  if (!record.provider) return std::nullopt;
  return Denomination{record.provider->currency, record.provider->currency_decimals};
}

std::int64_t insert_payment(WriteTx& tx, const Tenant& tenant, const NewPayment& payment) {
  const PaymentRequest& request = payment.request;
  const bool multi = has_legs(request.type);
  const TransferLeg& leg = request.only();
  const PaymentKeys& keys = payment.keys;
  const PaymentKeys::Leg& first = keys.legs.front();
  const auto single = [&](const auto& value) {
    return multi ? std::decay_t<decltype(value)>() : value;
  };
  const auto channel = notified_by(request);
  const NewPaymentRow row{request.type,
                          payment.id.uuid,
                          request.transaction_id,
                          payment.application,
                          payment.request_id,
                          single(first.source_wallet),
                          single(first.destination_wallet),
                          payment.total ? first.asset : std::nullopt,
                          payment.total,
                          keys.receiving_asset,
                          request.min_receiving,
                          single(leg.refs.from_ref),
                          single(leg.refs.to_ref),
                          single(leg.description),
                          request.memo,
                          channel ? static_cast<std::int64_t>(*channel) : kNobody,
                          tx.now(),
                          keys.beneficiary,
                          keys.destination,
                          keys.connector,
                          keys.quote,
                          object_of(request.metadata)};
  PaymentState state;
  if (payment.provider && !payment.provider->receiving.is_zero()) {
    state.receiving_amount = payment.provider->receiving;
  }
  ChainHead& end = ledger_head(tx);
  const std::int64_t key = end.payments + 1;
  SealedPayment sealed;
  if (has_one_row(row.type)) sealed = seal_new_payment(tx.db(), key, tenant.key, row, state);
  tx.db().run(kInsertPayment, key, tenant.key, payment.id, row.transaction_id, row.application,
              row.request_id, row.type, state.status, row.source_wallet, row.destination_wallet,
              row.sending_asset, row.sending_amount, row.receiving_asset, state.receiving_amount,
              row.min_receiving, row.from_ref, row.to_ref, row.description, row.memo, row.notify,
              row.beneficiary, row.destination, row.connector, row.quote, payment.settle_at,
              row.created_at, Blob{sealed.mac}, row.metadata);
  for (const auto& [name, value] : request.metadata) {
    tx.db().run(kInsertMetadataTerm, tenant.key, metadata_term(name, value), key);
  }
  end.payments = key;
  end.versions += state.version;
  tx.open_payments().set(key, state.version);
  if (multi) insert_legs(tx, key, payment);
  if (payment.provider) insert_provider(tx, key, payment);
  if (keys.connector && keys.destination) {
    count_sent(tx, {*keys.connector, *keys.destination, leg.amount});
  }
  tx.quotas().add_bytes(tenant.key, bytes_of(payment));
  if (has_one_row(row.type) && payment.settle_at) {
    tx.open_payments().remember(view_of(tenant, payment, std::move(sealed)));
  }
  return key;
}

SettlementView settlement_view(Connection& db, std::int64_t payment) {
  SettlementView view;
  constexpr int kAmountAt = std::size(kViewColumns) + std::size(kLegKeyColumns);
  const auto add_leg_keys = [&](const Query& q, int at) {
    view.keys.legs.push_back(read_row<PaymentKeys::Leg>(q, kLegKeyColumns, at));
    view.amounts.push_back(q.amount(at + static_cast<int>(std::size(kLegKeyColumns))));
  };
  {
    Query q(db, kSettlementView.c_str(), payment);
    COFFER_CHECK(q.step());
    view = read_row<SettlementView>(q, kViewColumns);
    view.key = payment;
    view.sealed = read_sealed(q, kAmountAt + 1, payment);
    if (!has_legs(view.type)) add_leg_keys(q, std::size(kViewColumns));
  }
  check_sealed(db, view.sealed);
  if (has_legs(view.type)) {
    Query q(db, kLegKeys.c_str(), payment);
    while (q.step()) add_leg_keys(q, 0);
  }
  return view;
}

SettlementView settlement_view(WriteTx& tx, const SettlementJob& job) {
  ledger_head(tx);  // after a rollback, the payments in memory are read again
  auto accepted = tx.open_payments().take(job);
  return accepted ? *std::move(accepted) : settlement_view(tx.db(), job.payment);
}

void change_status(WriteTx& tx, SettlementView& payment, const StatusChange& change) {
  COFFER_CHECK(may_change(payment.status, change.to));
  const PaymentState before = payment.sealed.state;
  payment.sealed.state = state_after(payment.sealed, change, payment.version + 1,
                                     payment.status != before.status, tx.now());
  const PaymentState& s = payment.sealed.state;
  const std::string mac = changed_payment_digest(tx.db(), payment.sealed);
  tx.db().run(kChangeStatus, payment.key, before.status, s.status, s.version, s.failure,
              s.refund_failure, s.receiving_amount, s.path, s.processing_after, s.completed_after,
              s.updated_after, s.refund_pending_at, s.refund_closed_at, Blob{mac}, s.corrected_at,
              s.corrected_from, s.refunded);
  COFFER_CHECK(tx.db().changes() == 1);
  note_versions(tx, payment.key, before, s);
  payment.settle_at.reset();
  const PaymentKeys& keys = payment.keys;
  if (keys.connector && keys.destination) {
    const Amount sent = payment.amounts.front();
    const Amount more = counted_by_limits(s.status, sent, s.refunded) -
                        counted_by_limits(payment.status, sent, before.refunded);
    if (!more.is_zero()) {
      recount_sent(tx, {*keys.connector, *keys.destination, more}, payment.sealed.created_at);
    }
  }
  recount_limits(tx, payment, before.refunded, s);
  payment.status = change.to;
  ++payment.version;
}

void pass_processing(SettlementView& payment) {
  COFFER_CHECK(payment.status == PaymentStatus::initiated &&
               payment.sealed.state.status == payment.status);
  payment.status = PaymentStatus::processing;
  ++payment.version;
}

void schedule_settlement(WriteTx& tx, const SettlementJob& job) {
  tx.db().run(kSchedule, job.due_at, job.payment);
  COFFER_CHECK(tx.db().changes() == 1);
}

void postpone_settlement(WriteTx& tx, const SettlementJob& job) {
  tx.db().run(kPostpone, job.due_at, job.payment, tx.now());
}

std::vector<SettlementJob> due_settlements(Connection& db, Timestamp now, int limit) {
  return all_of<SettlementJob, Timestamp, std::int64_t>(db, kDue, now, limit);
}

std::optional<Timestamp> next_settlement_due(Connection& db) { return first_time(db, kNextDue); }

std::int64_t metadata_term(std::string_view key, std::string_view text) {
  const Sha256 digest = sha256({key, "=", text});
  return number_at(as_text(digest));
}

SqlFunction metadata_term_function() {
  const auto run = [](SqlCall& call) {
    call.set_result(metadata_term(call.blob(0), call.blob(1)));
  };
  return {"metadata_term", 2, run};
}

}  // namespace coffer::store
