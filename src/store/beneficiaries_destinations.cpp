// The destinations of beneficiaries.
#include <map>

#include "base/check.h"
#include "store/beneficiaries.h"
#include "store/identity/row_bytes.h"

namespace coffer::store {
namespace {

#define DESTINATION_COLUMNS                                                                     \
  "SELECT d.destination, d.id, d.beneficiary, b.id, d.method, d.country, d.currency, d.label,"  \
  " d.account_name, d.account_number, d.iban, d.bank_name, d.bank_code, d.branch_code,"         \
  " d.swift_bic, d.provider, d.phone_number, d.network_name, d.asset_symbol, d.wallet_address," \
  " d.memo, d.created_at, d.archived_at FROM destinations d"                                    \
  " JOIN beneficiaries b ON b.beneficiary = d.beneficiary"
constexpr const char* kFind = DESTINATION_COLUMNS
    " WHERE d.id = ? AND d.tenant = ? ORDER BY d.archived_at IS NULL DESC, d.destination DESC "
    "LIMIT 1";
constexpr const char* kFindByKey = DESTINATION_COLUMNS " WHERE d.destination = ?";
constexpr const char* kOfBeneficiary = DESTINATION_COLUMNS
    " WHERE d.beneficiary = ?1 AND d.archived_at IS NULL AND (?2 IS NULL OR d.method = ?2)";
#undef DESTINATION_COLUMNS

constexpr const char* kFirstOfId = "SELECT min(destination) FROM destinations WHERE id = ?";
constexpr const char* kInsert =
    "INSERT INTO destinations (beneficiary, tenant, id, method, country, currency, label,"
    " account_name, account_number, iban, bank_name, bank_code, branch_code, swift_bic, provider,"
    " phone_number, network_name, asset_symbol, wallet_address, memo, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
constexpr const char* kArchive =
    "UPDATE destinations SET archived_at = ?"
    " WHERE destination = ? AND tenant = ? AND archived_at IS NULL";

DestinationRow destination_row(const Query& q) {
  DestinationRow row;
  row.key = q.integer(0);
  row.id = q.id<DestinationId>(1);
  row.beneficiary = q.integer(2);
  row.beneficiary_id = q.id<BeneficiaryId>(3);
  row.detail.method = q.enumeration<DestinationMethod>(4);
  row.detail.country = q.optional_text(5).value_or("");
  row.detail.currency = q.optional_text(6).value_or("");
  row.detail.label = q.optional_text(7);
  switch (row.detail.method) {
    case DestinationMethod::bank:
      row.detail.details = BankDetails{
          q.text(8),           q.optional_text(9),  q.optional_text(10), q.optional_text(11),
          q.optional_text(12), q.optional_text(13), q.optional_text(14)};
      break;
    case DestinationMethod::mobile_money:
      row.detail.details = MobileMoneyDetails{q.text(15), q.text(16), q.optional_text(8)};
      break;
    case DestinationMethod::crypto:
      row.detail.details = CryptoDetails{q.text(17), q.text(18), q.text(19), q.optional_text(20)};
      break;
  }
  row.created_at = q.time(21);
  row.archived = !q.is_null(22);
  return row;
}

/// The columns of every method; those of the others stay NULL.
struct DetailColumns {
  std::optional<std::string> account_name, account_number, iban, bank_name, bank_code, branch_code,
      swift_bic, provider, phone_number, network_name, asset_symbol, wallet_address, memo;
};

DetailColumns columns_of(const Destination& detail) {
  if (const auto* bank = std::get_if<BankDetails>(&detail.details)) {
    return {.account_name = bank->account_name,
            .account_number = bank->account_number,
            .iban = bank->iban,
            .bank_name = bank->bank_name,
            .bank_code = bank->bank_code,
            .branch_code = bank->branch_code,
            .swift_bic = bank->swift_bic};
  }
  if (const auto* mobile = std::get_if<MobileMoneyDetails>(&detail.details)) {
    return {.account_name = mobile->account_name,
            .provider = mobile->provider,
            .phone_number = mobile->phone_number};
  }
  const auto& crypto = std::get<CryptoDetails>(detail.details);
  return {.network_name = crypto.network_name,
          .asset_symbol = crypto.asset_symbol,
          .wallet_address = crypto.wallet_address,
          .memo = crypto.memo};
}

/// A crypto destination may be in no country and take no currency.
std::optional<std::string> or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

std::optional<DestinationRow> find_destination(Connection& db, const Tenant& tenant,
                                               DestinationId id) {
  Query query(db, kFind, id, tenant.key);
  return query.step() ? std::optional(destination_row(query)) : std::nullopt;
}

std::optional<DestinationRow> find_destination_by_key(Connection& db, std::int64_t key) {
  Query query(db, kFindByKey, key);
  return query.step() ? std::optional(destination_row(query)) : std::nullopt;
}

std::vector<DestinationRow> destinations_of(Connection& db, std::int64_t beneficiary,
                                            std::optional<DestinationMethod> method) {
  // By the first row of each id: a destination that was replaced keeps its place.
  std::map<std::int64_t, DestinationRow> in_order;
  Query query(db, kOfBeneficiary, beneficiary, method);
  while (query.step()) {
    DestinationRow row = destination_row(query);
    const auto first = first_integer(db, kFirstOfId, row.id);
    in_order.emplace(first.value_or(row.key), std::move(row));
  }
  std::vector<DestinationRow> out;
  for (auto& [first, row] : in_order) out.push_back(std::move(row));
  return out;
}

void insert_destination(WriteTx& tx, const Tenant& tenant, DestinationRow& row) {
  const DetailColumns detail = columns_of(row.detail);
  if (row.created_at == Timestamp{}) row.created_at = tx.now();
  Query(tx.db(), kInsert, row.beneficiary, tenant.key, row.id, row.detail.method,
        or_null(row.detail.country), or_null(row.detail.currency), row.detail.label,
        detail.account_name, detail.account_number, detail.iban, detail.bank_name, detail.bank_code,
        detail.branch_code, detail.swift_bic, detail.provider, detail.phone_number,
        detail.network_name, detail.asset_symbol, detail.wallet_address, detail.memo,
        row.created_at)
      .run();
  row.key = tx.db().last_insert_key();
  tx.quotas().add(tenant.key, Quota::destinations, 1);
  tx.quotas().add_bytes(tenant.key, row_bytes::kDestination);
}

void archive_destination(WriteTx& tx, const Tenant& tenant, const DestinationRow& row) {
  Query(tx.db(), kArchive, tx.now(), row.key, tenant.key).run();
  COFFER_CHECK(tx.db().changes() == 1);
  tx.quotas().add(tenant.key, Quota::destinations, -1);
}

}  // namespace coffer::store
