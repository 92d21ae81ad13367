#include "store/payments/payments.h"

#include <algorithm>

#include "base/check.h"
#include "store/identity/row_bytes.h"
#include "store/providers/destination_sums.h"

namespace coffer::store {
namespace {

#define RECORD_COLUMNS                                                                           \
  "SELECT p.payment, p.id, p.tenant, p.application, p.request_id, p.transaction_id, p.type,"     \
  " p.status, p.version, s.id, d.id, sa.code, sa.decimals, p.sending_amount, ra.code,"           \
  " ra.decimals, p.receiving_amount, p.min_receiving, p.path, p.from_ref, p.to_ref,"             \
  " p.description, p.memo, p.notify, p.failure, p.created_at, p.processing_at, p.completed_at,"  \
  " p.refund_pending_at, p.refund_closed_at, p.updated_at,"                                      \
  " (SELECT j.link FROM journal j WHERE j.payment = p.payment ORDER BY j.journal LIMIT 1),"      \
  " b.id, t.id, c.id, q.id, c.direction, c.currency, c.currency_decimals, v.fee, v.total, "      \
  "v.state,"                                                                                     \
  " v.in_review, v.expires_at, v.provider_reference, v.purpose_of_payment, v.source_of_funds,"   \
  " v.relationship, v.payer_name, v.payer_account, v.payer_phone,"                               \
  " p.refund_failure, v.collected_amount, q.receive_amount"                                      \
  " FROM payments p LEFT JOIN wallets s ON s.wallet = p.source_wallet"                           \
  " LEFT JOIN wallets d ON d.wallet = p.destination_wallet"                                      \
  " LEFT JOIN assets sa ON sa.asset = p.sending_asset"                                           \
  " LEFT JOIN assets ra ON ra.asset = p.receiving_asset"                                         \
  " LEFT JOIN beneficiaries b ON b.beneficiary = p.beneficiary"                                  \
  " LEFT JOIN destinations t ON t.destination = p.destination"                                   \
  " LEFT JOIN connectors c ON c.connector = p.connector LEFT JOIN quotes q ON q.quote = p.quote" \
  " LEFT JOIN provider_payments v ON v.payment = p.payment"
constexpr const char* kById = RECORD_COLUMNS " WHERE p.tenant = ? AND p.id = ?";
constexpr const char* kByKey = RECORD_COLUMNS " WHERE p.payment = ?";
#undef RECORD_COLUMNS
constexpr const char* kKeyByTransactionId =
    "SELECT payment FROM payments WHERE tenant = ? AND transaction_id = ?";

constexpr const char* kLegs =
    "SELECT s.id, d.id, a.code, a.decimals, l.amount, l.from_ref, l.to_ref, l.description"
    " FROM payment_legs l JOIN wallets s ON s.wallet = l.source_wallet"
    " JOIN wallets d ON d.wallet = l.destination_wallet JOIN assets a ON a.asset = l.asset"
    " WHERE l.payment = ? ORDER BY l.leg";
constexpr const char* kInsert =
    "INSERT INTO payments (tenant, id, transaction_id, application, request_id, type, status,"
    " source_wallet, destination_wallet, sending_asset, sending_amount, receiving_asset,"
    " receiving_amount, min_receiving, from_ref, to_ref, description, memo, notify, beneficiary,"
    " destination, connector, quote, created_at, updated_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertProvider =
    "INSERT INTO provider_payments (payment, fee, total, transaction_type, purpose_of_payment,"
    " source_of_funds, relationship, payer_name, payer_account, payer_phone)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kInsertField =
    "INSERT INTO payment_fields (payment, name, value) VALUES (?, ?, ?)";
constexpr const char* kFields = "SELECT name, value FROM payment_fields WHERE payment = ?";
constexpr const char* kInstructions =
    "SELECT name, value FROM payment_instructions WHERE payment = ?";
constexpr const char* kInsertLeg =
    "INSERT INTO payment_legs (payment, leg, source_wallet, destination_wallet, asset, amount,"
    " from_ref, to_ref, description) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kSettlementView =
    "SELECT p.tenant, t.environment, p.type, p.status, p.version, p.receiving_asset,"
    " p.min_receiving, p.source_wallet, p.destination_wallet, p.sending_asset, p.sending_amount,"
    " p.beneficiary, p.destination, p.connector, p.quote, p.receiving_amount, p.notify"
    " FROM payments p JOIN tenants t ON t.tenant = p.tenant WHERE p.payment = ?";
constexpr const char* kLegKeys =
    "SELECT source_wallet, destination_wallet, asset, amount FROM payment_legs"
    " WHERE payment = ? ORDER BY leg";
// Not IN (2, 3, 7): for more than two values, SQLite builds a temporary table on every call.
constexpr const char* kChangeStatus =
    "UPDATE payments SET status = ?2, version = ?9, updated_at = ?3,"
    " processing_at = CASE WHEN ?2 = 1 OR ?10 THEN ?3 ELSE processing_at END,"
    " completed_at = CASE WHEN ?2 = 2 OR ?2 = 3 OR ?2 = 7 THEN ?3 ELSE completed_at END,"
    " refund_pending_at = CASE WHEN ?2 = 4 THEN ?3 ELSE refund_pending_at END,"
    // A refund that failed and is credited later keeps its closing time; updated_at has the time of
    // the credit.
    " refund_closed_at = CASE WHEN ?2 IN (5, 6) THEN coalesce(refund_closed_at, ?3)"
    " ELSE refund_closed_at END,"
    " failure = coalesce(?4, failure), receiving_amount = coalesce(?5, receiving_amount),"
    " path = coalesce(?6, path), refund_failure = coalesce(?8, refund_failure)"
    " WHERE payment = ?1 AND status = ?7";
static_assert(stored(PaymentStatus::processing) == 1);
static_assert(stored(PaymentStatus::succeeded) == 2);
static_assert(stored(PaymentStatus::failed) == 3);
static_assert(stored(PaymentStatus::refund_pending) == 4);
static_assert(stored(PaymentStatus::refunded) == 5);
static_assert(stored(PaymentStatus::refund_failed) == 6);
static_assert(stored(PaymentStatus::expired) == 7);
constexpr const char* kAcceptedAt = "SELECT created_at FROM payments WHERE payment = ?";
constexpr const char* kAddJob = "INSERT INTO settlement_jobs (due_at, payment) VALUES (?, ?)";
constexpr const char* kRemoveJob = "DELETE FROM settlement_jobs WHERE due_at = ? AND payment = ?";
// 1 s, 2 s, 4 s ... up to about 17 minutes.
constexpr const char* kPostponeJob =
    "UPDATE settlement_jobs SET attempts = attempts + 1,"
    " due_at = ?3 + (1000 << min(attempts, 10)) WHERE due_at = ?1 AND payment = ?2";
constexpr const char* kHasJob = "SELECT 1 FROM settlement_jobs WHERE due_at = ? AND payment = ?";
constexpr const char* kDueJobs =
    "SELECT due_at, payment FROM settlement_jobs WHERE due_at <= ? ORDER BY due_at, payment LIMIT "
    "?";
constexpr const char* kNextDue =
    "SELECT due_at FROM settlement_jobs ORDER BY due_at, payment LIMIT 1";
constexpr const char* kCountJobs = "SELECT count(*) FROM settlement_jobs";

std::optional<AssetCode> optional_code(const Query& q, int column) {
  return q.is_null(column) ? std::nullopt : AssetCode::parse(q.text(column));
}

constexpr std::int64_t kNobody = 0;

std::int64_t notify_column(const PaymentRequest& request) {
  if (request.notify_email) return static_cast<std::int64_t>(NotificationChannel::email);
  if (request.notify_whatsapp) return static_cast<std::int64_t>(NotificationChannel::messaging);
  return kNobody;
}

std::optional<NotificationChannel> optional_channel(const Query& q, int column) {
  if (q.integer(column) == kNobody) return std::nullopt;
  return q.enumeration<NotificationChannel>(column);
}

void read_parties(const Query& q, PaymentRecord& r) {
  r.request.beneficiary = q.optional_id<BeneficiaryId>(32);
  r.request.destination = q.optional_id<DestinationId>(33);
  r.request.quote = q.optional_id<QuoteId>(35);
}

void read_provider(const Query& q, PaymentRecord& r) {
  ProviderPart& part = r.provider.emplace();
  part.connector = q.id<ConnectorId>(34);
  part.direction = q.enumeration<Direction>(36);
  part.currency = q.text(37);
  part.currency_decimals = static_cast<int>(q.integer(38));
  part.fee = q.amount(39);
  part.total = q.amount(40);
  part.state = q.enumeration<ProviderState>(41);
  part.in_review = q.boolean(42);
  part.expires_at = q.optional_time(43);
  part.provider_reference = q.optional_text(44);
  part.collected = q.optional_amount(52);
  part.quoted_receiving = q.optional_amount(53);
  if (!q.is_null(45)) r.request.compliance = Compliance{q.text(45), q.text(46), q.text(47)};
  if (!q.is_null(48)) r.request.payer = Payer{q.text(48), q.optional_text(49), q.optional_text(50)};
}

std::map<std::string, std::string> read_texts(Connection& db, const char* sql, std::int64_t key) {
  std::map<std::string, std::string> out;
  Query q(db, sql, key);
  while (q.step()) out[q.text(0)] = q.text(1);
  return out;
}

/// The parts of a record that are in its own row.
PaymentRecord record_row(const Query& q) {
  PaymentRecord r;
  r.key = q.integer(0);
  r.id = q.id<PaymentId>(1);
  r.tenant = q.integer(2);
  r.application = q.integer(3);
  r.request_id = q.text(4);
  r.request.transaction_id = q.text(5);
  r.request.type = q.enumeration<PaymentType>(6);
  r.status = q.enumeration<PaymentStatus>(7);
  r.version = static_cast<int>(q.integer(8));
  r.sending_asset = optional_code(q, 11);
  r.sending_decimals = q.is_null(12) ? Amount::kScale : static_cast<int>(q.integer(12));
  r.sending_amount = q.optional_amount(13);
  r.request.receiving_asset = optional_code(q, 14);
  if (!q.is_null(15)) r.receiving_decimals = static_cast<int>(q.integer(15));
  r.receiving_amount = q.optional_amount(16);
  r.request.min_receiving = q.optional_amount(17);
  r.path = q.optional_text(18);
  r.request.memo = q.optional_text(22);
  const auto notify = optional_channel(q, 23);
  r.request.notify_email = notify == NotificationChannel::email;
  r.request.notify_whatsapp = notify == NotificationChannel::messaging;
  if (!q.is_null(24)) r.failure = q.enumeration<FailureCode>(24);
  if (!q.is_null(51)) r.refund_failure = q.enumeration<FailureCode>(51);
  r.created_at = q.time(25);
  r.processing_at = q.optional_time(26);
  r.completed_at = q.optional_time(27);
  r.refund_pending_at = q.optional_time(28);
  r.refund_closed_at = q.optional_time(29);
  r.updated_at = q.time(30);
  if (!q.is_null(31)) r.ledger_hash = q.blob(31);
  read_parties(q, r);
  if (!q.is_null(34)) read_provider(q, r);
  if (r.request.type != PaymentType::p2p_own_multi) {
    // The sending side of a collection is a currency.
    if (!r.sending_asset && r.provider) r.sending_asset = AssetCode::parse(r.provider->currency);
    if (!r.sending_asset || !r.sending_amount)
      throw InternalError("a single payment sends nothing");
    if (q.is_null(12) && r.provider) r.sending_decimals = r.provider->currency_decimals;
    r.request.legs.push_back({q.optional_id<WalletId>(9),
                              q.optional_id<WalletId>(10),
                              *r.sending_asset,
                              *r.sending_amount,
                              {q.optional_text(19), q.optional_text(20)},
                              q.optional_text(21)});
    r.leg_decimals.push_back(r.sending_decimals);
  }
  return r;
}

void read_legs(Connection& db, PaymentRecord& record) {
  Query q(db, kLegs, record.key);
  while (q.step()) {
    record.request.legs.push_back({q.id<WalletId>(0),
                                   q.id<WalletId>(1),
                                   *AssetCode::parse(q.text(2)),
                                   q.amount(4),
                                   {q.optional_text(5), q.optional_text(6)},
                                   q.optional_text(7)});
    record.leg_decimals.push_back(static_cast<int>(q.integer(3)));
  }
}

template <class... Args>
std::optional<PaymentRecord> one_record(Connection& db, const char* sql, const Args&... args) {
  std::optional<PaymentRecord> record;
  {
    Query query(db, sql, args...);
    if (query.step()) record = record_row(query);
  }
  if (record && record->request.type == PaymentType::p2p_own_multi) read_legs(db, *record);
  if (record && record->provider) {
    record->request.additional_fields = read_texts(db, kFields, record->key);
    record->provider->instructions = read_texts(db, kInstructions, record->key);
  }
  return record;
}

Timestamp accepted_at(Connection& db, std::int64_t payment) {
  Query query(db, kAcceptedAt, payment);
  COFFER_CHECK(query.step());
  return query.time(0);
}

std::optional<std::int64_t> or_null(Amount amount) {
  return amount.is_zero() ? std::nullopt : std::optional(amount.units());
}

/// Bytes of the rows that acceptance writes, for the tenant's quota.
std::int64_t bytes_of(const NewPayment& payment) {
  const PaymentRequest& request = payment.request;
  // The transactionId is stored in an index too.
  std::size_t texts = 2 * request.transaction_id.size() + payment.request_id.size();
  texts += request.memo.value_or("").size();
  for (const TransferLeg& leg : request.legs) texts += leg.description.value_or("").size();
  for (const auto& [name, value] : request.additional_fields) texts += name.size() + value.size();
  const bool multi = request.type == PaymentType::p2p_own_multi;
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
  const auto of = [](const auto& owner, auto member) {
    using Value = std::decay_t<decltype((*owner).*member)>;
    return owner ? std::optional<Value>((*owner).*member) : std::optional<Value>();
  };
  const auto& payer = request.payer;
  tx.db().run(kInsertProvider, key, payment.provider->fee, payment.provider->total,
              payment.provider->type, of(request.compliance, &Compliance::purpose_of_payment),
              of(request.compliance, &Compliance::source_of_funds),
              of(request.compliance, &Compliance::relationship), of(payer, &Payer::name),
              payer ? payer->account_number : std::nullopt, payer ? payer->phone : std::nullopt);
  for (const auto& [name, value] : request.additional_fields) {
    tx.db().run(kInsertField, key, name, value);
  }
}

}  // namespace

std::optional<PaymentRecord> find_by_transaction_id(Connection& db, const Tenant& tenant,
                                                    std::string_view transaction_id) {
  // In two steps, because every acceptance checks and nearly always finds nothing.
  std::int64_t key = 0;
  {
    Query query(db, kKeyByTransactionId, tenant.key, transaction_id);
    if (!query.step()) return std::nullopt;
    key = query.integer(0);
  }
  return find_payment_by_key(db, key);
}

std::optional<PaymentRecord> find_payment(Connection& db, const Tenant& tenant, PaymentId id) {
  return one_record(db, kById, tenant.key, id);
}

std::optional<PaymentRecord> find_payment_by_key(Connection& db, std::int64_t payment) {
  return one_record(db, kByKey, payment);
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
  const bool multi = request.type == PaymentType::p2p_own_multi;
  const TransferLeg& leg = request.only();
  const PaymentKeys& keys = payment.keys;
  const PaymentKeys::Leg& first = keys.legs.front();
  const auto single = [&](const auto& value) {
    return multi ? std::decay_t<decltype(value)>() : value;
  };
  const Amount receiving = payment.provider ? payment.provider->receiving : Amount();
  tx.db().run(
      kInsert, tenant.key, payment.id, request.transaction_id, payment.application,
      payment.request_id, request.type, PaymentStatus::initiated, single(first.source_wallet),
      single(first.destination_wallet), payment.total ? first.asset : std::nullopt, payment.total,
      keys.receiving_asset, or_null(receiving), request.min_receiving, single(leg.refs.from_ref),
      single(leg.refs.to_ref), single(leg.description), request.memo, notify_column(request),
      keys.beneficiary, keys.destination, keys.connector, keys.quote, tx.now(), tx.now());
  const std::int64_t key = tx.db().last_insert_key();
  if (multi) insert_legs(tx, key, payment);
  if (payment.provider) insert_provider(tx, key, payment);
  if (keys.connector && keys.destination) {
    count_sent(tx, {*keys.connector, *keys.destination, leg.amount});
  }
  tx.quotas().add_bytes(tenant.key, bytes_of(payment));
  return key;
}

SettlementView settlement_view(Connection& db, std::int64_t payment) {
  SettlementView view;
  view.key = payment;
  {
    Query q(db, kSettlementView, payment);
    COFFER_CHECK(q.step());
    view.tenant = q.integer(0);
    view.environment = q.enumeration<Environment>(1);
    view.type = q.enumeration<PaymentType>(2);
    view.status = q.enumeration<PaymentStatus>(3);
    view.version = static_cast<int>(q.integer(4));
    view.receiving_asset = q.optional_integer(5);
    view.min_receiving = q.optional_amount(6);
    if (view.type != PaymentType::p2p_own_multi) {
      view.keys.legs.push_back(
          {q.optional_integer(7), q.optional_integer(8), q.optional_integer(9)});
      view.amounts.push_back(q.amount(10));
    }
    view.keys.beneficiary = q.optional_integer(11);
    view.keys.destination = q.optional_integer(12);
    view.keys.connector = q.optional_integer(13);
    view.keys.quote = q.optional_integer(14);
    view.receiving_amount = q.optional_amount(15);
    view.notify = optional_channel(q, 16);
  }
  view.keys.receiving_asset = view.receiving_asset;
  if (view.type == PaymentType::p2p_own_multi) {
    Query q(db, kLegKeys, payment);
    while (q.step()) {
      view.keys.legs.push_back({q.integer(0), q.integer(1), q.integer(2)});
      view.amounts.push_back(q.amount(3));
    }
  }
  return view;
}

void change_status(WriteTx& tx, SettlementView& payment, const StatusChange& change) {
  COFFER_CHECK(may_change(payment.status, change.to));
  tx.db().run(kChangeStatus, payment.key, change.to, tx.now(), change.failure,
              change.receiving_amount, change.path, payment.stored_status.value_or(payment.status),
              change.refund_failure, payment.version + 1, payment.stored_status.has_value());
  COFFER_CHECK(tx.db().changes() == 1);
  payment.stored_status.reset();
  const PaymentKeys& keys = payment.keys;
  if (keys.connector && keys.destination && counts_towards_limits(payment.status) &&
      !counts_towards_limits(change.to)) {
    uncount_sent(tx, {*keys.connector, *keys.destination, payment.amounts.front()},
                 accepted_at(tx.db(), payment.key));
  }
  payment.status = change.to;
  ++payment.version;
}

void pass_processing(SettlementView& payment) {
  COFFER_CHECK(payment.status == PaymentStatus::initiated && !payment.stored_status);
  payment.stored_status = payment.status;
  payment.status = PaymentStatus::processing;
  ++payment.version;
}

void add_settlement_job(WriteTx& tx, const SettlementJob& job) {
  tx.db().run(kAddJob, job.due_at, job.payment);
}

void remove_settlement_job(WriteTx& tx, const SettlementJob& job) {
  COFFER_CHECK(take_settlement_job(tx, job));
}

bool take_settlement_job(WriteTx& tx, const SettlementJob& job) {
  tx.db().run(kRemoveJob, job.due_at, job.payment);
  return tx.db().changes() == 1;
}

void postpone_settlement_job(WriteTx& tx, const SettlementJob& job) {
  tx.db().run(kPostponeJob, job.due_at, job.payment, tx.now());
}

bool has_settlement_job(Connection& db, const SettlementJob& job) {
  return Query(db, kHasJob, job.due_at, job.payment).step();
}

std::vector<SettlementJob> due_settlement_jobs(Connection& db, Timestamp now, int limit) {
  std::vector<SettlementJob> out;
  Query query(db, kDueJobs, now, limit);
  while (query.step()) out.push_back({query.time(0), query.integer(1)});
  return out;
}

std::optional<Timestamp> next_settlement_due(Connection& db) {
  Query query(db, kNextDue);
  return query.step() ? std::optional(query.time(0)) : std::nullopt;
}

std::int64_t count_settlement_jobs(Connection& db) {
  Query query(db, kCountJobs);
  return query.step() ? query.integer(0) : 0;
}

}  // namespace coffer::store
