#include "support/test_app.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <climits>
#include <exception>
#include <filesystem>
#include <iostream>

#include "base/telemetry/log.h"
#include "flows/ledger/market_changes.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/operations/file_keys.h"
#include "store/invariants.h"
#include "store/ledger/catalog.h"
#include "store/ledger/wallets.h"
#include "store/operations/verification.h"
#include "store/payments/open_payments.h"
#include "store/payments/payments.h"
#include "support/exchange_log.h"
#include "support/writer_plans.h"

namespace coffer::test {
namespace {

std::string make_folder() {
  std::string path = (std::filesystem::temp_directory_path() / "coffer-test-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) throw InternalError("no temporary folder at " + path);
  return path;
}

struct AssetRow {
  const char* code;
  const char* name;
  int decimals;
};
constexpr AssetRow kAssets[] = {{"USDC", "US Dollar", 7},
                                {"EURC", "Euro", 7},
                                {"KES", "Kenyan Shilling", 2},
                                {"JPY", "Japanese Yen", 0}};

}  // namespace

TestApp::TestApp(const std::function<void(Config&)>& change)
    : folder_(make_folder()), failed_before_(failed_assertions()) {
  redirect_log([this](std::string_view line) {
    const Lock lock(log_mutex_);
    log_.append(line).append("\n");
  });
  config_.db = folder_ + "/coffer.db";
  config_.master_key_file = folder_ + "/master.key";
  config_.listen_http.port = 0;
  config_.workers = 2;
  config_.readers = 2;
  config_.drain_s = 1;
  config_.disk_floor_mib = 0;
  config_.rate_limit_production_per_s = 0;
  config_.rate_limit_sandbox_per_s = 0;
  config_.rate_limit_login_per_min = 0;
  config_.home_domain = "coffer.example";  // a challenge from before listen() stays valid
  config_.webhook_senders = 4;
  config_.webhook_timeout_ms = 2'000;
  config_.webhook_allow_targets = {"127.0.0.1"};  // receivers of tests
  if (change) change(config_);
  open();
  for (const AssetRow& asset : kAssets) {
    flows::register_asset(flows(), {asset.code, asset.name, asset.decimals, ""}).value();
  }
  association_ = register_association();
  me_ = std::make_unique<Client>(*this, register_application(association_));
}

TestApp::~TestApp() {
  check_invariants();
  app_.reset();
  redirect_log(nullptr);
  if (failed_assertions() == failed_before_ && std::uncaught_exceptions() == 0) {
    std::filesystem::remove_all(folder_);
  } else {
    std::cout << "kept for a look: " << config_.db << "\n" << log();
  }
}

void TestApp::open() {
  StartError error;
  app_ = App::open(config_, clock, random, error, App::Missing::create);
  INFO(error.message);
  REQUIRE(app_);
  app_->set_password_cost({1, 1, 1});
}

void TestApp::check_invariants() {
  if (!app_) return;
  for (const std::string& scan : writer_scans(app_->queue())) {
    FAIL_CHECK("the writer scans a table that grows: " << scan);
  }
  app_->stop();
  store::Connection db(config_.db, store::OpenMode::read_only);
  REQUIRE(flows::use_chain_keys(app_->flows().sealer, db));
  for (const store::Violation& violation : store::verify(db, true, [](auto&&...) {})) {
    FAIL_CHECK("invariant " << violation.invariant << ": " << violation.detail);
  }
  store::Verification slices;
  while (!slices.slice(db, 100, 1'000).round_over) {
  }
  for (const store::Violation& violation : slices.violations()) {
    FAIL_CHECK("in slices: invariant " << violation.invariant << ": " << violation.detail);
  }
}

AssociationId TestApp::register_association(AssociationStatus status) {
  return flows::register_association(flows(), "Association", status).value().id;
}

void TestApp::change_status(AssociationId id, AssociationStatus to) {
  flows::change_association_status(flows(), id, to).value();
}

Credentials TestApp::register_application(std::optional<AssociationId> association,
                                          Environment environment, ScopeSet scopes) {
  const auto out =
      flows::register_application(flows(), {"Application", association, environment, scopes, {}})
          .value();
  return {out.application.id,
          out.secrets.client_id,
          out.secrets.client_secret.reveal(),
          out.secrets.api_key.reveal(),
          out.secrets.connect_secret.reveal(),
          out.secrets.sign_in_secret.reveal(),
          out.secrets.public_key,
          out.secrets.secret_seed.reveal()};
}

Client TestApp::stranger(Environment environment) {
  return Client(*this, register_application(register_association(), environment));
}

Client TestApp::production() {
  return Client(*this, register_application(association_, Environment::production));
}

void TestApp::rate(const char* sell, const char* buy, const char* rate) {
  flows::set_rate(flows(), Environment::sandbox, *AssetCode::parse(sell), *AssetCode::parse(buy),
                  *Rate::parse(rate))
      .value();
}

void TestApp::liquidity(const char* asset, const char* amount) {
  flows::add_liquidity(flows(), Environment::sandbox, *AssetCode::parse(asset),
                       parse_amount(amount, Amount::kScale).amount)
      .value();
}

void TestApp::issue(const std::string& wallet, const char* asset, const char* amount) {
  app_->queue()
      .run([&](store::WriteTx& tx) -> Result<void> {
        const WalletId id = *WalletId::parse(wallet);
        const Tenant tenant = *store::tenant_of_wallet(tx.db(), id);
        const Asset row = *store::find_asset(tx.db(), *AssetCode::parse(asset));
        const auto key = store::find_wallet_brief(tx.db(), tenant, id)->key;
        return flows::issue_into(
            tx,
            {tenant.environment, tenant.key, *store::find_trustline(tx.db(), key, row.key), row,
             parse_amount(amount, row.decimals).amount},
            store::JournalKind::funding);
      })
      .value();
}

namespace {

/// Settlement takes payments from memory; each must be what the file has.
void check_remembered(store::CommitQueue& queue) {
  const auto checked = queue.run([](store::WriteTx& tx) -> Result<void> {
    for (const auto& job : store::due_settlements(tx.db(), tx.now(), INT_MAX)) {
      auto remembered = tx.open_payments().take(job);
      if (!remembered) continue;
      if (*remembered != store::settlement_view(tx.db(), job.payment)) {
        FAIL_CHECK("payment " << job.payment << " in memory differs from the file");
      }
      tx.open_payments().remember(*std::move(remembered));
    }
    return {};
  });
  CHECK(checked.has_value());
}

}  // namespace

int TestApp::settle() {
  check_remembered(core().queue());
  int settled = 0;
  while (const int round = app_->background().settle_once()) settled += round;
  return settled;
}

int TestApp::deliver() { return app_->background().deliver_once(); }

void TestApp::listen() {
  StartError error;
  const bool serving = app_->serve(error);
  INFO(error.message);
  REQUIRE(serving);
}

void TestApp::restart(const std::function<void(Config&)>& change) {
  app_.reset();
  if (change) change(config_);
  open();
}

std::string TestApp::log() const {
  const Lock lock(log_mutex_);
  return log_;
}

}  // namespace coffer::test
