#include "cli/demo/demo_seed.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>
#include <sstream>

#include "app/app.h"
#include "cli/apply/plan.h"
#include "cli/demo/demo_secrets.h"
#include "cli/settings.h"
#include "embedded/embedded.h"
#include "flows/ledger/market_changes.h"
#include "flows/providers/connector_changes.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"
#include "store/parties/beneficiaries.h"
#include "store/providers/connectors.h"

// Every step first checks whether it is already done, because an earlier start may have been killed
// halfway. A marker, written last, records that the content is complete; from then on, the user of
// the demo may change it.

namespace coffer::cli {
namespace {

constexpr std::string_view kMarkerVersion = "1";
constexpr std::string_view kAssociationName = "Demo Ltd";
constexpr auto kEnvironment = Environment::sandbox;
constexpr int kListMax = 100;

/// The prices are exact; rates in a declaration are decimals.
struct MarketAsset {
  std::string_view code;
  std::int64_t per_hundred_dollars;
  std::int64_t liquidity;  // whole units
};
constexpr std::array<MarketAsset, 4> kMarket = {{{"USDC", 100, 10'000'000},
                                                 {"EURC", 92, 10'000'000},
                                                 {"NGNC", 154'000, 15'000'000'000},
                                                 {"XAF", 60'500, 6'000'000'000}}};

/// The exact price of one unit of `sell` in `buy`.
Rate rate_between(const MarketAsset& sell, const MarketAsset& buy) {
  const std::int64_t divisor = std::gcd(buy.per_hundred_dollars, sell.per_hundred_dollars);
  return {buy.per_hundred_dollars / divisor, sell.per_hundred_dollars / divisor};
}

RequirementChange sender_id_number() {
  RequirementChange out;
  out.set<&Requirement::name>("senderIdNumber");
  out.set<&Requirement::label>("Sender's identity number");
  out.set<&Requirement::description>("Eleven digits");
  out.set<&Requirement::pattern>("^[0-9]{11}$");
  out.set<&Requirement::min_length>(11);
  out.set<&Requirement::max_length>(11);
  return out;
}

/// The association and the wallets of the file. Lists have the reverse order of creation.
std::string marker_of(store::Connection& db) {
  const AssociationId association = store::list_associations(db).front().id;
  const Tenant tenant = store::find_tenant(db, association, kEnvironment).value();
  const auto wallets = store::list_wallets(db, tenant, {}, {}).rows;
  std::string marker = std::string(kMarkerVersion) + " " + association.to_string();
  for (const auto& row : wallets | std::views::reverse) marker += " " + row.id.to_string();
  return marker;
}

class Seeder {
 public:
  Seeder(App& app, const ProgressFunction& progress)
      : app_(app), flows_(app.flows()), progress_(progress) {}

  Result<DemoWorld> run() {
    COFFER_TRY(auto marker, flows_.read([](store::Connection& db) {
      return store::read_meta(db, kDemoMarker);
    }));
    if (!marker) {
      COFFER_TRY_VOID(reject_other_data());
      COFFER_TRY_VOID(apply_declarations(app_, embedded::demo_world(), progress_));
      COFFER_TRY(marker, flows_.read(marker_of));
      COFFER_TRY_VOID(make_market());
      COFFER_TRY(const DemoWorld declared, find_world(*marker));
      COFFER_TRY_VOID(complete(declared));
      COFFER_TRY_VOID(
          flows_.write([&](store::WriteTx& tx) { store::write_meta(tx, kDemoMarker, *marker); }));
    }
    return find_world(*marker);
  }

 private:
  Result<void> reject_other_data() {
    COFFER_TRY(const auto associations, flows_.read(store::list_associations));
    bool only_ours = is_claimed_as_demo(app_.database().path());
    for (const auto& row : associations) only_ours = only_ours && row.name == kAssociationName;
    if (only_ours) return {};
    return unexpected(Slug::conflict, app_.database().path() +
                                          " is not a demo file and is unchanged. Choose another "
                                          "file with --db, or serve this one with coffer serve.");
  }

  Result<void> make_market() {
    std::int64_t done = 0;
    for (const MarketAsset& sell : kMarket) {
      progress_({"creating exchange rates", done++, std::ssize(kMarket), Progress::Unit::steps});
      const AssetCode code = AssetCode::parse(sell.code).value();
      for (const MarketAsset& buy : kMarket) {
        if (sell.code == buy.code) continue;
        COFFER_TRY_VOID(flows::set_rate(flows_, kEnvironment, code,
                                        AssetCode::parse(buy.code).value(),
                                        rate_between(sell, buy)));
      }
      COFFER_TRY(const Amount pool, flows_.read([&](store::Connection& db) {
        return store::operator_balance(db, kEnvironment, AccountKind::liquidity,
                                       store::find_asset(db, code)->key);
      }));
      if (!pool.is_zero()) continue;
      COFFER_TRY_VOID(flows::add_liquidity(
          flows_, kEnvironment, code, Amount::from_units(sell.liquidity * Amount::kUnitsPerWhole)));
    }
    return {};
  }

  /// Adds a required field to one connector, and to the last beneficiary, which the file declares
  /// without destinations, the address of the second wallet.
  Result<void> complete(const DemoWorld& declared) {
    const auto connector =
        std::ranges::find(declared.connectors, "Nigeria bank payout", &ConnectorTerms::name);
    COFFER_TRY_VOID(flows::require_field(flows_, connector->id, sender_id_number()));
    COFFER_TRY(const Tenant tenant, tenant_of(declared.association));
    const auto& partner = declared.beneficiaries.back();
    const std::array<std::string, 2> assets = {"USDC", "EURC"};
    for (const auto& asset : assets | std::views::drop(partner.destinations.size())) {
      const Destination address{DestinationMethod::crypto, "US", "USD", asset + " address",
                                CryptoDetails{flows_.network_name, asset,
                                              declared.wallets.at(1).public_key, std::nullopt}};
      COFFER_TRY_VOID(flows::add_destination(flows_, tenant, partner.beneficiary.id, address));
    }
    return {};
  }

  Result<Tenant> tenant_of(AssociationId association) {
    return flows_.read([&](store::Connection& db) {
      return store::find_tenant(db, association, kEnvironment).value();
    });
  }

  Result<DemoWorld> find_world(const std::string& marker) {
    std::istringstream words(marker);
    std::string word;
    words >> word >> word;  // the version, then the association
    DemoWorld world;
    world.association = AssociationId::parse(word).value();
    COFFER_TRY(const Tenant tenant, tenant_of(world.association));
    COFFER_TRY_VOID(flows_.read([&](store::Connection& db) -> Result<void> {
      while (words >> word) {
        world.wallets.push_back(
            store::find_wallet(db, tenant, WalletId::parse(word).value()).value());
      }
      auto connectors = store::list_connectors(db, kEnvironment, {}, {.limit = kListMax}).rows;
      for (auto& row : connectors | std::views::reverse) {
        world.connectors.push_back(std::move(row.terms));
      }
      return {};
    }));
    COFFER_TRY(world.beneficiaries, beneficiaries_with_tag(app_, tenant, "demo"));
    return world;
  }

  App& app_;
  const flows::Context& flows_;
  const ProgressFunction& progress_;
};

}  // namespace

Result<DemoWorld> ensure_demo_world(App& app, const ProgressFunction& progress) {
  return Seeder(app, progress).run();
}

Result<void> apply_declarations(App& app, std::string_view file, const ProgressFunction& progress) {
  ApplyPlan plan(app.flows());
  COFFER_TRY_VOID(plan.read(std::string(file)));
  const auto total = static_cast<std::int64_t>(plan.steps().size());
  std::int64_t done = 0;
  for (const ApplyStep& step : plan.steps()) {
    progress({"creating " + std::string(step.section), done++, total, Progress::Unit::steps});
    if (step.is_change()) COFFER_TRY_VOID(step.carry_out());
  }
  return {};
}

Result<std::vector<flows::BeneficiaryState>> beneficiaries_with_tag(App& app, const Tenant& tenant,
                                                                    std::string_view tag) {
  return app.flows().read([&](store::Connection& db) {
    std::vector<flows::BeneficiaryState> out;
    for (auto& row :
         store::list_beneficiaries(db, tenant, {{}, std::string(tag)}, {.limit = kListMax}).rows) {
      auto destinations = store::destinations_of(db, row.key);
      out.push_back({std::move(row), std::move(destinations)});
    }
    std::ranges::reverse(out);
    return out;
  });
}

}  // namespace coffer::cli
