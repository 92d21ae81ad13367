// Concurrent requests: one transactionId is one payment, and no balance is spent twice.
#include <catch2/catch.hpp>
#include <map>

#include "base/thread.h"
#include "support/recipients.h"
#include "support/test_app.h"
#include "unit/store/busy_writer.h"

using namespace coffer;
using namespace coffer::test;

namespace concurrency_test {
namespace {

const std::string kTransfer = "/v1/payments/p2p/own";

/// Sends all bodies concurrently, each from its own thread.
std::vector<Reply> post_together(const Client& client, const std::vector<Json>& bodies) {
  std::vector<Reply> replies(bodies.size());
  std::vector<Thread> threads;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    threads.emplace_back("client", [&, i] { replies[i] = client.post(kTransfer, bodies[i]); });
  }
  for (Thread& thread : threads) thread.join();
  return replies;
}

std::map<int, int> count_by_status(const std::vector<Reply>& replies) {
  std::map<int, int> counts;
  for (const Reply& reply : replies) ++counts[reply.status];
  return counts;
}

}  // namespace

TEST_CASE("many concurrent identical submissions are one payment") {
  TestApp app;
  const std::string from = app.wallet("USDC", "100"), to = app.wallet("USDC");
  const auto replies =
      post_together(app.me(), std::vector<Json>(12, transfer_body(from, to, "10")));
  int first = 0;
  for (const Reply& reply : replies) {
    CHECK(reply.status == 202);
    CHECK(reply.json().at("transactionRecordId") == replies[0].json().at("transactionRecordId"));
    if (reply.json().at("isIdempotent") == false) ++first;
  }
  CHECK(first == 1);
  CHECK(app.settle() == 1);
  CHECK(app.me().balance(to, "USDC") == "10.00");
}

TEST_CASE("concurrent submissions with one ID and different bodies: all but one conflict") {
  TestApp app;
  const std::string from = app.wallet("USDC", "100"), to = app.wallet("USDC");
  std::vector<Json> bodies;
  for (int i = 1; i <= 8; ++i) {
    bodies.push_back(transfer_body(from, to, std::to_string(i)));
    bodies.back()["transactionId"] = bodies.front()["transactionId"];
  }
  CHECK(count_by_status(post_together(app.me(), bodies)) == std::map<int, int>{{202, 1}, {409, 7}});
  CHECK(app.me().all("/v1/transactions").size() == 1);
}

TEST_CASE("concurrent spending does not spend twice") {
  TestApp app;
  const std::string from = app.wallet("USDC", "100"), to = app.wallet("USDC");
  std::vector<Json> bodies;
  for (int i = 0; i < 12; ++i) bodies.push_back(transfer_body(from, to, "30"));
  CHECK(count_by_status(post_together(app.me(), bodies)) == std::map<int, int>{{202, 3}, {422, 9}});
  CHECK(app.me().funds(from, "USDC") == "100.00/10.00/90.00");
  CHECK(app.settle() == 3);
  CHECK(app.me().balance(to, "USDC") == "90.00");
}

TEST_CASE("concurrent submissions over the wire, with running workers") {
  TestApp app;
  const std::string from = app.wallet("USDC", "100"), to = app.wallet("USDC");
  app.listen();
  std::vector<Json> bodies;
  for (int i = 0; i < 12; ++i) bodies.push_back(transfer_body(from, to, "30"));
  CHECK(count_by_status(post_together(app.me().over_wire(), bodies)) ==
        std::map<int, int>{{202, 3}, {422, 9}});
  app.settle();
  // The worker and this thread settled three in total.
  CHECK(app.me().all("/v1/transactions").size() == 3);
}

TEST_CASE("concurrent changes of one beneficiary: none is lost") {
  TestApp app;
  const std::string path = "/v1/beneficiaries/" + add_recipient(app.me());
  const auto patch = [&](const Json& body) {
    return app.me().send({"PATCH", path, {}, body.dump()});
  };
  Reply tagged, named;
  {
    store::test::BusyWriter busy(app.core().queue());
    Thread one("one", [&] { tagged = patch({{"tags", {"vip"}}}); });
    busy.gathered(1);
    Thread two("two", [&] { named = patch({{"clientReference", "C-1"}}); });
    busy.gathered(2);  // both were computed from the same state
    busy.open();
    one.join();
    two.join();
  }
  CHECK(tagged.status == 200);
  CHECK(named.status == 200);
  const Json now = app.me().get(path).json();
  CHECK(now.at("tags") == Json{"vip"});
  CHECK(now.at("clientReference") == "C-1");
}

}  // namespace concurrency_test
