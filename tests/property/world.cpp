#include "property/world.h"

#include <stdlib.h>

#include <filesystem>

#include "base/digest.h"
#include "flows/market_changes.h"
#include "flows/tenancy_changes.h"
#include "flows/wallet_changes.h"
#include "store/catalog.h"
#include "store/tenants.h"

namespace coffer::property {
namespace {

namespace fs = std::filesystem;

std::string make_folder() {
  const fs::path memory = "/dev/shm";
  std::error_code ignored;
  const fs::path place = fs::is_directory(memory, ignored) ? memory : fs::temp_directory_path();
  std::string path = (place / "coffer-property-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) throw InternalError("no temporary folder at " + path);
  return path;
}

constexpr const char* kAccounts =
    "SELECT kind, coalesce(wallet, 0), asset, balance, held FROM accounts ORDER BY account";
constexpr const char* kPaymentCount = "SELECT count(*) FROM payments";
constexpr const char* kLinks = "SELECT link FROM journal ORDER BY journal";
constexpr const char* kEvents = "SELECT id, type, version, at FROM events ORDER BY tenant, sequence";

}  // namespace

World::World(std::uint64_t seed)
    : random_(seed),
      folder_(make_folder()),
      master_(auth::MasterKey::generate(random_)),
      sealer_(master_, random_),
      tokens_(master_.derive(auth::kTokenLabel)) {
  open();
  register_all();
}

World::~World() {
  queue_.reset();
  database_.reset();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void World::open() {
  store::OpenError error;
  database_ = store::Database::open({.path = folder_ + "/ledger.db", .readers = 1}, clock, error);
  if (!database_) throw InternalError(error.message);
  queue_ = std::make_unique<store::CommitQueue>(
      *database_, clock, store::CommitQueueOptions{.disk_floor_bytes = 0}, [](store::Signal) {});
  context_.emplace(flows::Context{*database_, *queue_, clock, random_, sealer_, tokens_, connectors_, "test", 0, 3'600'000});
}

void World::reopen() {
  context_.reset();
  queue_.reset();
  database_.reset();
  open();
}

void World::register_all() {
  const auto association = flows::register_association(*context_, "A", AssociationStatus::active).value();
  const auto other = flows::register_association(*context_, "B", AssociationStatus::active).value();
  flows::NewApplication application;
  application.name = "App";
  application.association = association.id;
  const auto registered = flows::register_application(*context_, application).value();
  caller_ = {registered.application.id, registered.application.key, *registered.application.tenant,
             AssociationStatus::active, ScopeSet::all()};
  assets = {{"USDC", 7}, {"EURC", 2}, {"XAF", 0}, {"HUGE", 7}};
  for (WorldAsset& asset : assets) {
    asset.key = flows::register_asset(*context_, {asset.code, asset.code, asset.decimals, ""}).value().key;
  }
  wallets = {{"a", true, false, {0, 1, 2, 3}}, {"b", true, false, {0, 1}}, {"c", true, false, {0, 3}},
             {"d", true, false, {1, 2}},       {"e", true, false, {3}},    {"pending", false, false, {0}},
             {"foreign", false, true, {0}}};
  const auto foreign = store::with_reader(*database_, [&](store::Connection& db) -> Result<Tenant> {
                         return *store::find_tenant(db, other.id, Environment::sandbox);
                       }).value();
  for (WorldWallet& wallet : wallets) register_wallet(wallet, wallet.foreign ? foreign : caller_.tenant);
}

void World::register_wallet(WorldWallet& wallet, const Tenant& tenant) {
  const auto code = [&](std::size_t asset) { return *AssetCode::parse(assets[asset].code); };
  flows::NewWallet request{wallet.name, code(wallet.assets.front()), wallet.usable || wallet.foreign, {}};
  if (!request.own_account) request.metadata = PersonMetadata{"P", "Q", "1990-01-01", "KEN", {}, {}, {}, {}, {}};
  const auto row = flows::register_wallet(*context_, tenant, request).value();
  wallet.id = row.id;
  wallet.key = row.key;
  for (std::size_t i = 1; i < wallet.assets.size(); ++i) {
    static_cast<void>(flows::add_trustline(*context_, tenant, row.id, code(wallet.assets[i])).value());
  }
}

std::vector<StoredAccount> World::accounts() {
  const auto lease = database_->reader().value();
  std::vector<StoredAccount> out;
  store::Query query(lease.db(), kAccounts);
  while (query.step()) {
    out.push_back({static_cast<int>(query.integer(0)), query.integer(1), query.integer(2),
                   query.integer(3), query.integer(4)});
  }
  return out;
}

std::optional<store::PaymentRecord> World::payment(const std::string& transaction_id) {
  const auto lease = database_->reader().value();
  return store::find_by_transaction_id(lease.db(), caller_.tenant, transaction_id);
}

std::int64_t World::payment_count() {
  const auto lease = database_->reader().value();
  store::Query query(lease.db(), kPaymentCount);
  return query.step() ? query.integer(0) : 0;
}

std::vector<store::Violation> World::verify() {
  const auto lease = database_->reader().value();
  return store::verify(lease.db(), false, [](auto&&...) {});
}

std::string World::fingerprint() {
  const auto lease = database_->reader().value();
  std::string all;
  store::Query links(lease.db(), kLinks);
  while (links.step()) all += links.blob(0);
  store::Query events(lease.db(), kEvents);
  while (events.step()) {
    all += events.uuid(0).to_string();
    for (const int column : {1, 2, 3}) all += std::to_string(events.integer(column)) + ",";
  }
  return to_hex(sha256(all));
}

}  // namespace coffer::property
