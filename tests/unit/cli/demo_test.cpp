#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "auth/secret_hash.h"
#include "cli/demo/demo_secrets.h"
#include "cli/demo/demo_seed.h"
#include "cli/demo/demo_text.h"
#include "embedded/embedded.h"
#include "store/identity/tenants.h"
#include "store/ledger/catalog.h"
#include "store/ledger/journal.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;

namespace {

DemoSecrets ensure(OpenFile& file) {
  const auto world = ensure_demo_world(file.app());
  REQUIRE(world);
  auto secrets = ensure_demo_secrets(file.app(), world->association);
  REQUIRE(secrets);
  return *std::move(secrets);
}

store::ApplicationRow application(OpenFile& file, ApplicationId id) {
  return *store::with_reader(file.app().database(),
                             [&](store::Connection& db) -> Result<store::ApplicationRow> {
                               return *store::find_application(db, id);
                             });
}

bool works(OpenFile& file, const DemoSecrets& secrets) {
  const auto row = application(file, secrets.application);
  const auth::SecretHasher& hasher = *file.app().flows().hasher;
  return !row.suspended && row.client_id == secrets.client_id &&
         row.public_key == secrets.public_key &&
         hasher.matches(row.client_secret_hash, secrets.client_secret.reveal()) &&
         hasher.matches(row.api_key_hash, secrets.api_key.reveal()) &&
         hasher.matches(row.connect_hash, secrets.connect_secret.reveal()) &&
         hasher.matches(row.sign_in_hash, secrets.sign_in_secret.reveal());
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("a demo contains the objects that the command line contract requires", "[cli][demo]") {
  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  const auto world = ensure_demo_world(file.app());
  REQUIRE(world);
  CHECK(world->wallets.at(0).name == "Treasury");
  CHECK(world->wallets.at(1).name == "Operations");
  store::with_reader(file.app().database(), [&](store::Connection& db) -> Result<void> {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& wallet = world->wallets.at(i);
      const auto balances = store::balances_of(db, wallet.key);
      CHECK(wallet.own_account);
      CHECK(balances.size() == 4);
      CHECK(balances.at(0).asset.code == wallet.asset_code);
      CHECK(balances.at(0).balance.to_string(7) == "1000000.00");
    }
    CHECK(world->wallets.at(2).asset_code.value() == "EURC");
    CHECK(world->wallets.at(3).status == WalletStatus::pending);
    CHECK(store::list_rates(db, Environment::sandbox).size() == 12);
    for (const Asset& asset : store::list_assets(db)) {
      CHECK(store::operator_balance(db, Environment::sandbox, AccountKind::liquidity, asset.key)
                .is_positive());
    }
    return {};
  }).value();
  CHECK(file.run("verify").code == 0);
}

TEST_CASE("a reopened demo is unchanged, without duplicates", "[cli][demo]") {
  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  const DemoSecrets first = ensure(file);
  file.reopen();
  const DemoSecrets second = ensure(file);
  CHECK(first.application == second.application);
  CHECK(first.client_secret.reveal() == second.client_secret.reveal());
  CHECK(first.secret_seed.reveal() == second.secret_seed.reveal());
  CHECK(works(file, second));
  CHECK(file.run("association list").json().size() == 1);
  CHECK(file.run("application list").json().size() == 1);
  CHECK(file.run("wallet list").json().size() == 4);
}

TEST_CASE("changes by users of a demo are kept", "[cli][demo]") {
  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  const DemoSecrets secrets = ensure(file);
  static_cast<void>(file.run("rate remove", {{"SELL", "USDC"}, {"BUY", "XAF"}}));
  file.reopen();
  ensure(file);
  const auto rates = file.run("rate list").json();
  CHECK(rates.size() == 11);
  for (const auto& rate : rates) {
    const bool inexact = rate.at("sellAssetCode") == "EURC" && rate.at("buyAssetCode") == "USDC";
    if (inexact) CHECK(rate.at("rate") == "1.086956521");
    if (inexact) CHECK(rate.at("fraction") == "25/23");
  }
}

TEST_CASE("a demo issues new secrets if the stored ones do not match", "[cli][demo]") {
  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  const DemoSecrets first = ensure(file);
  const std::string path = demo_secrets_path(file.path());

  SECTION("after a rotation outside the demo: for the same application") {
    CHECK(file.run("application rotate", {{"ID", first.application.to_string()}}).code == 0);
    const DemoSecrets second = ensure(file);
    CHECK(second.application == first.application);
    CHECK(second.secret_seed.reveal() == first.secret_seed.reveal());
    CHECK(works(file, second));
    const auto row = application(file, first.application);
    INFO("the secrets of the rotation stay valid");
    CHECK(row.old_at(file.app().queue().now()) != nullptr);
  }
  SECTION("killed between the key pair and the registration, or before the secrets were kept") {
    write(path, R"({"publicKey":")" + first.public_key + R"(","secretSeed":")" +
                    first.secret_seed.reveal() + R"("})");
    const DemoSecrets second = ensure(file);
    CHECK(second.application == first.application);
    CHECK(works(file, second));
  }
  SECTION("the file is lost or no longer JSON: then for a new application") {
    for (const char* text : {"", "{", "[]", R"({"publicKey":7})", R"({"secretSeed":"S"})"}) {
      write(path, text);
      const DemoSecrets second = ensure(file);
      CHECK(second.application != first.application);
      CHECK(works(file, second));
    }
  }
  SECTION("the application was suspended: the demo activates it again") {
    CHECK(file.run("application suspend", {{"ID", first.application.to_string()}}).code == 0);
    CHECK(works(file, ensure(file)));
  }
  const DemoSecrets kept = ensure(file);
  CHECK(works(file, kept));
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::mask) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
}

TEST_CASE("a file that is not a demo is unchanged", "[cli][demo]") {
  OpenFile file;
  SECTION("not claimed") {}
  SECTION("claimed, but contains an association") {
    REQUIRE(claim_demo(file.path()));
    CHECK(file.run("association create", {{"NAME", "Acme"}}).code == 0);
  }
  const auto world = ensure_demo_world(file.app());
  REQUIRE_FALSE(world);
  CHECK(world.error().slug == Slug::conflict);
  CHECK(file.run("asset list").json().empty());
}

TEST_CASE("the creation of a demo continues after any interruption", "[cli][demo]") {
  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  // Some objects of the seed exist already, as after a kill.
  CHECK(file.run("asset add", {{"CODE", "USDC"}, {"name", "USD Coin"}}).code == 0);
  CHECK(file.run("association create", {{"NAME", "Demo Ltd"}}).code == 0);
  ensure(file);
  CHECK(file.run("association list").json().size() == 1);
  CHECK(file.run("asset list").json().size() == 4);
  CHECK(file.run("verify").code == 0);
}

TEST_CASE("the world of a demo is a file of coffer apply, and its creation continues after it",
          "[cli][demo]") {
  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  const std::string declared(embedded::demo_world());
  // As after a kill when everything declared exists, and nothing else.
  REQUIRE(file.run("apply", {{"FILE", declared}}).code == 0);
  const DemoWorld world = ensure_demo_world(file.app()).value();
  CHECK(world.wallets.size() == 4);
  CHECK(file.run("connector list").json().size() == 11);
  CHECK(file.run("rate list").json().size() == 12);
  REQUIRE(world.beneficiaries.size() == 3);
  const auto& addresses = world.beneficiaries.back().destinations;
  REQUIRE(addresses.size() == 2);
  for (const auto& address : addresses) {
    CHECK(std::get<CryptoDetails>(address.detail.details).wallet_address ==
          world.wallets.at(1).public_key);
  }
  store::with_reader(file.app().database(), [&](store::Connection& db) -> Result<void> {
    CHECK(store::balances_of(db, world.wallets.at(0).key).front().balance.to_string(7) ==
          "1000000.00");
    return {};
  }).value();
  const auto nigeria =
      std::ranges::find(world.connectors, "Nigeria bank payout", &ConnectorTerms::name);
  REQUIRE(nigeria != world.connectors.end());
  const auto shown = file.run("connector show", {{"ID", nigeria->id.to_string()}}).json();
  CHECK(shown.at("requirements").size() == 1);
  const Ran again = file.run("apply", {{"FILE", declared}, {"dry-run", "true"}}, false);
  CHECK((again.out + again.err).find("All objects match the file") != std::string::npos);
  CHECK(file.run("verify").code == 0);
}

TEST_CASE("the start text has no unfilled placeholder", "[cli][demo]") {
  CHECK(filled("a @b@ c@d@", {{"b", "1"}, {"d", "@x@"}}) == "a 1 c@x@");
  CHECK(filled("plain", {}) == "plain");
  CHECK_THROWS_AS(filled("@b@", {}), InternalError);
  CHECK_THROWS_AS(filled("a@b", {}), InternalError);

  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  const Demo demo{ensure_demo_world(file.app()).value(), ensure(file)};
  const std::string text = demo_start_text(
      demo, {"https://127.0.0.1:1", "/x/demo.db", "/it's/cert.pem", "https://a/"}, "demo-1");
  CHECK(text.find("--cacert '/it'\\''s/cert.pem' https://127.0.0.1:1/v1/auth/token") !=
        std::string::npos);
  CHECK(text.find(demo.secrets.client_secret.reveal()) != std::string::npos);
  CHECK(text.find('@') == std::string::npos);
}

TEST_CASE("the file of --env has names that no setting has, and each secret", "[cli][demo]") {
  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  const Demo demo{ensure_demo_world(file.app()).value(), ensure(file)};
  const std::string text = demo_env_text(demo, {"http://127.0.0.1:1", "/x/demo.db", "", ""});
  CHECK(text.find("\nBASE_URL=http://127.0.0.1:1\n") != std::string::npos);
  CHECK(text.find("\nCLIENT_ID=" + demo.secrets.client_id + "\n") != std::string::npos);
  CHECK(text.find("\nAPI_KEY=" + demo.secrets.api_key.reveal() + "\n") != std::string::npos);
  CHECK(text.find("\nSECRET_SEED=" + demo.secrets.secret_seed.reveal() + "\n") !=
        std::string::npos);
  INFO("an application must not get the password of the operator");
  CHECK(text.find("PASSWORD") == std::string::npos);
  INFO("the prefix belongs to the settings of the server");
  CHECK(text.find("\nCOFFER_") == std::string::npos);
}

TEST_CASE("--env replaces only a file that a demo wrote", "[cli][demo]") {
  OpenFile file;
  REQUIRE(claim_demo(file.path()));
  const Demo demo{ensure_demo_world(file.app()).value(), ensure(file)};
  const DemoPlace first{"http://127.0.0.1:1", file.path(), "", ""};
  const DemoPlace second{"http://127.0.0.1:2", file.path(), "", ""};
  const std::string path = file.path() + ".env";
  const auto text_of = [](const std::string& name) {
    std::ifstream in(name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };

  REQUIRE(check_demo_env(path, file.path()));
  REQUIRE(write_demo_env(path, demo, first));
  CHECK((std::filesystem::status(path).permissions() & std::filesystem::perms::mask) ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  REQUIRE(check_demo_env(path, file.path()));
  REQUIRE(write_demo_env(path, demo, second));
  CHECK(text_of(path) == demo_env_text(demo, second));

  SECTION("another program wrote it") {
    for (const char* text : {"", "BASE_URL=x\n", "# Written by coffer demo"}) {
      write(path, text);
      const auto checked = check_demo_env(path, file.path());
      REQUIRE_FALSE(checked);
      CHECK(checked.error().slug == Slug::conflict);
      CHECK_FALSE(write_demo_env(path, demo, second));
      CHECK(text_of(path) == text);
    }
  }
  SECTION("its user has deleted the first line to keep it") {
    const std::string text = text_of(path);
    const std::string kept = text.substr(text.find('\n') + 1);
    write(path, kept);
    CHECK_FALSE(check_demo_env(path, file.path()));
    CHECK(text_of(path) == kept);
  }
  SECTION("a link, even to a file of a demo") {
    const std::string link = path + ".link";
    std::filesystem::create_symlink(path, link);
    CHECK_FALSE(check_demo_env(link, file.path()));
    CHECK_FALSE(write_demo_env(link, demo, first));
    CHECK(std::filesystem::is_symlink(link));
    CHECK(text_of(path) == demo_env_text(demo, second));
  }
  SECTION("a folder, or a file that belongs to the database") {
    std::filesystem::create_directory(path + ".d");
    CHECK_FALSE(check_demo_env(path + ".d", file.path()));
    const auto beside = check_demo_env(file.path() + "-wal", file.path());
    REQUIRE_FALSE(beside);
    CHECK(beside.error().slug == Slug::malformed_request);
  }
}
