#include "flows/operations/key_rotation.h"

#include "flows/operations/archive.h"
#include "store/ledger/catalog.h"
#include "store/operations/seals.h"
#include "store/schema.h"

namespace coffer::flows {

Result<std::int64_t> rotate_master_key(const Context& context, const auth::MasterKey& next) {
  const auth::Sealer sealer(next, context.random);
  return context.write([&](store::WriteTx& tx) -> Result<std::int64_t> {
    if (store::read_meta(tx.db(), store::kKeyCheck) == next.fingerprint()) {
      return unexpected(Slug::conflict, "The new key is the current key. Use a different one.");
    }
    COFFER_TRY(
        const std::int64_t count,
        store::reseal_all(
            tx,
            [&](const std::string& sealed, const std::string& sealed_for) -> Result<std::string> {
              COFFER_TRY(const Secret plain, context.sealer.open(sealed, sealed_for));
              return sealer.seal(plain.reveal(), sealed_for);
            }));
    store::write_meta(tx, store::kKeyCheck, next.fingerprint());
    // It is about the archive of the old key.
    if (last_proof(tx.db())) store::write_meta(tx, kArchiveProof, {});
    return count;
  });
}

}  // namespace coffer::flows
