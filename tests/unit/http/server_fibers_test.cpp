// Requests that wait for a completion, as for a commit, use no worker.

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <vector>

#include "base/fault.h"
#include "base/fibers/completion.h"
#include "base/thread.h"
#include "raw_client.h"
#include "running_server.h"

using namespace coffer;
using namespace coffer::http;
using namespace coffer::http::test;

namespace {

/// Completions that handlers wait for.
class Commits {
 public:
  void wait() {
    Completion completion;
    {
      const Lock lock(mutex_);
      waiting_.push_back(&completion);
      changed_.notify_all();
    }
    completion.wait();
  }
  void wait_for(std::size_t count) {
    const Lock lock(mutex_);
    while (waiting_.size() < count) changed_.wait(mutex_);
  }
  void complete_all() {
    std::vector<Completion*> all;
    {
      const Lock lock(mutex_);
      all.swap(waiting_);
    }
    for (Completion* completion : all) completion->complete();
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::vector<Completion*> waiting_ COFFER_GUARDED_BY(mutex_);
};

/// `/commit` waits for a commit, `/blocked` blocks its worker; other paths as echo().
Handler waiting_at(Commits& commits, Gatekeeper& gate) {
  return [&](Request& request) {
    if (request.path == "/commit") commits.wait();
    if (request.path == "/blocked") gate.wait();
    return echo(request);
  };
}

void with_workers(ServerOptions& options, std::size_t workers) {
  options.workers = workers;
  auto& lane = options.lanes[static_cast<std::size_t>(Lane::system)];
  lane = {"system", 64, 64, 64, 64};
}

/// Clients of which each waits for a commit. Returns when all of them do.
std::deque<RawClient> waiting_clients(const RunningServer& server, Commits& commits,
                                      std::size_t count) {
  std::deque<RawClient> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.emplace_back(server.port());
    clients.back().send(get("/commit"));
  }
  commits.wait_for(count);
  return clients;
}

}  // namespace

TEST_CASE("more requests than workers can wait for a commit", "[leaves]") {
  constexpr std::size_t kRequests = 40;
  Commits commits;
  Gatekeeper gate;
  RunningServer server([](ServerOptions& options) { with_workers(options, 4); },
                       waiting_at(commits, gate));
  std::deque<RawClient> clients = waiting_clients(server, commits, kRequests);
  RawClient other(server.port());
  other.send(get("/fixed"));
  CHECK(body_of(other.read_response()) == "ok");
  CHECK(server.eventually([](const ServerStats& stats) { return stats.busy == kRequests; }));
  commits.complete_all();
  for (RawClient& client : clients) CHECK(body_of(client.read_response()) == "GET /commit ");
  // The connections and the fibers serve again.
  for (RawClient& client : clients) client.send(get("/commit"));
  commits.wait_for(kRequests);
  commits.complete_all();
  for (RawClient& client : clients) CHECK(body_of(client.read_response()) == "GET /commit ");
}

#ifdef COFFER_FAULTS
TEST_CASE("without memory for more stacks, requests wait on their workers", "[leaves]") {
  constexpr std::size_t kRequests = 3;
  Commits commits;
  Gatekeeper gate;
  fault::arm("fiber.stack:0=fail");
  RunningServer server([](ServerOptions& options) { with_workers(options, kRequests + 1); },
                       waiting_at(commits, gate));
  for (int round = 0; round < 2; ++round) {
    std::deque<RawClient> clients = waiting_clients(server, commits, kRequests);
    RawClient other(server.port());
    other.send(get("/fixed"));
    CHECK(body_of(other.read_response()) == "ok");
    commits.complete_all();
    for (RawClient& client : clients) CHECK(body_of(client.read_response()) == "GET /commit ");
    fault::arm("");  // the next round has stacks again
  }
}
#endif

TEST_CASE("a request continues after its commit while other handlers block the active workers",
          "[leaves]") {
  constexpr std::size_t kBlocked = 6;
  Commits commits;
  Gatekeeper gate;
  RunningServer server([](ServerOptions& options) { with_workers(options, kBlocked + 1); },
                       waiting_at(commits, gate));
  RawClient client(server.port());
  client.send(get("/commit"));
  commits.wait_for(1);
  std::deque<RawClient> blocked;
  for (std::size_t i = 0; i < kBlocked; ++i) {
    blocked.emplace_back(server.port());
    blocked.back().send(get("/blocked"));
  }
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.busy == kBlocked + 1; }));
  commits.complete_all();
  CHECK(body_of(client.read_response()) == "GET /commit ");
  gate.open();
  for (RawClient& one : blocked) CHECK(body_of(one.read_response()) == "GET /blocked ");
}

TEST_CASE("a stop waits for requests that wait for their commit, even beyond its time limit",
          "[leaves]") {
  const int drain_ms = GENERATE(0, 5'000);
  Commits commits;
  Gatekeeper gate;
  RunningServer server([](ServerOptions& options) { with_workers(options, 2); },
                       waiting_at(commits, gate));
  RawClient first(server.port());
  RawClient second(server.port());
  first.send(get("/commit"));
  second.send(get("/commit"));
  commits.wait_for(2);
  std::atomic<bool> stopped{false};
  Thread stopping("stopping", [&] {
    server->stop(drain_ms);
    stopped = true;
  });
  rest(30);
  CHECK_FALSE(stopped.load());
  commits.complete_all();
  stopping.join();
  CHECK(body_of(first.read_response()) == "GET /commit ");
  CHECK(body_of(second.read_response()) == "GET /commit ");
}

TEST_CASE("a client that leaves during its commit does not keep the request", "[leaves]") {
  Commits commits;
  Gatekeeper gate;
  RunningServer server([](ServerOptions& options) { with_workers(options, 2); },
                       waiting_at(commits, gate));
  {
    RawClient client(server.port());
    client.send(get("/commit"));
    commits.wait_for(1);
  }
  commits.complete_all();
  REQUIRE(server.eventually([](const ServerStats& stats) { return stats.busy == 0; }));
  RawClient client(server.port());
  client.send(get("/fixed"));
  CHECK(body_of(client.read_response()) == "ok");
}
