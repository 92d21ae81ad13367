// Commands that no client waits for (CommitQueue::Mode::background).
#include <catch2/catch.hpp>
#include <string>

#include "base/thread.h"
#include "store/commit_queue.h"
#include "unit/store/ledger_fixture.h"
#include "unit/store/notes.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace commit_queue_background_test {
TEST_CASE("commit queue: a background command shares the commit of the next command") {
  OpenedFile file({.patience_ms = 60'000});
  const auto before = file.queue->stats().commits;
  Result<void> settled;
  Thread background("background", [&] {
    settled = file.queue->run(note("note1"), CommitQueue::Mode::background);
  });
  while (file.queue->stats().queued == 0) rest(1);
  CHECK(file.write(note("note2")));
  background.join();
  CHECK(settled);
  CHECK(notes(file) == 2);
  CHECK(file.queue->stats().commits == before + 1);
}

TEST_CASE("commit queue: background commands are the last of their batch") {
  OpenedFile file({.patience_ms = 60'000});
  std::string order;
  const auto say = [&](const char* name) {
    return [&order, name](WriteTx&) -> Result<void> {
      order += name;
      return {};
    };
  };
  Result<void> settled;
  Thread background("background", [&] {
    settled = file.queue->run(say("settlement"), CommitQueue::Mode::background);
  });
  while (file.queue->stats().queued == 0) rest(1);
  CHECK(file.write(say("payment, ")));
  background.join();
  CHECK(settled);
  CHECK(order == "payment, settlement");
}

TEST_CASE("commit queue: without another command, a background command is committed alone") {
  OpenedFile file({.patience_ms = 1});
  CHECK(file.queue->run(note("note"), CommitQueue::Mode::background));
  CHECK(notes(file) == 1);
}

TEST_CASE("commit queue: a stop does not wait for the patience of a background command") {
  OpenedFile file({.patience_ms = 60'000});
  Result<void> settled;
  Thread background("background", [&] {
    settled = file.queue->run(note("note"), CommitQueue::Mode::background);
  });
  while (file.queue->stats().queued == 0) rest(1);
  file.queue->stop();
  background.join();
  CHECK(settled);
  CHECK(notes(file) == 1);
}

}  // namespace commit_queue_background_test
