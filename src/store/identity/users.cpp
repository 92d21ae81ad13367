#include "store/identity/users.h"

namespace coffer::store {
namespace {

#define USER_COLUMNS                                                                       \
  "SELECT u.id, a.id, u.username, u.password_hash, u.sealed_otp, u.otp_step, u.suspended," \
  " u.key_version, u.created_at, u.updated_at FROM users u"                                \
  " JOIN associations a ON a.association = u.association"
constexpr KeyIndex kAll = COFFER_KEY_INDEX("user", "users", "true");
constexpr const char* kByKey = USER_COLUMNS " WHERE u.user = ?";
constexpr const char* kById = USER_COLUMNS " WHERE u.id = ?";
constexpr const char* kByUsername = USER_COLUMNS " WHERE u.username = ?";
#undef USER_COLUMNS
constexpr const char* kInsert =
    "INSERT INTO users (id, association, username, password_hash, sealed_otp, otp_step, suspended,"
    " key_version, created_at, updated_at) VALUES (?1,"
    " (SELECT association FROM associations WHERE id = ?2), ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)";
constexpr const char* kUpdate =
    "UPDATE users SET password_hash = ?, sealed_otp = ?, otp_step = ?, suspended = ?,"
    " key_version = ?, updated_at = ? WHERE id = ?";
constexpr const char* kSetStep = "UPDATE users SET otp_step = ? WHERE id = ?";

UserRow user_row(const Query& query) {
  UserRow row;
  row.id = query.id<UserId>(0);
  row.association = query.id<AssociationId>(1);
  row.username = query.text(2);
  row.password_hash = query.text(3);
  row.sealed_otp = query.blob(4);
  row.otp_step = query.integer(5);
  row.suspended = query.boolean(6);
  row.key_version = query.integer(7);
  row.created_at = query.time(8);
  row.updated_at = query.time(9);
  return row;
}

template <class... Args>
std::optional<UserRow> first(Connection& db, const char* sql, const Args&... args) {
  Query query(db, sql, args...);
  return query.step() ? std::optional(user_row(query)) : std::nullopt;
}

}  // namespace

UserPage list_users(Connection& db, const NewestAt& at) {
  RowBudget budget;
  const KeyWalk walk(db, Order::falling, budget);
  const KeyPage page = newest_keys(walk, one(walk.of(kAll)), at, [](std::int64_t) { return true; });
  UserPage out{{}, page.next};
  for (const std::int64_t key : page.keys) out.rows.push_back(*first(db, kByKey, key));
  return out;
}

std::optional<UserRow> find_user(Connection& db, UserId id) { return first(db, kById, id); }

std::optional<UserRow> find_user_by_username(Connection& db, std::string_view username) {
  return first(db, kByUsername, username);
}

void insert_user(WriteTx& tx, const UserRow& row) {
  tx.db().run(kInsert, row.id, row.association, row.username, row.password_hash,
              Blob{row.sealed_otp}, row.otp_step, row.suspended, row.key_version, tx.now());
}

void update_user(WriteTx& tx, const UserRow& row) {
  tx.db().run(kUpdate, row.password_hash, Blob{row.sealed_otp}, row.otp_step, row.suspended,
              row.key_version, tx.now(), row.id);
  tx.touch_tenancy();
}

void set_otp_step(WriteTx& tx, UserId id, std::int64_t step) { tx.db().run(kSetStep, step, id); }

}  // namespace coffer::store
