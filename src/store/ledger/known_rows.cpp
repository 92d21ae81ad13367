#include "store/ledger/known_rows.h"

#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"
#include "store/ledger/wallets.h"
#include "store/payments/limits.h"

namespace coffer::store {
namespace {

/// Per kind, about 1 MiB. There are few assets.
constexpr std::size_t kKnownMax = 10'000;

constexpr const char* kAnyWebhook =
    "SELECT 1 FROM webhooks INDEXED BY webhooks_active WHERE disabled_at IS NULL LIMIT 1";

template <class Map>
auto& add(Map& rows, const typename Map::key_type& key, typename Map::mapped_type row) {
  if (rows.size() >= kKnownMax) rows.clear();
  return rows.emplace(key, std::move(row)).first->second;
}

}  // namespace

std::optional<WalletBrief> KnownRows::wallet(const Tenant& tenant, WalletId id) {
  const auto known = wallets_.find(id.uuid);
  if (known != wallets_.end() && known->second.tenant == tenant.key) return known->second.brief;
  const auto found = find_wallet_brief(writer_, tenant, id);
  if (found) add(wallets_, id.uuid, {tenant.key, *found});
  return found;
}

std::optional<AccountKey> KnownRows::trustline(std::int64_t wallet, std::int64_t asset) {
  const auto known = trustlines_.find({wallet, asset});
  if (known != trustlines_.end()) return known->second;
  const auto found = find_trustline(writer_, wallet, asset);
  if (found) add(trustlines_, {wallet, asset}, *found);
  return found;
}

const Asset* KnownRows::asset(const AssetCode& code) {
  const auto known = assets_.find(code);
  if (known != assets_.end()) return &known->second;
  auto found = find_asset(writer_, code);
  return found ? &assets_.emplace(code, *std::move(found)).first->second : nullptr;
}

bool KnownRows::has_webhooks() {
  if (!has_webhooks_) has_webhooks_ = Query(writer_, kAnyWebhook).step();
  return *has_webhooks_;
}

bool KnownRows::has_limits(std::int64_t tenant) {
  const auto known = has_limits_.find(tenant);
  if (known != has_limits_.end()) return known->second;
  return add(has_limits_, tenant, store::has_limits(writer_, tenant));
}

void KnownRows::forget() {
  has_limits_.clear();
  has_webhooks_.reset();
  wallets_.clear();
  trustlines_.clear();
  assets_.clear();
}

}  // namespace coffer::store
