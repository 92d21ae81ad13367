#include "store/identity/users.h"

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr Column<UserRow> kUserColumns[] = {
    joined<&UserRow::id>("u.id"),
    joined<&UserRow::association>("a.id"),
    joined<&UserRow::username>("u.username"),
    changing(column<&UserRow::password_hash>("u.password_hash")),
    changing(blob_column<&UserRow::sealed_otp>("u.sealed_otp")),
    changing(column<&UserRow::otp_step>("u.otp_step")),
    changing(column<&UserRow::suspended>("u.suspended")),
    changing(column<&UserRow::key_version>("u.key_version")),
    joined<&UserRow::created_at>("u.created_at"),
    joined<&UserRow::updated_at>("u.updated_at"),
};
const std::string kSelectUser =
    select(kUserColumns) + " FROM users u JOIN associations a ON a.association = u.association";
constexpr KeyIndex kUsers = COFFER_KEY_INDEX("user", "users", "true");
const std::string kUserByKey = kSelectUser + " WHERE u.user = ?";
const std::string kUserById = kSelectUser + " WHERE u.id = ?";
const std::string kByUsername = kSelectUser + " WHERE u.username = ?";
constexpr const char* kInsertUser =
    "INSERT INTO users (id, association, username, password_hash, sealed_otp, otp_step, suspended,"
    " key_version, created_at, updated_at) VALUES (?1,"
    " (SELECT association FROM associations WHERE id = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)";
const std::string kUpdateUser =
    ColumnList{"updated_at"}.add_changing(kUserColumns).update("users") + " WHERE id = ?";
constexpr const char* kSetStep = "UPDATE users SET otp_step = ? WHERE id = ?";

constexpr const char* kUserNamed = "SELECT user FROM users WHERE username = ?";
constexpr const char* kUserRow = "SELECT user FROM users WHERE id = ?";

constexpr const char* kHas = "SELECT 1 FROM sign_in_sources WHERE person = ? AND network = ?";
constexpr const char* kRemember =
    "INSERT INTO sign_in_sources (person, network, at) VALUES (?, ?, ?)"
    " ON CONFLICT (person, network) DO UPDATE SET at = excluded.at";
constexpr const char* kForgetOldest =
    "DELETE FROM sign_in_sources WHERE person = ?1 AND network NOT IN"
    " (SELECT network FROM sign_in_sources WHERE person = ?1 ORDER BY at DESC LIMIT 8)";

}  // namespace

RowPage<UserRow> list_users(Connection& db, const PageAt& page) {
  KeyWalk walk(db, page);
  return walk.rows(
      {{walk.along(kUsers)}}, [](std::int64_t) { return true; },
      [&](std::int64_t key) { return only_row<UserRow>(db, kUserByKey, kUserColumns, key); });
}

std::optional<UserRow> find_user(Connection& db, UserId id) {
  require_intact(db, "users", first_integer(db, kUserRow, id), {{"id", id}});
  return first_row<UserRow>(db, kUserById, kUserColumns, id);
}

std::optional<UserRow> find_user_by_username(Connection& db, std::string_view username) {
  require_intact(db, "users", first_integer(db, kUserNamed, username), {{"username", username}});
  return first_row<UserRow>(db, kByUsername, kUserColumns, username);
}

void insert_user(WriteTx& tx, const UserRow& row) {
  tx.db().run(kInsertUser, row.id, row.association, row.username, row.password_hash,
              Blob{row.sealed_otp}, row.otp_step, row.suspended, row.key_version, tx.now());
}

void update_user(WriteTx& tx, const UserRow& row) {
  update_row(tx.db(), kUpdateUser, kUserColumns, row, row.id, tx.now());
  tx.touch_tenancy();
}

void set_otp_step(WriteTx& tx, UserId id, std::int64_t step) { tx.db().run(kSetStep, step, id); }

bool has_signed_in_from(Connection& db, const Uuid& person, std::string_view network) {
  return Query(db, kHas, person, Blob{network}).step();
}

void remember_sign_in_source(WriteTx& tx, const Uuid& person, std::string_view network) {
  Query(tx.db(), kRemember, person, Blob{network}, tx.now()).run();
  Query(tx.db(), kForgetOldest, person).run();
}

void forget_sign_in_sources(WriteTx& tx, const Uuid& person) {
  Query(tx.db(), "DELETE FROM sign_in_sources WHERE person = ?", person).run();
}

}  // namespace coffer::store
