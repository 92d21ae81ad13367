// What logins store: used challenges, and refresh tokens (docs/contract.md#refresh).
#pragma once

#include <optional>

#include "base/digest.h"
#include "domain/ids.h"
#include "store/write_tx.h"

namespace coffer::store {

/// Remembers an accepted challenge until its end. False when it was accepted before.
bool use_challenge(WriteTx& tx, const Sha256& hash, Timestamp expires_at);

/// A refresh token is known by its hash only.
struct RefreshTokenRow {
  Uuid family;  // of the login and everything refreshed from it
  ApplicationId application;
  std::int64_t application_key = 0;
  std::int64_t key_version = 0;  // of the application at the login
  bool spent = false;
  Timestamp expires_at;
};

std::optional<RefreshTokenRow> find_refresh_token(Connection& db, const Sha256& hash);
void insert_refresh_token(WriteTx& tx, const Sha256& hash, const RefreshTokenRow& row);
/// It stays, so that its second use can be told from an unknown token.
void spend_refresh_token(WriteTx& tx, const Sha256& hash);
/// Every token of the family is unknown from here on.
void revoke_refresh_tokens(WriteTx& tx, const Uuid& family);

/// Deletes a few rows that no longer mean anything; called by whoever adds some, so that the tables
/// stay as large as what is alive.
void forget_expired_logins(WriteTx& tx);

}  // namespace coffer::store
