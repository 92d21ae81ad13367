// `coffer checkpoint` signs only a continuation of the previous checkpoint
// (docs/operating.md#checkpoints).
#include <catch2/catch.hpp>

#include "flows/ledger/wallet_changes.h"
#include "flows/operations/file_keys.h"
#include "store/identity/tenants.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using namespace coffer::cli::test;

namespace checkpoint_command_test {
namespace {

struct World {
  World() { act(); }

  /// Commands of the operator, with entries in the audit log and in the journal.
  void act() {
    const std::string code = "A" + std::string(1, static_cast<char>('A' + acts++));
    REQUIRE(file.run("asset add", {{"CODE", code}, {"name", "An asset"}}).code == 0);
    if (wallet.empty()) wallet = new_wallet(AssetCode::parse(code).value());
    REQUIRE(file.run("wallet fund", {{"ID", wallet}, {"asset", "AA"}, {"amount", "1"}}).code == 0);
  }
  std::string new_wallet(const AssetCode& asset) {
    const std::string id = file.run("association create", {{"NAME", "Acme"}}).json().at("id");
    const Tenant tenant =
        store::with_reader(file.app().database(), [&](store::Connection& db) -> Result<Tenant> {
          return *store::find_tenant(db, *AssociationId::parse(id), Environment::sandbox);
        }).value();
    return flows::register_wallet(file.app().flows(), tenant, {"Treasury", asset, true, {}})
        .value()
        .id.to_string();
  }
  /// Changes the file directly, without its triggers.
  void change(const std::string& sql) {
    REQUIRE(file.app().queue().run([&](store::WriteTx& tx) -> Result<void> {
      for (const char* trigger : {"audit_entries_are_not_changed", "audit_entries_are_not_deleted",
                                  "journal_is_final", "journal_is_kept"}) {
        tx.db().execute("DROP TRIGGER " + std::string(trigger));
      }
      tx.db().execute(sql);
      return {};
    }));
  }
  flows::Checkpoint sign() {
    const Ran ran = file.run("checkpoint");
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    return flows::parse_checkpoint(ran.json().at("checkpoint").get<std::string>()).value();
  }

  OpenFile file;
  std::string wallet;
  int acts = 0;
};

}  // namespace

TEST_CASE("checkpoint: each continues the previous one", "[cli]") {
  World world;
  const auto first = world.sign();
  CHECK(first.heads.entry_sets > 0);
  CHECK(first.heads.audit_entries > 0);
  world.act();
  const auto second = world.sign();
  CHECK(second.file == first.file);
  CHECK(second.heads.entry_sets == first.heads.entry_sets + 1);
  CHECK(second.heads.audit_entries > first.heads.audit_entries);
}

TEST_CASE("checkpoint: a chain that does not continue the previous checkpoint is not signed",
          "[cli]") {
  struct Row {
    const char* change;
    const char* reason;
  };
  const Row rows[] = {
      {"DELETE FROM audit_log WHERE entry > 1", "audit"},
      {"UPDATE audit_log SET actor = 'mallory' WHERE entry = (SELECT max(entry) FROM audit_log)",
       "does not continue the chain"},
      {"UPDATE audit_log SET link = zeroblob(32) WHERE entry = (SELECT max(entry) - 1 FROM"
       " audit_log)",
       "does not continue the chain"},
      {"UPDATE journal SET at = at + 1 WHERE journal = (SELECT max(journal) FROM journal)",
       "does not continue the hash chain"},
      {"UPDATE meta SET value = CAST('coffer-checkpoint-1 x' AS BLOB) WHERE name = "
       "'last_checkpoint'",
       "the previous checkpoint in the file is invalid"},
      // Without the previous one, everything is checked.
      {"DELETE FROM meta WHERE name = 'last_checkpoint';"
       "UPDATE audit_log SET actor = 'mallory' WHERE entry = 1",
       "audit entry 1 does not continue the chain"},
  };
  for (const Row& row : rows) {
    INFO(row.change);
    World world;
    world.sign();
    world.act();
    world.change(row.change);
    const Ran ran = world.file.run("checkpoint");
    CHECK(ran.code == 1);
    INFO(ran.err);
    CHECK(ran.err.find("checkpoint was signed: ") != std::string::npos);
    CHECK(ran.err.find(row.reason) != std::string::npos);
    CHECK(ran.err.find("coffer verify") != std::string::npos);
    CHECK(ran.out.find("coffer-checkpoint-1") == std::string::npos);
  }
}

TEST_CASE("checkpoint: the chains are followed in pieces", "[cli]") {
  World world;
  for (int i = 0; i < 1'100; ++i) world.file.run("asset add", {{"CODE", "AA"}, {"name", "again"}});
  const auto signed_at = world.sign();
  CHECK(signed_at.heads.audit_entries > 2'000);
  CHECK(world.file.run("verify").code == 0);
}

}  // namespace checkpoint_command_test
