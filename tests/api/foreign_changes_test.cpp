// What coffer does with rows that another program changed and that no digest covers.
#include <catch2/catch.hpp>

#include "api/delivery_world.h"
#include "base/digest.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/unguarded.h"

using namespace coffer;
using namespace coffer::test;

namespace foreign_changes_test {
namespace {

/// An edit as another program makes it. It is taken back at the end of the scope.
class Forged {
 public:
  Forged(TestApp& app, const std::string& forge, std::string repair)
      : db_(app.core().database().path(), store::OpenMode::read_write), repair_(std::move(repair)) {
    change_unguarded(db_, forge);
  }
  ~Forged() { change_unguarded(db_, repair_); }
  Forged(const Forged&) = delete;
  Forged& operator=(const Forged&) = delete;

 private:
  store::Connection db_;
  std::string repair_;
};

/// "UPDATE accounts SET ... WHERE ...": of a wallet with one trustline.
std::string change_of(const std::string& wallet, const std::string& set) {
  return "UPDATE accounts SET " + set +
         " WHERE wallet = (SELECT wallet FROM wallets WHERE id = x'" +
         to_hex(as_text(WalletId::parse(wallet).value().uuid.bytes)) + "')";
}

int pay(TestApp& app, const std::string& from, const std::string& to) {
  return app.me().post("/v1/payments/p2p/own", transfer_body(from, to, "1")).status;
}

}  // namespace

TEST_CASE("a delivery whose attempt cannot be recorded is not sent again") {
  DeliveryWorld world;
  world.pay();
  world.app.settle();
  world.app.deliver();
  const int before = world.receiver.count();
  REQUIRE(before > 0);
  const Forged forged(
      world.app,
      "DELETE FROM deliveries WHERE sequence = (SELECT max(sequence) FROM deliveries);"
      " UPDATE webhooks SET cursor = cursor - 1",
      "UPDATE deliveries SET tries = 1");
  world.app.deliver();
  CHECK(world.receiver.count() == before + 1);
  CHECK(world.app.log().find("the delivery has failed") != std::string::npos);
  world.app.restart();
  world.app.deliver();
  CHECK(world.receiver.count() == before + 1);
  CHECK(world.deliveries("dead").size() == 1);
}

TEST_CASE("a forged balance is neither spent nor credited while the balances are not verified") {
  TestApp app;
  const std::string forged_wallet = app.wallet("USDC", "1000");
  const std::string other = app.wallet("USDC", "1000");
  const std::string to = app.wallet("USDC");
  {
    const Forged forged(app, change_of(forged_wallet, "balance = balance + 10000000"),
                        change_of(forged_wallet, "balance = balance - 10000000"));
    CHECK(pay(app, forged_wallet, to) == 502);
    CHECK(app.log().find("entries give") != std::string::npos);
    CHECK(pay(app, other, forged_wallet) == 502);
    CHECK(pay(app, other, to) == 202);
    app.settle();
    CHECK(app.me().balance(forged_wallet, "USDC") == "1001.00");
    CHECK(app.me().balance(to, "USDC") == "1.00");
  }
  CHECK(pay(app, forged_wallet, to) == 202);
}

TEST_CASE("released holds are not spent after a verification has found faults") {
  TestApp app;
  const std::string from = app.wallet("USDC", "1");
  const std::string to = app.wallet("USDC");
  REQUIRE(pay(app, from, to) == 202);
  app.core().background().note_verification(false);
  const Forged forged(app, change_of(from, "held = 0"), change_of(from, "held = 10000000"));
  CHECK(pay(app, from, to) == 502);
}

TEST_CASE("a refund that another program hides is not given back again") {
  TestApp app;
  const std::string from = app.wallet("USDC", "5"), to = app.wallet("USDC");
  const std::string path = "/v1/payments/" + app.me().transfer(from, to, "1") + "/reversals";
  app.me().transfer(from, to, "2");
  app.settle();
  const auto reverse = [&](const char* id) {
    return app.me().post(path, {{"transactionId", id}, {"reason", "Test"}}).status;
  };
  REQUIRE(reverse("first") == 202);
  {
    const Forged forged(app, "UPDATE refunds SET payment = 99", "UPDATE refunds SET payment = 1");
    CHECK(reverse("second") == 502);
    CHECK(app.me().balance(to, "USDC") == "2.00");
  }
  CHECK(reverse("third") == 422);
}

TEST_CASE("a payout with a forged destination does not delay the others") {
  TestApp app;
  const std::string connector = add_connector(app);
  const std::string wallet = app.wallet("USDC", "1000");
  std::vector<std::string> payments;
  for (int i = 0; i < 2; ++i) {
    const std::string beneficiary = add_recipient(app.me());
    const Json quote = quote_for(app.me(), connector, beneficiary);
    const Reply reply =
        app.me().post("/v1/payments/offramp", cash_out_body(quote, wallet, beneficiary));
    INFO(reply.text());
    REQUIRE(reply.status == 202);
    payments.push_back(reply.json().at("transactionRecordId"));
  }
  const Forged forged(
      app, "UPDATE destinations SET phone_number = '+254711111111' WHERE destination = 1",
      "UPDATE destinations SET phone_number = '+254712345678'");
  app.settle();
  CHECK(app.me().record(payments[0]).at("status") == "processing");
  CHECK(app.me().record(payments[1]).at("status") == "succeeded");
}

}  // namespace foreign_changes_test
