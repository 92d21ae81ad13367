#include "store/payments/payment_seal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/numbers.h"
#include "base/telemetry/log.h"
#include "store/commits/write_tx.h"
#include "store/file/chain_keys.h"
#include "store/payments/open_payments.h"
#include "store/payments/payments.h"
#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"
#include "store/rows/sealed_totals.h"

namespace coffer::store {
namespace {

constexpr std::string_view kStateColumns =
    "status, version, failure, refund_failure, receiving_amount, path, processing_after,"
    " completed_after, updated_after, refund_pending_at, refund_closed_at, corrected_at,"
    " corrected_from, refunded_amount";

/// Rows and columns of a payment that never change after its acceptance.
struct PaymentPart {
  std::string_view columns;
  std::string_view from;
  unsigned types;  // types of the payments that have such rows: one bit per PaymentType
};
constexpr unsigned kWithLegs = values_that(has_legs);
constexpr unsigned kOnReference = 1U << stored(PaymentType::onramp_reference);
constexpr unsigned kThroughProvider = values_that(is_through_provider);
constexpr std::string_view kRowColumns =
    "type, id, transaction_id, application, request_id, source_wallet, destination_wallet,"
    " sending_asset, sending_amount, receiving_asset, min_receiving, from_ref, to_ref,"
    " description, memo, notify, created_at, beneficiary, destination, connector, quote, metadata";
constexpr std::array<PaymentPart, 5> kPaymentParts{{
    {"leg, source_wallet, destination_wallet, asset, amount, from_ref, to_ref, description",
     " FROM payment_legs WHERE payment = ? ORDER BY leg", kWithLegs},
    {"account, amount", " FROM holds WHERE payment = ? ORDER BY account", kWithLegs},
    {"fee, total, transaction_type, purpose_of_payment, source_of_funds, relationship, payer_name,"
     " payer_account, payer_phone, arrived_currency",
     " FROM provider_payments WHERE payment = ?", kThroughProvider},
    {"name, value", " FROM payment_fields WHERE payment = ? ORDER BY name", kThroughProvider},
    {"connector, provider_payment_id, onramp_reference",
     " FROM reference_payments WHERE payment = ?", kOnReference},
}};

constexpr std::string_view kPartColumns =
    "state, in_review, attempts, first_sent_at, expires_at, provider_reference,"
    " connector_endpoint, collected_amount, open_item";
const std::string kProviderPart = "SELECT mac, revision, " + std::string(kPartColumns) +
                                  " FROM provider_payments WHERE payment = ?";
constexpr const char* kSealedInstructions =
    "SELECT name, value FROM payment_instructions WHERE payment = ? ORDER BY name";
constexpr const char* kSealProviderPart =
    "UPDATE provider_payments SET mac = ?2, revision = ?3 WHERE payment = ?1";
constexpr const char* kRevision = "SELECT revision FROM provider_payments WHERE payment = ?";
constexpr const char* kSealPayment = "UPDATE payments SET mac = ?2 WHERE payment = ?1";

const std::string kOneSealed =
    "SELECT " + std::string(sealed_payment_columns()) + " FROM payments p WHERE p.payment = ?";
const std::string kSealedRange =
    "SELECT p.payment, " + std::string(sealed_payment_columns()) +
    " FROM payments p WHERE p.payment BETWEEN ? AND ? ORDER BY p.payment";
constexpr const char* kSealedLastSet =
    "SELECT journal, link FROM journal ORDER BY journal DESC LIMIT 1";
constexpr const char* kSealedLastPayment = "SELECT coalesce(max(payment), 0) FROM payments";
constexpr std::size_t kLinkBytes = 32;
constexpr std::size_t kUsualTextBytes = 320;

std::string truncated(const Sha256& digest) {
  return std::string(as_text(digest).substr(0, kPaymentDigestBytes));
}

std::string header(std::string_view what, std::int64_t payment, std::int64_t number) {
  std::string out(what);
  append_number(out, payment);
  out += '|';
  append_number(out, number);
  return out += '|';
}

template <class T>
void append_value(std::string& out, const T& value) {
  if constexpr (columns::is_optional<T>) {
    value ? append_value(out, *value) : void(out += '-');
  } else if constexpr (std::is_convertible_v<T, std::string_view>) {
    const std::string_view bytes = value;
    append_number(out, bytes.size());
    (out += ':') += bytes;
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    append_value(out, value.ms);
  } else if constexpr (std::is_same_v<T, Amount>) {
    append_value(out, value.units());
  } else {
    std::array<char, 20> digits;  // of any 64-bit integer
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                   static_cast<std::int64_t>(value));
    append_value(out, std::string_view(digits.data(), end.ptr));
  }
}

std::string text_of(const PaymentState& state) {
  std::string out;
  const auto add = [&](const auto&... values) { (append_value(out, values), ...); };
  add(state.status, state.version, state.failure, state.refund_failure, state.receiving_amount,
      state.path, state.processing_after, state.completed_after, state.updated_after,
      state.refund_pending_at, state.refund_closed_at, state.corrected_at, state.corrected_from,
      state.refunded);
  return out;
}

/// The statements of the parts, built once; their addresses identify them.
const std::string& part_statement(std::size_t part) {
  static const auto all = [] {
    std::array<std::string, kPaymentParts.size()> out;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] =
          "SELECT " + std::string(kPaymentParts[i].columns) + std::string(kPaymentParts[i].from);
    }
    return out;
  }();
  return all[part];
}

void append_parts(Connection& db, std::int64_t payment, unsigned type, std::string& text) {
  for (std::size_t part = 0; part < kPaymentParts.size(); ++part) {
    if ((kPaymentParts[part].types & type) == 0) continue;
    Query rows(db, part_statement(part).c_str(), payment);
    while (rows.step()) {
      append_canonical(rows, 0, count_names(kPaymentParts[part].columns), text);
      text += '\n';
    }
  }
}

std::string digest_of(const ChainKeys& keys, const SealedPayment& payment) {
  return truncated(keys.rows.of(header("payment|", payment.key, payment.tenant) + payment.text,
                                text_of(payment.state)));
}

[[noreturn]] void refuse(std::int64_t payment) {
  throw ForeignChange("payment " + std::to_string(payment) +
                      " was inserted or changed by another program");
}

/// The revision of the provider part, and whether its digest is correct.
struct ProviderPartSeal {
  std::string stored;
  std::string computed;
  std::int64_t revision = 0;
};
std::optional<ProviderPartSeal> provider_part_seal(Connection& db, std::int64_t payment,
                                                   std::int64_t revisions_more) {
  ProviderPartSeal out;
  std::string text;
  {
    Query row(db, kProviderPart.c_str(), payment);
    if (!row.step()) return std::nullopt;
    out.stored = row.blob(0);
    out.revision = row.integer(1) + revisions_more;
    text = header("provider|", payment, out.revision);
    append_canonical(row, 2, count_names(kPartColumns), text);
  }
  Query rows(db, kSealedInstructions, payment);
  while (rows.step()) append_canonical(rows, 0, 2, text += '\n');
  const ChainKeys* keys = keys_of(db);
  out.computed = keys == nullptr ? out.stored : truncated(keys->rows.of(text));
  return out;
}

SealedTotal total_of(const ChainHead& head, const OpenPayments& open) {
  return {head.journal, head.link + header("|", head.payments, head.versions) +
                            header("", open.count(), open.versions())};
}

bool is_open(PaymentStatus status) {
  return !is_settled(status) || status == PaymentStatus::refund_pending;
}

/// The numbers of payments and of their versions in the seal.
std::pair<std::int64_t, std::int64_t> numbers_of(const SealedTotal& total) {
  std::pair<std::int64_t, std::int64_t> out{0, 0};
  if (total.sum.size() <= kLinkBytes) return out;
  const char* const end = total.sum.data() + total.sum.size();
  const auto first = std::from_chars(total.sum.data() + kLinkBytes + 1, end, out.first);
  if (first.ptr != end) std::from_chars(first.ptr + 1, end, out.second);
  return out;
}

}  // namespace

std::string_view sealed_payment_columns() {
  static const std::string all = [] {
    std::string out =
        "p.tenant, p.mac, " + std::string(kStateColumns) + ", " + std::string(kRowColumns);
    return out;
  }();
  return all;
}

SealedPayment read_sealed(const Query& row, int at, std::int64_t payment) {
  SealedPayment out;
  out.key = payment;
  out.tenant = row.integer(at);
  out.mac = row.blob(at + 1);
  constexpr Column<PaymentState> kSealedState[] = {
      joined<&PaymentState::status>(""),           joined<&PaymentState::version>(""),
      joined<&PaymentState::failure>(""),          joined<&PaymentState::refund_failure>(""),
      joined<&PaymentState::receiving_amount>(""), joined<&PaymentState::path>(""),
      joined<&PaymentState::processing_after>(""), joined<&PaymentState::completed_after>(""),
      joined<&PaymentState::updated_after>(""),    joined<&PaymentState::refund_pending_at>(""),
      joined<&PaymentState::refund_closed_at>(""), joined<&PaymentState::corrected_at>(""),
      joined<&PaymentState::corrected_from>(""),   joined<&PaymentState::refunded>(""),
  };
  out.state = read_row<PaymentState>(row, kSealedState, at + 2);
  constexpr int kTypeAt = 2 + static_cast<int>(std::size(kSealedState));
  constexpr int kCreatedAt = kTypeAt + 16;
  out.type = row.enumeration<PaymentType>(at + kTypeAt);
  out.created_at = row.time(at + kCreatedAt);
  append_canonical(row, at + kTypeAt, count_names(kRowColumns), out.text);
  out.text += '\n';
  return out;
}

void check_sealed(Connection& db, SealedPayment& payment) {
  append_parts(db, payment.key, 1U << stored(payment.type), payment.text);
  const ChainKeys* keys = keys_of(db);
  if (keys != nullptr && digest_of(*keys, payment) != payment.mac) refuse(payment.key);
}

SealedPayment seal_new_payment(Connection& writer, std::int64_t key, std::int64_t tenant,
                               const NewPaymentRow& row, const PaymentState& state) {
  SealedPayment payment{
      .key = key, .tenant = tenant, .type = row.type, .created_at = row.created_at, .state = state};
  payment.text.reserve(kUsualTextBytes);
  const auto add = [&](const auto&... values) { (append_value(payment.text, values), ...); };
  add(row.type, as_text(row.id.bytes), row.transaction_id, row.application, row.request_id,
      row.source_wallet, row.destination_wallet, row.sending_asset, row.sending_amount,
      row.receiving_asset, row.min_receiving, row.from_ref, row.to_ref, row.description, row.memo,
      row.notify, row.created_at, row.beneficiary, row.destination, row.connector, row.quote,
      row.metadata);
  payment.text += '\n';
  const ChainKeys* keys = keys_of(writer);
  COFFER_CHECK(keys != nullptr);
  payment.mac = digest_of(*keys, payment);
  return payment;
}

bool has_one_row(PaymentType type) {
  return ((kWithLegs | kThroughProvider) & (1U << stored(type))) == 0;
}

void seal_payment(WriteTx& tx, std::int64_t key, PaymentType type) {
  if (has_one_row(type)) return;
  SealedPayment payment;
  {
    Query row(tx.db(), kOneSealed.c_str(), key);
    COFFER_CHECK(row.step());
    payment = read_sealed(row, 0, key);
  }
  append_parts(tx.db(), key, 1U << stored(payment.type), payment.text);
  tx.db().run(kSealPayment, key, Blob{digest_of(*keys_of(tx.db()), payment)});
}

std::string changed_payment_digest(Connection& writer, const SealedPayment& payment) {
  const ChainKeys* keys = keys_of(writer);
  COFFER_CHECK(keys != nullptr);
  return digest_of(*keys, payment);
}

PaymentState state_after(const SealedPayment& payment, const StatusChange& change, int version,
                         bool passed, Timestamp now) {
  PaymentState out = payment.state;
  const std::int64_t after = now.ms - payment.created_at.ms;
  out.status = change.to;
  out.version = version;
  out.updated_after = after;
  if (passed) out.processing_after = after;
  if (change.refunded) {  // the rows of `refunds` have the times
    out.refunded = change.refunded;
    return out;
  }
  switch (change.to) {
    case PaymentStatus::initiated:
      break;
    case PaymentStatus::processing:
      out.processing_after = after;
      break;
    case PaymentStatus::succeeded:
    case PaymentStatus::failed:
    case PaymentStatus::expired:
      if (out.completed_after) {  // an operator's correction
        out.corrected_at = now;
        out.corrected_from = payment.state.status;
      } else {
        out.completed_after = after;
      }
      break;
    case PaymentStatus::refund_pending:
      out.refund_pending_at = now;
      break;
    case PaymentStatus::refunded:
    case PaymentStatus::refund_failed:
      // A refund that failed and is credited later keeps its closing time; updated_at has the time
      // of the credit.
      if (!out.refund_closed_at) out.refund_closed_at = now;
      break;
  }
  if (change.failure) out.failure = change.failure;
  if (change.refund_failure) out.refund_failure = change.refund_failure;
  if (change.receiving_amount) out.receiving_amount = change.receiving_amount;
  if (change.path) out.path = change.path;
  return out;
}

std::string payment_text(Connection& db, std::int64_t payment) {
  SealedPayment out;
  {
    Query row(db, kOneSealed.c_str(), payment);
    if (!row.step()) return {};
    out = read_sealed(row, 0, payment);
  }
  append_parts(db, payment, 1U << stored(out.type), out.text);
  return out.text;
}

void require_intact_payment(Connection& db, std::int64_t payment) {
  if (keys_of(db) == nullptr) return;
  SealedPayment out;
  {
    Query row(db, kOneSealed.c_str(), payment);
    if (!row.step()) return;
    out = read_sealed(row, 0, payment);
  }
  check_sealed(db, out);
}

bool has_intact_provider_part(Connection& db, std::int64_t payment) {
  const auto seal = provider_part_seal(db, payment, 0);
  return !seal || seal->stored == seal->computed;
}

ChainHead& ledger_head(WriteTx& tx) {
  ChainHead& head = tx.chain_head();
  if (!head.link.empty()) return head;
  head = {0, genesis_link()};
  if (Query query(tx.db(), kSealedLastSet); query.step()) head = {query.integer(0), query.blob(1)};
  head.payments = first_integer(tx.db(), kSealedLastPayment).value_or(0);
  const auto sealed = total_to_change(tx.db(), kLedgerTotal);
  const auto [payments, versions] = numbers_of(sealed.value_or(SealedTotal()));
  head.versions = versions;
  tx.open_payments().load(tx.db());
  head.continues = sealed && *sealed == total_of(head, tx.open_payments());
  if (!head.continues) {
    // Which of the payments in progress another program has added is not known: none is executed.
    tx.open_payments().clear();
    // The number of a payment that is missing is not used again, so the gap remains.
    head.payments = std::max(head.payments, payments);
    log_error("store",
              "another program changed the end of the ledger; it keeps its seal, so that `coffer "
              "verify` finds the change",
              {{"entry_sets", head.journal}, {"payments", head.payments}});
  }
  tx.sealed_head() = head;
  return head;
}

void note_versions(WriteTx& tx, std::int64_t payment, const PaymentState& before,
                   const PaymentState& after) {
  const std::int64_t more = after.version - before.version;
  ledger_head(tx).versions += more;
  OpenPayments& open = tx.open_payments();
  if (!is_open(after.status)) return open.remove(payment);
  if (is_open(before.status)) return open.advance(payment, more);
  open.set(payment, after.version + first_integer(tx.db(), kRevision, payment).value_or(0));
}

void require_open(WriteTx& tx, const SealedPayment& payment) {
  ledger_head(tx);
  if (!is_open(payment.state.status)) return;
  const bool has_part = (kThroughProvider & (1U << stored(payment.type))) != 0;
  const std::int64_t revision =
      has_part ? first_integer(tx.db(), kRevision, payment.key).value_or(0) : 0;
  if (tx.open_payments().contains(payment.key, payment.state.version + revision)) return;
  throw ForeignChange("payment " + std::to_string(payment.key) +
                      " was replaced by an older version of itself");
}

namespace {

void seal_provider_parts(WriteTx& tx) {
  auto& changed = tx.provider_parts();
  if (changed.empty()) return;
  std::ranges::sort(changed);
  const auto rest = std::ranges::unique(changed);
  changed.erase(rest.begin(), rest.end());
  for (const std::int64_t payment : changed) {
    const auto seal = provider_part_seal(tx.db(), payment, 1);
    if (!seal) continue;
    tx.db().run(kSealProviderPart, payment, Blob{seal->computed}, seal->revision);
    ++ledger_head(tx).versions;
    tx.open_payments().advance(payment, 1);
  }
  changed.clear();
}

}  // namespace

void seal_ledger(WriteTx& tx) {
  seal_provider_parts(tx);
  const ChainHead& head = tx.chain_head();
  if (head.link.empty() || !head.continues || head == tx.sealed_head()) return;
  write_total(tx.db(), kLedgerTotal, total_of(head, tx.open_payments()));
  tx.sealed_head() = head;
}

PaymentPiece check_payments(Connection& db, std::int64_t first, std::int64_t last) {
  PaymentPiece out;
  const std::int64_t end = std::min(last, first_integer(db, kSealedLastPayment).value_or(0));
  std::int64_t next = std::max<std::int64_t>(first, 1);
  Query rows(db, kSealedRange.c_str(), first, last);
  while (out.fault.empty() && rows.step()) {
    const std::int64_t key = rows.integer(0);
    if (key != next) break;
    SealedPayment payment = read_sealed(rows, 1, key);
    out.versions += payment.state.version;
    try {
      check_sealed(db, payment);
    } catch (const ForeignChange& change) {
      out.fault = change.what();
    }
    if (const auto seal = provider_part_seal(db, key, 0)) {
      out.versions += seal->revision;
      if (seal->stored != seal->computed) {
        out.fault = "the provider part of payment " + std::to_string(key) +
                    " was changed by another program";
      }
    }
    ++out.rows;
    ++next;
  }
  if (out.fault.empty() && next <= end) {
    out.fault = "payment " + std::to_string(next) + " was deleted by another program";
  }
  return out;
}

std::string ledger_end_fault(Connection& db, std::int64_t payments, std::int64_t versions) {
  if (payments == 0 && has_no_proof(db)) return {};
  const SealedTotal sealed = stored_total(db, kLedgerTotal);
  const auto [number, sum] = numbers_of(sealed);
  if (number != payments) {
    return "there are " + std::to_string(payments) + " payments instead of " +
           std::to_string(number) + ": another program changed them";
  }
  if (sum != versions) {
    return "another program replaced payments by older versions of themselves";
  }
  return total_fault(db, kLedgerTotal, sealed);
}

std::string journal_end_fault(Connection& db, std::int64_t journal, std::string_view link) {
  if (has_no_proof(db)) return {};
  const SealedTotal sealed = stored_total(db, kLedgerTotal);
  if (sealed.rows != journal) {
    return "the journal has " + std::to_string(journal) + " rows instead of " +
           std::to_string(sealed.rows) + ": another program changed it";
  }
  if (sealed.sum.substr(0, kLinkBytes) != link) {
    return "the journal ends with another row than coffer wrote";
  }
  return total_fault(db, kLedgerTotal, sealed);
}

}  // namespace coffer::store
