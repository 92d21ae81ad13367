#include "property/world.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/digest.h"
#include "flows/identity/tenancy_changes.h"
#include "flows/ledger/market_changes.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/operations/file_keys.h"
#include "flows/parties/beneficiary_changes.h"
#include "flows/providers/connector_changes.h"
#include "flows/providers/references.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/operations/verification.h"
#include "support/unguarded.h"

namespace coffer::property {
namespace {

namespace fs = std::filesystem;

std::string make_folder() {
  std::string path = (fs::temp_directory_path() / "coffer-property-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) throw InternalError("no temporary folder at " + path);
  return path;
}

constexpr const char* kAccounts =
    "SELECT kind, coalesce(wallet, 0), coalesce(connector, 0), asset, balance, held FROM accounts"
    " ORDER BY account";
constexpr const char* kPaymentCount = "SELECT count(*) FROM payments";

Amount whole(std::int64_t units) { return Amount::from_units(units * Amount::kUnitsPerWhole); }

ConnectorTerms terms_of(Direction direction, PayMethod method, const char* country,
                        const char* currency, Rate rate) {
  ConnectorTerms terms;
  terms.name = std::string(currency) + " " + std::string(name(direction));
  terms.provider = "Dice";
  terms.direction = direction;
  terms.method = method;
  terms.country = country;
  terms.currency = currency;
  terms.rate = rate;
  terms.min_amount = whole(1);
  terms.max_amount = whole(10'000);
  return terms;
}

Destination bank_account() {
  return {
      DestinationMethod::bank, "MT", "EUR", {}, BankDetails{"Ann", "12345678", {}, {}, {}, {}, {}}};
}
Destination phone() {
  return {DestinationMethod::mobile_money,
          "KE",
          "KES",
          {},
          MobileMoneyDetails{"Mobile", "+254712345678", {}}};
}

}  // namespace

World::World(std::uint64_t seed)
    : provider(seed ^ 0x70726f7669646572ULL, clock),
      random_(seed),
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
  context_.emplace(flows::Context{*database_, *queue_, clock, random_, sealer_, tokens_, provider,
                                  "test", 0, 3'600'000});
  hasher_ = flows::prepare_file_keys(*context_).value();
  context_->hasher = hasher_.get();
}

void World::reopen() {
  context_.reset();
  queue_.reset();
  database_.reset();
  open();
}

void World::register_all() {
  const auto association =
      flows::register_association(*context_, "A", AssociationStatus::active).value();
  const auto other = flows::register_association(*context_, "B", AssociationStatus::active).value();
  flows::NewApplication application;
  application.name = "App";
  application.association = association.id;
  const auto registered = flows::register_application(*context_, application).value();
  caller_ = {registered.application.id, registered.application.key, *registered.application.tenant,
             AssociationStatus::active, ScopeSet::all()};
  assets = {{"USDC", 7}, {"EURC", 2}, {"XAF", 0}, {"HUGE", 7}};
  for (WorldAsset& asset : assets) {
    asset.key =
        flows::register_asset(*context_, {asset.code, asset.code, asset.decimals, ""}).value().key;
  }
  wallets = {{"a", true, false, {0, 1, 2, 3}}, {"b", true, false, {0, 1}},
             {"c", true, false, {0, 3}},       {"d", true, false, {1, 2}},
             {"e", true, false, {3}},          {"reviewed", false, false, {0}},
             {"foreign", true, true, {0}}};
  const auto foreign = store::with_reader(*database_, [&](store::Connection& db) -> Result<Tenant> {
                         return *store::find_tenant(db, other.id, Environment::sandbox);
                       }).value();
  for (WorldWallet& wallet : wallets)
    register_wallet(wallet, wallet.foreign ? foreign : caller_.tenant);
  // Reviewed already, because a reference requires a wallet that may transact.
  static_cast<void>(
      flows::review_wallet(*context_, caller_.tenant, wallets[kReviewedWallet].id, {}).value());
  wallets[kReviewedWallet].usable = true;
  register_connectors();
  register_beneficiaries();
}

void World::register_wallet(WorldWallet& wallet, const Tenant& tenant) {
  const auto code = [&](std::size_t asset) { return *AssetCode::parse(assets[asset].code); };
  flows::NewWallet request{wallet.name, code(wallet.assets.front()), wallet.usable, {}};
  if (!request.own_account) request.metadata = new_details();
  const auto row = flows::register_wallet(*context_, tenant, request).value();
  wallet.id = row.id;
  wallet.key = row.key;
  wallet.address = row.public_key;
  for (std::size_t i = 1; i < wallet.assets.size(); ++i) {
    static_cast<void>(
        flows::add_trustline(*context_, tenant, row.id, code(wallet.assets[i])).value());
  }
}

void World::register_connector(std::size_t asset, ConnectorTerms terms) {
  terms.asset.code = *AssetCode::parse(assets[asset].code);
  const auto made = flows::register_connector(*context_, {terms, {}}).value();
  const ConnectorTerms& stored = made.connector.terms;
  connectors.push_back({asset, stored, stored.lane()});
}

void World::register_connectors() {
  using enum Direction;
  register_connector(0, terms_of(off_ramp, PayMethod::momo, "KE", "KES", {259, 2}));
  ConnectorTerms far = terms_of(off_ramp, PayMethod::bank, "MT", "EUR", {99, 100});
  far.driver = DriverKind::http;
  far.endpoint = ProviderEndpoint{"https://provider.example", Secret("shared"), 1'000};
  register_connector(1, far);
  register_connector(0, terms_of(on_ramp, PayMethod::momo, "KE", "KES", {3, 400}));
  register_connector(1, terms_of(on_ramp, PayMethod::bank, "MT", "EUR", {98, 100}));
  ConnectorTerms references_of = terms_of(on_ramp, PayMethod::momo, "KE", "KES", {1, 130});
  references_of.flow = ConnectorFlow::bespoke;
  references_of.issues_references = true;
  references_of.fee = {Amount::from_units(12'300'000), 75};
  register_connector(0, references_of);
  for (const std::size_t wallet : {std::size_t{0}, kReviewedWallet}) {
    const auto row =
        flows::register_reference(*context_, caller_,
                                  {connectors[kReferenceConnector].terms.id,
                                   wallets[wallet].address, "c" + std::to_string(wallet)})
            .value();
    references.push_back({wallet, row.reference});
  }
}

void World::register_beneficiaries() {
  const std::size_t foreign = wallets.size() - 1;
  beneficiaries = {{"paid out", "", "", {}, {}},
                   {"abroad", "USDC", "test", foreign, {}},
                   {"reviewed", "USDC", "stellar", kReviewedWallet, {}},
                   {"untrusting", "EURC", "test", foreign, {}},
                   {"elsewhere", "USDC", "moon", foreign, {}},
                   {"ourselves", "USDC", "test", 0, {}}};
  for (WorldBeneficiary& beneficiary : beneficiaries) {
    flows::NewBeneficiary made;
    made.detail.party = Individual{beneficiary.name, "X", {}, {}, {}, {}};
    if (beneficiary.symbol.empty()) {
      made.destinations = {phone(), bank_account()};
    } else {
      made.destinations = {
          {DestinationMethod::crypto,
           "",
           "",
           {},
           CryptoDetails{
               beneficiary.network, beneficiary.symbol, wallets[*beneficiary.wallet].address, {}}}};
    }
    if (beneficiary.network == "moon") beneficiary.wallet.reset();
    beneficiary.id =
        flows::create_beneficiary(*context_, caller_.tenant, made).value().beneficiary.id;
  }
}

std::vector<StoredAccount> World::accounts() {
  const auto lease = database_->reader().value();
  std::vector<StoredAccount> out;
  store::Query query(lease.db(), kAccounts);
  while (query.step()) {
    out.push_back({static_cast<int>(query.integer(0)), query.integer(1), query.integer(2),
                   query.integer(3), query.integer(4), query.integer(5)});
  }
  return out;
}

std::vector<store::LimitRow> World::limits() {
  const auto lease = database_->reader().value();
  return store::list_limits(lease.db());
}

Result<std::vector<store::ReportRow>> World::report(store::Report report, Timestamp from,
                                                    Timestamp to, const store::ReportShare& share) {
  const auto lease = database_->reader().value();
  const auto period = store::book_period(lease.db(), Environment::sandbox, from, to);
  return store::report_rows(lease.db(), report, period, share);
}

std::vector<store::BookEntry> World::book_entries() {
  const auto lease = database_->reader().value();
  const auto period = store::book_period(lease.db(), Environment::sandbox, {}, {});
  std::vector<store::BookEntry> out;
  store::each_book_entry(lease.db(), period,
                         [&](const store::BookEntry& entry) { out.push_back(entry); });
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

std::vector<store::Violation> World::verify(bool deep) {
  const auto lease = database_->reader().value();
  flows::use_chain_keys(sealer_, lease.db()).value();
  std::vector<store::Violation> found = store::verify(lease.db(), deep, [](auto&&...) {});
  if (!deep) return found;
  store::Verification slices;
  while (!slices.slice(lease.db(), 1'000, 1'000).round_over) {
  }
  found.insert(found.end(), slices.violations().begin(), slices.violations().end());
  return found;
}

bool World::verified(std::size_t wallet) {
  const auto lease = database_->reader().value();
  return store::wallet_status(lease.db(), wallets[wallet].key) == WalletStatus::verified;
}

void World::set_paused(std::size_t connector, bool paused) {
  static_cast<void>(
      flows::change_connector(*context_, connectors[connector].terms.id,
                              ConnectorChange().set<&ConnectorTerms::status>(
                                  paused ? ConnectorStatus::paused : ConnectorStatus::active))
          .value());
}

PersonMetadata World::new_details() {
  return {"P" + std::to_string(++details_), "Q", "1990-01-01", "KEN", {}, {}, {}, {}, {}};
}

void World::damage(const std::string& sql) {
  store::Connection behind(folder_ + "/ledger.db", store::OpenMode::read_write);
  test::change_unguarded(behind, sql);
}

std::string World::file_digest() {
  context_.reset();
  queue_.reset();
  database_.reset();
  std::string bytes;
  for (const char* suffix : {"", "-wal"}) {
    std::ifstream file(folder_ + "/ledger.db" + suffix, std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(file), {});
  }
  return to_hex(sha256(bytes));
}

}  // namespace coffer::property
