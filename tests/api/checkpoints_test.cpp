// The times at which a server writes checkpoints of its file (docs/operating.md#checkpoints).
#include <catch2/catch.hpp>

#include "flows/operations/checkpoint_rounds.h"
#include "flows/operations/file_keys.h"
#include "store/identity/audit_log.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace checkpoints_test {
namespace {

struct World {
  TestApp app;
  std::vector<std::string> lines;
  bool keeps = true;
  flows::CheckpointRounds rounds{app.flows(),
                                 [this](Timestamp, const std::string& line) -> Result<void> {
                                   if (!keeps)
                                     return unexpected(Slug::unexpected_error, "no archive");
                                   lines.push_back(line);
                                   return {};
                                 }};

  void run() {
    rounds.run([] { return false; });
  }
  flows::Checkpoints written() const {
    flows::Checkpoints out;
    for (const std::string& line : lines) out.push_back(flows::parse_checkpoint(line).value());
    return out;
  }
  void pay() { Client(app, app.me().credentials()).wallet("USDC", "10"); }  // with a new token
};

}  // namespace

TEST_CASE("checkpoint rounds: one at the start, then hourly while rows are added") {
  World world;
  world.pay();
  world.run();
  REQUIRE(world.written().size() == 1);
  const auto first = world.written().front().heads;
  CHECK(first.entry_sets > 0);
  world.app.clock.advance_ms(2 * flows::CheckpointRounds::kEveryMs);
  world.run();
  CHECK(world.written().size() == 1);
  world.pay();
  world.run();
  REQUIRE(world.written().size() == 2);
  CHECK(world.written().back().heads.entry_sets > first.entry_sets);
  world.pay();
  world.app.clock.advance_ms(flows::CheckpointRounds::kEveryMs - 1);
  world.run();
  CHECK(world.written().size() == 2);
  world.app.clock.advance_ms(1);
  world.run();
  CHECK(world.written().size() == 3);
}

TEST_CASE("checkpoint rounds: a checkpoint that could not be kept is made again") {
  World world;
  world.keeps = false;
  world.run();
  CHECK(world.rounds.has_failed());
  world.keeps = true;
  world.run();
  CHECK_FALSE(world.rounds.has_failed());
  CHECK(world.written().size() == 1);
  world.run();
  CHECK(world.written().size() == 1);
}

TEST_CASE("checkpoint rounds: a stop ends a round that follows long chains") {
  World world;
  constexpr int kMoreThanOneRead = 2'001;
  const auto stored = world.app.flows().queue.run([](store::WriteTx& tx) -> Result<void> {
    for (int i = 0; i < kMoreThanOneRead; ++i) {
      store::append_audit_entry(tx, {"ada", "wallet verify", "{}", std::nullopt});
    }
    return {};
  });
  REQUIRE(stored);
  world.rounds.run([] { return true; });
  CHECK(world.written().empty());
  world.run();
  REQUIRE(world.written().size() == 1);
  CHECK(world.written().front().heads.audit_entries >= kMoreThanOneRead);
}

}  // namespace checkpoints_test
