#include "store/identity/passkeys.h"

namespace coffer::store {
namespace {

#define PASSKEY_COLUMNS                                                                  \
  "SELECT o.id, p.credential, p.site, p.public_key, p.sign_count, p.name, p.created_at," \
  " p.used_at FROM operator_passkeys p JOIN operators o USING (operator)"
constexpr const char* kOfOperator = PASSKEY_COLUMNS " WHERE o.id = ? ORDER BY p.passkey";
constexpr const char* kByCredential = PASSKEY_COLUMNS " WHERE p.credential = ?";
#undef PASSKEY_COLUMNS
constexpr const char* kInsertPasskey =
    "INSERT INTO operator_passkeys (operator, credential, site, public_key, sign_count, name,"
    " created_at) VALUES ((SELECT operator FROM operators WHERE id = ?), ?, ?, ?, ?, ?, ?)";
constexpr const char* kSetUsed =
    "UPDATE operator_passkeys SET sign_count = ?, used_at = ? WHERE credential = ?";
constexpr const char* kDropPasskey = "DELETE FROM operator_passkeys WHERE credential = ?";
constexpr const char* kDropPasskeys =
    "DELETE FROM operator_passkeys WHERE operator = (SELECT operator FROM operators WHERE id = ?)";

PasskeyRow passkey_row(const Query& query) {
  PasskeyRow row;
  row.operator_id = query.id<OperatorId>(0);
  row.credential = query.blob(1);
  row.site = query.text(2);
  row.public_key = query.blob(3);
  row.sign_count = static_cast<std::uint32_t>(query.integer(4));
  row.name = query.text(5);
  row.created_at = query.time(6);
  if (!query.is_null(7)) row.used_at = query.time(7);
  return row;
}

}  // namespace

std::vector<PasskeyRow> list_passkeys(Connection& db, OperatorId id) {
  std::vector<PasskeyRow> out;
  Query query(db, kOfOperator, id);
  while (query.step()) out.push_back(passkey_row(query));
  return out;
}

std::optional<PasskeyRow> find_passkey(Connection& db, std::string_view credential) {
  Query query(db, kByCredential, Blob{credential});
  return query.step() ? std::optional(passkey_row(query)) : std::nullopt;
}

void insert_passkey(WriteTx& tx, const PasskeyRow& row) {
  tx.db().run(kInsertPasskey, row.operator_id, Blob{row.credential}, row.site, Blob{row.public_key},
              static_cast<std::int64_t>(row.sign_count), row.name, tx.now());
}

void set_passkey_used(WriteTx& tx, std::string_view credential, std::uint32_t sign_count) {
  tx.db().run(kSetUsed, static_cast<std::int64_t>(sign_count), tx.now(), Blob{credential});
}

void delete_passkey(WriteTx& tx, std::string_view credential) {
  tx.db().run(kDropPasskey, Blob{credential});
}

void delete_passkeys(WriteTx& tx, OperatorId id) { tx.db().run(kDropPasskeys, id); }

}  // namespace coffer::store
