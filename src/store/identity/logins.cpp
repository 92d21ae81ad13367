#include "store/identity/logins.h"

#include "store/rows/columns.h"
#include "store/rows/guarded_rows.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

constexpr const char* kTokenRow = "SELECT rowid FROM refresh_tokens WHERE hash = ?";
constexpr const char* kFindToken =
    "SELECT r.family, a.id, r.application, r.key_version, r.spent, r.expires_at"
    " FROM refresh_tokens r JOIN applications a ON a.application = r.application WHERE r.hash = ?";
constexpr const char* kInsertToken =
    "INSERT INTO refresh_tokens (hash, family, application, key_version, spent, expires_at)"
    " VALUES (?, ?, ?, ?, ?, ?)";
constexpr const char* kSpendToken = "UPDATE refresh_tokens SET spent = 1 WHERE hash = ?";
constexpr const char* kRevokeFamily = "DELETE FROM refresh_tokens WHERE family = ?";
// Deletes more rows than a login adds to each table, so that a backlog shrinks.
constexpr const char* kForgetChallenges =
    "DELETE FROM used_challenges WHERE hash IN"
    " (SELECT hash FROM used_challenges WHERE expires_at <= ? LIMIT 8)";
constexpr const char* kForgetTokens =
    "DELETE FROM refresh_tokens WHERE hash IN"
    " (SELECT hash FROM refresh_tokens WHERE expires_at <= ? LIMIT 8)";

Blob blob(const Sha256& hash) { return Blob{as_text(hash)}; }

}  // namespace

bool use_challenge(WriteTx& tx, const Sha256& hash, Timestamp expires_at) {
  tx.db().run("INSERT INTO used_challenges (hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING",
              blob(hash), expires_at);
  return tx.db().changes() == 1;
}

std::optional<RefreshTokenRow> find_refresh_token(Connection& db, const Sha256& hash) {
  require_intact(db, "refresh_tokens", first_integer(db, kTokenRow, blob(hash)),
                 {{"hash", blob(hash)}});
  return first_of<RefreshTokenRow, Uuid, ApplicationId, std::int64_t, std::int64_t, bool,
                  Timestamp>(db, kFindToken, blob(hash));
}

void insert_refresh_token(WriteTx& tx, const Sha256& hash, const RefreshTokenRow& row) {
  tx.db().run(kInsertToken, blob(hash), row.family, row.application_key, row.key_version, row.spent,
              row.expires_at);
}

void spend_refresh_token(WriteTx& tx, const Sha256& hash) { tx.db().run(kSpendToken, blob(hash)); }

void revoke_refresh_tokens(WriteTx& tx, const Uuid& family) { tx.db().run(kRevokeFamily, family); }

void forget_expired_logins(WriteTx& tx) {
  tx.db().run(kForgetChallenges, tx.now());
  tx.db().run(kForgetTokens, tx.now());
}

}  // namespace coffer::store
