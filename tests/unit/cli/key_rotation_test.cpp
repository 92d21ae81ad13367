// Rotation of the master key: every sealed value opens only with the new key.
#include "flows/operations/key_rotation.h"

#include <catch2/catch.hpp>
#include <map>

#include "auth/seal.h"
#include "auth/totp.h"
#include "base/platform/exit_code.h"
#include "flows/identity/approvals.h"
#include "flows/identity/operator_sign_in.h"
#include "flows/identity/operators.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/webhooks/webhook_changes.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/operations/seals.h"
#include "unit/cli/open_file.h"
#include "unit/cli/own_command.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::Folder;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::cli::test::run_own;

namespace {

SeededRandom source_of_keys(21);

/// A value in every sealed column.
void seal_everything(OpenFile& file) {
  const auto& flows = file.app().flows();
  const std::string association =
      file.run("association create", {{"NAME", "Acme"}}).json().at("id");
  REQUIRE(file.run("asset add", {{"CODE", "USDC"}, {"name", "USDC"}}).code == 0);
  REQUIRE(file.run("user add", {{"USERNAME", "ada"}, {"association", association}}).code == 0);
  REQUIRE(file.run("application register", {{"name", "app"}, {"association", association}}).code ==
          0);
  const Ran connector = file.run("connector add", {{"NAME", "Payouts"},
                                                   {"driver", "http"},
                                                   {"base-url", "https://provider.example"},
                                                   {"method", "MOMO"},
                                                   {"country", "ke"},
                                                   {"currency", "kes"},
                                                   {"asset", "USDC"},
                                                   {"min", "1"},
                                                   {"max", "1000"}});
  REQUIRE(connector.code == 0);
  // The previous address keeps its own secret.
  REQUIRE(file.run("connector set-url",
                   {{"ID", connector.json().at("id")}, {"URL", "https://another.example"}})
              .code == 0);
  const Tenant tenant =
      *store::with_reader(file.app().database(), [&](store::Connection& db) -> Result<Tenant> {
        return *store::find_tenant(db, *AssociationId::parse(association), Environment::sandbox);
      });
  REQUIRE(flows::register_wallet(flows, tenant, {"Own", *AssetCode::parse("USDC"), true, {}}));
  const auto webhook = flows::register_webhook(
      flows, tenant, {1, "https://hooks.example/x", std::nullopt, EventTypeSet::payments()});
  REQUIRE(webhook);
  REQUIRE(flows::rotate_webhook_secret(flows, {tenant, webhook->webhook.id, std::nullopt}, 3'600));
  REQUIRE(flows::listener_secret(flows, tenant));
  REQUIRE(flows::ensure_administrator(flows, "root", Secret("correct horse battery"), true));
  const auto root = flows::sign_in_operator(flows, "root", {Secret("correct horse battery")},
                                            {"127.0.0.1", "127.0.0.1"});
  REQUIRE(root);
  SeededRandom random(5);
  const Secret key = auth::generate_totp_key(random);
  REQUIRE(flows::enrol_otp(flows, root->row.id, key,
                           auth::totp_code(key, auth::totp_step(file.clock().now())),
                           {"127.0.0.1", "127.0.0.1"}));
  REQUIRE(flows::request_approval(flows, {"root", OperatorRole::administrator, root->row.id},
                                  {"wallet fund", "{}", {{"amount", "1"}}}));
}

/// column -> values that open with the key, and values that do not.
std::map<std::string, std::pair<int, int>> opened_with(App& app, const auth::MasterKey& key) {
  SeededRandom random(9);
  const auth::Sealer sealer(key, random);
  std::map<std::string, std::pair<int, int>> out;
  struct Unchanged {};
  const auto counted = app.queue().run([&](store::WriteTx& tx) -> Result<void> {
    const auto all = store::reseal_all(
        tx, [&](const std::string& sealed, const std::string& context) -> Result<std::string> {
          auto& counts = out[context.substr(0, context.find(':'))];
          ++(sealer.open(sealed, context) ? counts.first : counts.second);
          return sealed;
        });
    return all ? Result<void>() : unexpected(all.error());
  });
  REQUIRE(counted);
  return out;
}

}  // namespace

TEST_CASE("key rotation: every sealed value opens with the new key, and none with the old",
          "[cli]") {
  OpenFile file;
  seal_everything(file);
  const auto old_key = auth::load_or_create_master_key(
      std::filesystem::path(file.path()).parent_path() / "master.key", source_of_keys,
      auth::MissingKey::refuse);
  REQUIRE(old_key);
  const auth::MasterKey next = auth::MasterKey::generate(source_of_keys);
  const auto before = opened_with(file.app(), *old_key);
  CHECK(before.size() == 10);  // six kinds of columns, the challenge key, the listener's secret
  CHECK(before.at("webhook-secret").first == 2);
  CHECK(before.at("connector-secret").first == 2);

  const auto count = flows::rotate_master_key(file.app().flows(), next);
  REQUIRE(count);
  CHECK(*count == 12);
  for (const auto& [context, counts] : opened_with(file.app(), next)) {
    INFO(context);
    CHECK(counts == std::pair(before.at(context).first, 0));
  }
  for (const auto& [context, counts] : opened_with(file.app(), *old_key)) {
    INFO(context);
    CHECK(counts.first == 0);
  }
  CHECK(flows::rotate_master_key(file.app().flows(), next).error().slug == Slug::conflict);
}

TEST_CASE("key rotation: one value that does not open leaves everything unchanged", "[cli]") {
  OpenFile file;
  seal_everything(file);
  REQUIRE(file.app().queue().run([](store::WriteTx& tx) -> Result<void> {
    store::write_meta(tx, "listener_secret:x", "damaged");
    return {};
  }));
  const auth::MasterKey next = auth::MasterKey::generate(source_of_keys);
  CHECK_FALSE(flows::rotate_master_key(file.app().flows(), next));
  for (const auto& [context, counts] : opened_with(file.app(), next)) CHECK(counts.first == 0);
}

TEST_CASE("key rotate: the file then opens only with the new key, and a running server prevents it",
          "[cli]") {
  OpenFile file;
  Folder folder;
  const std::string new_key = folder.file("new.key");
  const std::string old_key =
      (std::filesystem::path(file.path()).parent_path() / "master.key").string();
  const auto rotate = [&] {
    std::ostringstream out;
    std::ostringstream err;
    const Console console{out, err};
    const auto own = std::get<OwnCommand>(find_command("key rotate")->run);
    return own(console, {{{"new-key-file", new_key}}, true},
               {{"db", file.path()}, {"master_key_file", old_key}});
  };
  CHECK(rotate() == exit_code::kBusy);
  file.reopen([&] {
    CHECK(rotate() == 0);
    CHECK(rotate() == exit_code::kConfiguration);  // the old key is rejected
    std::filesystem::rename(new_key, old_key);
  });
  const auto acts = file.run("audit list").json();
  CHECK(acts.at(0).at("command") == "key rotate");
  CHECK(acts.at(0).at("outcome") == "done");
  CHECK(file.run("verify").code == 0);
}

TEST_CASE("key rotate: below disk_floor_mib, no new key is created", "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string new_key = folder.file("new.key");
  const std::string old_key = file.app().config().master_key_file;
  file.reopen([&] {
    const Ran ran =
        run_own("key rotate", {{"new-key-file", new_key}},
                {{"db", file.path()}, {"master_key_file", old_key}, {"disk_floor_mib", "1048576"}});
    INFO(ran.err);
    CHECK(ran.code == exit_code::kBusy);
    CHECK_FALSE(std::filesystem::exists(new_key));
  });
}

TEST_CASE("key rotate: a missing folder, and a name beside the database, are rejected", "[cli]") {
  OpenFile file;
  const Folder folder;
  const std::string old_key = file.app().config().master_key_file;
  file.reopen([&] {
    const auto rotate = [&](const std::string& new_key) {
      return run_own("key rotate", {{"new-key-file", new_key}},
                     {{"db", file.path()}, {"master_key_file", old_key}});
    };
    const Ran missing = rotate(folder.file("none/new.key"));
    INFO(missing.err);
    CHECK(missing.code == exit_code::kFailed);
    CHECK_THAT(missing.err,
               Catch::Matchers::Contains("the folder " + folder.file("none") + " does not exist"));
    CHECK_FALSE(std::filesystem::exists(folder.file("none")));
    for (const char* ending : {"-wal", "-shm", "-journal", ".sock", ".lock"}) {
      const Ran beside = rotate(file.path() + ending);
      INFO(ending << " " << beside.err);
      CHECK(beside.code == exit_code::kUsage);
    }
  });
  CHECK(file.run("verify").code == 0);
}
