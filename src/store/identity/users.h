// Users of an association, who log in with password and one-time code (docs/contract.md#otp-login).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "domain/ids.h"
#include "store/commits/write_tx.h"
#include "store/rows/page.h"

namespace coffer::store {

struct UserRow {
  UserId id;
  AssociationId association;
  std::string username;       // lower case, unique over all associations
  std::string password_hash;  // auth/password.h
  std::string sealed_otp;     // the sealed TOTP key
  std::int64_t otp_step = 0;  // step of the last accepted code
  bool suspended = false;
  std::int64_t key_version = 1;
  Timestamp created_at;
  Timestamp updated_at;
};

/// Of all associations, newest first.
RowPage<UserRow> list_users(Connection& db, const PageAt& page);
std::optional<UserRow> find_user(Connection& db, UserId id);
std::optional<UserRow> find_user_by_username(Connection& db, std::string_view username);
/// The caller has checked that the association exists and the name is unused.
void insert_user(WriteTx& tx, const UserRow& row);
/// Replaces password, TOTP key and step, suspension and key version. Cached identities become
/// invalid.
void update_user(WriteTx& tx, const UserRow& row);
/// The only change that a login writes.
void set_otp_step(WriteTx& tx, UserId id, std::int64_t step);

// Networks from which people have signed in. The attempt limits of an account do not apply to them
// (docs/contract.md#guessing).

/// `person` is the ID of an operator or a user; `network` is the bytes that identify a source.
bool has_signed_in_from(Connection& db, const Uuid& person, std::string_view network);
/// Keeps the latest eight sources of a person.
void remember_sign_in_source(WriteTx& tx, const Uuid& person, std::string_view network);
/// Call this after a reset of credentials, because another person may have used the account.
void forget_sign_in_sources(WriteTx& tx, const Uuid& person);

}  // namespace coffer::store
