#include "store/identity/sign_in_sources.h"

namespace coffer::store {
namespace {

constexpr const char* kHas = "SELECT 1 FROM sign_in_sources WHERE person = ? AND network = ?";
constexpr const char* kRemember =
    "INSERT INTO sign_in_sources (person, network, at) VALUES (?, ?, ?)"
    " ON CONFLICT (person, network) DO UPDATE SET at = excluded.at";
constexpr const char* kForgetOldest =
    "DELETE FROM sign_in_sources WHERE person = ?1 AND network NOT IN"
    " (SELECT network FROM sign_in_sources WHERE person = ?1 ORDER BY at DESC LIMIT 8)";
constexpr const char* kForget = "DELETE FROM sign_in_sources WHERE person = ?";

}  // namespace

bool has_signed_in_from(Connection& db, const Uuid& person, std::string_view network) {
  return Query(db, kHas, person, Blob{network}).step();
}

void remember_sign_in_source(WriteTx& tx, const Uuid& person, std::string_view network) {
  Query(tx.db(), kRemember, person, Blob{network}, tx.now()).run();
  Query(tx.db(), kForgetOldest, person).run();
}

void forget_sign_in_sources(WriteTx& tx, const Uuid& person) {
  Query(tx.db(), kForget, person).run();
}

}  // namespace coffer::store
