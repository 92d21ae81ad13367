#include "store/identity/passkeys.h"

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<PasskeyRow> kPasskeyColumns[] = {
    joined<&PasskeyRow::operator_id>("o.id"),
    joined_blob<&PasskeyRow::credential>("p.credential"),
    joined<&PasskeyRow::site>("p.site"),
    joined_blob<&PasskeyRow::public_key>("p.public_key"),
    joined<&PasskeyRow::sign_count>("p.sign_count"),
    joined<&PasskeyRow::name>("p.name"),
    joined<&PasskeyRow::created_at>("p.created_at"),
    joined<&PasskeyRow::used_at>("p.used_at"),
};
const std::string kPasskeys =
    select(kPasskeyColumns) + " FROM operator_passkeys p JOIN operators o USING (operator)";
const std::string kOfOperator = kPasskeys + " WHERE o.id = ? ORDER BY p.passkey";
const std::string kByCredential = kPasskeys + " WHERE p.credential = ?";
constexpr const char* kInsertPasskey =
    "INSERT INTO operator_passkeys (operator, credential, site, public_key, sign_count, name,"
    " created_at) VALUES ((SELECT operator FROM operators WHERE id = ?), ?, ?, ?, ?, ?, ?)";
constexpr const char* kDropPasskeys =
    "DELETE FROM operator_passkeys WHERE operator = (SELECT operator FROM operators WHERE id = ?)";

constexpr const char* kPasskeyRow = "SELECT passkey FROM operator_passkeys WHERE credential = ?";

}  // namespace

std::vector<PasskeyRow> list_passkeys(Connection& db, OperatorId id) {
  return all_rows<PasskeyRow>(Query(db, kOfOperator.c_str(), id), kPasskeyColumns);
}

std::optional<PasskeyRow> find_passkey(Connection& db, std::string_view credential) {
  require_intact(db, "operator_passkeys", first_integer(db, kPasskeyRow, Blob{credential}),
                 {{"credential", credential}});
  return first_row<PasskeyRow>(db, kByCredential, kPasskeyColumns, Blob{credential});
}

void insert_passkey(WriteTx& tx, const PasskeyRow& row) {
  tx.db().run(kInsertPasskey, row.operator_id, Blob{row.credential}, row.site, Blob{row.public_key},
              static_cast<std::int64_t>(row.sign_count), row.name, tx.now());
}

void set_passkey_used(WriteTx& tx, std::string_view credential, std::uint32_t sign_count) {
  tx.db().run("UPDATE operator_passkeys SET sign_count = ?, used_at = ? WHERE credential = ?",
              static_cast<std::int64_t>(sign_count), tx.now(), Blob{credential});
}

void delete_passkey(WriteTx& tx, std::string_view credential) {
  tx.db().run("DELETE FROM operator_passkeys WHERE credential = ?", Blob{credential});
}

void delete_passkeys(WriteTx& tx, OperatorId id) { tx.db().run(kDropPasskeys, id); }

}  // namespace coffer::store
