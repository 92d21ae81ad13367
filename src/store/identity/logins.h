// Used login challenges and refresh tokens (docs/contract.md#refresh).
#pragma once

#include <optional>

#include "base/digest.h"
#include "domain/ids.h"
#include "store/commits/write_tx.h"

namespace coffer::store {

/// Stores an accepted challenge until it expires. Returns false if it was accepted before.
bool use_challenge(WriteTx& tx, const Sha256& hash, Timestamp expires_at);

/// A refresh token, stored only as a hash.
struct RefreshTokenRow {
  Uuid family;  // identifies a login and all tokens refreshed from it
  ApplicationId application;
  std::int64_t application_key = 0;
  std::int64_t key_version = 0;  // the application's version at the time of the login
  bool spent = false;
  Timestamp expires_at;
};

std::optional<RefreshTokenRow> find_refresh_token(Connection& db, const Sha256& hash);
void insert_refresh_token(WriteTx& tx, const Sha256& hash, const RefreshTokenRow& row);
/// Marks the token as used. The row stays, so that a second use can be distinguished from an
/// unknown token.
void spend_refresh_token(WriteTx& tx, const Sha256& hash);
/// Deletes all tokens of the family.
void revoke_refresh_tokens(WriteTx& tx, const Uuid& family);

/// Deletes a few expired rows. Functions that add rows call it, so the tables do not grow beyond
/// the rows in use.
void forget_expired_logins(WriteTx& tx);

}  // namespace coffer::store
