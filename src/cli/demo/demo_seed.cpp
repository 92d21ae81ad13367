#include "cli/demo/demo_seed.h"

#include <array>
#include <numeric>
#include <optional>
#include <sstream>

#include "app/app.h"
#include "cli/demo/demo_secrets.h"
#include "cli/settings.h"
#include "flows/identity/tenancy_changes.h"
#include "flows/ledger/market_changes.h"
#include "flows/ledger/wallet_changes.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"

// Every step first checks whether it is already done, because an earlier start may have been killed
// halfway. A marker, written last, records that the content is complete; from then on, the demo
// does not change its data.

namespace coffer::cli {
namespace {

constexpr std::string_view kMarkerVersion = "1";
constexpr std::string_view kAssociationName = "Demo Ltd";
constexpr auto kEnvironment = Environment::sandbox;

struct DemoAsset {
  std::string_view code;
  std::string_view name;
  int decimals;
  std::int64_t per_hundred_dollars;
  std::int64_t liquidity;  // whole units
};
constexpr std::array<DemoAsset, 4> kAssets = {{
    {"USDC", "USD Coin", 7, 100, 10'000'000},
    {"EURC", "Euro Coin", 7, 92, 10'000'000},
    {"NGNC", "Naira Coin", 2, 154'000, 15'000'000'000},
    {"XAF", "CFA franc", 0, 60'500, 6'000'000'000},
}};

struct DemoWallet {
  std::string_view name;
  std::string_view asset;
  bool own_account;
  std::int64_t funds;  // whole units of its asset
};
constexpr std::array<DemoWallet, 4> kWallets = {{
    {"Treasury", "USDC", true, 1'000'000},
    {"Operations", "USDC", true, 1'000'000},
    {"Euro reserve", "EURC", true, 1'000'000},
    {"Ada Obi", "USDC", false, 0},
}};

AssetCode code_of(std::string_view text) { return AssetCode::parse(text).value(); }

Amount whole_units(std::int64_t units) {
  return Amount::from_units(units * Amount::kUnitsPerWhole);
}

/// The exact price of one unit of `sell` in `buy`.
Rate rate_between(const DemoAsset& sell, const DemoAsset& buy) {
  const std::int64_t divisor = std::gcd(buy.per_hundred_dollars, sell.per_hundred_dollars);
  return {buy.per_hundred_dollars / divisor, sell.per_hundred_dollars / divisor};
}

/// A third party whose wallet is pending review.
Metadata person() {
  PersonMetadata ada;
  ada.first_name = "Ada";
  ada.last_name = "Obi";
  ada.date_of_birth = "1990-04-12";
  ada.nationality = "NGA";
  ada.email = "ada.obi@example.com";
  ada.phone = "+2348012345678";
  return ada;
}

class Seeder {
 public:
  Seeder(App& app, const ProgressFunction& progress) : app_(app), progress_(progress) {}

  Result<DemoWorld> run() {
    COFFER_TRY(auto marker, app_.flows().read([](store::Connection& db) {
      return store::read_meta(db, kDemoMarker);
    }));
    if (!marker) {
      COFFER_TRY_VOID(reject_other_data());
      COFFER_TRY_VOID(make_market());
      COFFER_TRY(const Tenant tenant, make_association());
      COFFER_TRY(marker, make_wallets(tenant));
      COFFER_TRY_VOID(app_.flows().write(
          [&](store::WriteTx& tx) { store::write_meta(tx, kDemoMarker, *marker); }));
    }
    return find_world(*marker);
  }

 private:
  Result<void> reject_other_data() {
    COFFER_TRY(const auto associations, app_.flows().read(store::list_associations));
    bool only_ours = is_claimed_as_demo(app_.database().path());
    for (const auto& row : associations) only_ours = only_ours && row.name == kAssociationName;
    if (only_ours) return {};
    return unexpected(Slug::conflict, app_.database().path() +
                                          " is not a demo file and is unchanged. Choose another "
                                          "file with --db, or serve this one with coffer serve.");
  }

  /// A step makes one or more commits.
  void show_step(std::string_view what) {
    constexpr std::size_t kDeclaredRates = kAssets.size();
    constexpr std::size_t kRecipients = 1;
    constexpr std::size_t kTotal = kAssets.size() + kDeclaredRates + kWallets.size() + kRecipients;
    progress_({what, steps_++, static_cast<std::int64_t>(kTotal), Progress::Unit::steps});
  }

  Result<void> make_market() {
    for (const DemoAsset& asset : kAssets) {
      show_step("creating assets");
      COFFER_TRY_VOID(make_asset(asset));
    }
    for (const DemoAsset& sell : kAssets) {
      show_step("creating exchange rates");
      for (const DemoAsset& buy : kAssets) {
        if (sell.code == buy.code) continue;
        COFFER_TRY_VOID(flows::set_rate(app_.flows(), kEnvironment, code_of(sell.code),
                                        code_of(buy.code), rate_between(sell, buy)));
      }
    }
    return {};
  }

  Result<void> make_asset(const DemoAsset& wanted) {
    COFFER_TRY(auto asset, app_.flows().read([&](store::Connection& db) {
      return store::find_asset(db, code_of(wanted.code));
    }));
    if (!asset) {
      flows::NewAsset fresh{
          std::string(wanted.code), std::string(wanted.name), wanted.decimals, {}};
      COFFER_TRY(asset, flows::register_asset(app_.flows(), fresh));
    }
    COFFER_TRY(const Amount pool, app_.flows().read([&](store::Connection& db) {
      return store::operator_balance(db, kEnvironment, AccountKind::liquidity, asset->key);
    }));
    if (!pool.is_zero()) return {};
    return flows::add_liquidity(app_.flows(), kEnvironment, asset->code,
                                whole_units(wanted.liquidity));
  }

  Result<Tenant> make_association() {
    COFFER_TRY(const auto there, app_.flows().read(store::list_associations));
    std::optional<AssociationId> id;
    if (!there.empty()) id = there.front().id;  // reject_other_data has checked its name
    if (!id) {
      COFFER_TRY(const auto row,
                 flows::register_association(app_.flows(), std::string(kAssociationName),
                                             AssociationStatus::active));
      id = row.id;
    }
    return tenant_of(*id);
  }

  Result<Tenant> tenant_of(AssociationId association) {
    return app_.flows().read([&](store::Connection& db) {
      return store::find_tenant(db, association, kEnvironment).value();
    });
  }

  /// Returns the marker: version, association and wallets, separated by spaces.
  Result<std::string> make_wallets(const Tenant& tenant) {
    std::string marker = std::string(kMarkerVersion) + " " + tenant.association.to_string();
    for (const DemoWallet& wanted : kWallets) {
      show_step("creating wallets");
      COFFER_TRY(const auto wallet, make_wallet(tenant, wanted));
      marker += " " + wallet.id.to_string();
    }
    return marker;
  }

  Result<store::WalletRow> make_wallet(const Tenant& tenant, const DemoWallet& wanted) {
    COFFER_TRY(auto wallet, find_by_name(tenant, wanted.name));
    if (!wallet) {
      flows::NewWallet fresh{
          std::string(wanted.name), code_of(wanted.asset), wanted.own_account, {}};
      if (!wanted.own_account) fresh.metadata = person();
      COFFER_TRY(wallet, flows::register_wallet(app_.flows(), tenant, fresh));
    }
    if (!wanted.own_account) return *std::move(wallet);
    // Own wallets hold every asset, so that swaps work within a wallet and between any two.
    for (const DemoAsset& asset : kAssets) {
      COFFER_TRY_VOID(flows::add_trustline(app_.flows(), tenant, wallet->id, code_of(asset.code)));
    }
    COFFER_TRY(const bool funded, app_.flows().read([&](store::Connection& db) {
      return !store::balances_of(db, wallet->key).front().balance.is_zero();
    }));
    if (funded) return *std::move(wallet);
    return flows::fund_sandbox_wallet(app_.flows(), tenant, wallet->id, code_of(wanted.asset),
                                      whole_units(wanted.funds));
  }

  Result<std::optional<store::WalletRow>> find_by_name(const Tenant& tenant,
                                                       std::string_view name) {
    using Found = std::optional<store::WalletRow>;
    return app_.flows().read([&](store::Connection& db) {
      for (auto& row : store::list_wallets(db, tenant, {}, {}).rows) {
        if (row.name == name) return Found(std::move(row));
      }
      return Found();
    });
  }

  Result<DemoWorld> find_world(const std::string& marker) {
    std::istringstream words(marker);
    std::string word;
    words >> word >> word;  // the version, then the association
    DemoWorld world;
    world.association = AssociationId::parse(word).value();
    COFFER_TRY(const Tenant tenant, tenant_of(world.association));
    while (words >> word) {
      COFFER_TRY(auto wallet, app_.flows().read([&](store::Connection& db) {
        return store::find_wallet(db, tenant, WalletId::parse(word).value());
      }));
      world.wallets.push_back(std::move(wallet).value());
    }
    if (steps_ > 0) show_step("creating beneficiaries and connectors");
    COFFER_TRY(world.recipients, ensure_demo_recipients(app_, tenant, world.wallets));
    return world;
  }

  App& app_;
  const ProgressFunction& progress_;
  std::int64_t steps_ = 0;
};

}  // namespace

Result<DemoWorld> ensure_demo_world(App& app, const ProgressFunction& progress) {
  return Seeder(app, progress).run();
}

}  // namespace coffer::cli
