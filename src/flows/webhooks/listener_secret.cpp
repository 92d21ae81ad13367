#include "flows/webhooks/listener_secret.h"

#include "auth/secret_hash.h"
#include "store/ledger/catalog.h"

namespace coffer::flows {

Result<Secret> listener_secret(const Context& context, const Tenant& tenant) {
  const std::string key = "listener_secret:" + tenant.association.to_string() + ":" +
                          std::string(name(tenant.environment));
  auto stored = context.read([&](store::Connection& db) { return store::read_meta(db, key); });
  if (!stored) return unexpected(std::move(stored).error());
  std::string sealed = stored->value_or("");
  if (sealed.empty()) {
    const Secret fresh = auth::generate_webhook_secret(context.random);
    const std::string minted = context.sealer.seal(fresh.reveal(), key);
    COFFER_TRY(sealed, context.write([&](store::WriteTx& tx) {
      // Concurrent callers both get the first secret.
      if (auto there = store::read_meta(tx.db(), key)) return *there;
      store::write_meta(tx, key, minted);
      return minted;
    }));
  }
  return context.sealer.open(sealed, key);
}

}  // namespace coffer::flows
