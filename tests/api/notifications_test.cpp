// notifyEmail and notifyWhatsApp: the message after a successful payment, and its delivery.
#include <catch2/catch.hpp>

#include "flows/ledger/wallet_changes.h"
#include "store/ledger/wallets.h"
#include "store/operations/noun_lists.h"
#include "support/connectors.h"
#include "support/receiver.h"
#include "support/recipients.h"
#include "support/script.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace notifications_test {
namespace {

constexpr const char* kSandbox = "[Sandbox, no real money] ";
constexpr const char* kKeepMail = "cat >> $OUT/mail; echo \"$5\" >> $OUT/to";

struct World {
  explicit World(const std::function<void(Config&)>& change = {}) : app(change) {}

  TestApp app;
  const Client& me = app.me();
  std::string from = app.wallet("USDC", "1000");
  std::string connector = add_connector(app);  // 129.5

  std::vector<store::Notification> rows() {
    return store::with_reader(
               app.core().database(),
               [](store::Connection& db) -> Result<std::vector<store::Notification>> {
                 return store::newest_notifications(db, std::nullopt, {{}, 100}).rows;
               })
        .value();
  }
  store::Notification row() {
    const auto all = rows();
    REQUIRE(all.size() == 1);
    return all.front();
  }
  /// 100 USDC to a new beneficiary, whose number ends in `digits`.
  std::string cash_out(const Json& more, const std::string& digits = "5678") {
    const std::string beneficiary = add_recipient(me, digits);
    Json body = cash_out_body(quote_for(me, connector, beneficiary), from, beneficiary);
    body.merge_patch(more);
    return me.pay("/v1/payments/offramp", body);
  }
  std::string paid(const Json& more) {
    const std::string id = cash_out(more);
    app.settle();
    REQUIRE(me.status(id) == "succeeded");
    return id;
  }
  int send() { return app.core().background().send_messages_once(); }
  /// A verified wallet of a third party with this member of its details.
  std::string reached_by(const Json& details) {
    Json metadata = person();
    metadata.merge_patch(details);
    const Reply reply =
        me.post("/v1/wallets",
                {{"walletName", "Third party"}, {"assetCode", "USDC"}, {"metadata", metadata}});
    REQUIRE(reply.status == 201);
    const std::string id = reply.json().at("id");
    const WalletId wallet = *WalletId::parse(id);
    const Tenant tenant =
        store::with_reader(app.core().database(), [&](store::Connection& db) -> Result<Tenant> {
          return *store::tenant_of_wallet(db, wallet);
        }).value();
    flows::review_wallet(app.flows(), tenant, wallet, std::nullopt).value();
    return id;
  }
};

std::function<void(Config&)> mailing(const Script& script) {
  return [&script](Config& config) {
    config.notify_sendmail = script.path();
    config.notify_from = "pay@bank.example";
  };
}

std::function<void(Config&)> messaging(const Receiver& gateway) {
  return [&gateway](Config& config) {
    config.notify_gateway_url = gateway.url("/messages");
    config.notify_gateway_token = Secret("sesame");
  };
}

const Json kEmail = {{"notifyEmail", true}};
const Json kMessage = {{"notifyWhatsApp", true}};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("without a channel, a message is recorded for the operator") {
  World world;
  const std::string id = world.paid(kEmail);
  const auto row = world.row();
  CHECK(row.payment_id.to_string() == id);
  CHECK(row.association == world.app.association());
  CHECK(row.message.channel == MessageChannel::email);
  CHECK(row.message.recipient == "amina@example.com");
  CHECK(row.message.state == MessageState::recorded);
  CHECK(row.message.attempts == 0);
  CHECK(row.message.closed_at);
  CHECK(world.send() == 0);
  world.paid(kMessage);
  const auto rows = world.rows();
  REQUIRE(rows.size() == 2);
  CHECK(rows.front().message.channel == MessageChannel::messaging);
  CHECK(rows.front().message.recipient == "+254712345678");
  CHECK(rows.front().message.state == MessageState::recorded);
}

TEST_CASE("one channel does not replace the other") {
  const Script script(kKeepMail);
  World world(mailing(script));
  world.paid(kMessage);
  CHECK(world.row().message.state == MessageState::recorded);
  CHECK(world.send() == 0);
}

TEST_CASE("only a successful payment with a requested notification sends one") {
  World world;
  world.paid(Json::object());
  world.paid({{"notifyEmail", false}, {"notifyWhatsApp", false}});
  const std::string rejected = world.cash_out(kEmail, "1101");
  CHECK(world.rows().empty());
  world.app.settle();
  CHECK(world.me.status(rejected) != "succeeded");
  CHECK(world.rows().empty());
}

TEST_CASE("an e-mail contains the received amount and is sent once") {
  const Script script(kKeepMail);
  World world(mailing(script));
  const std::string id = world.paid({{"notifyEmail", true}, {"toRef", "INV-7"}});
  CHECK(world.row().message.state == MessageState::waiting);
  CHECK(script.left("mail").empty());
  CHECK(world.send() == 1);
  CHECK(world.row().message.state == MessageState::sent);
  CHECK(world.row().message.attempts == 1);
  CHECK(world.row().message.closed_at == world.app.clock.now());
  CHECK(world.send() == 0);
  CHECK(script.left("to") == "amina@example.com\n");
  const std::string mail = script.left("mail");
  CHECK(has(mail, "To: amina@example.com\n"));
  CHECK(has(mail, std::string("\n\n") + kSandbox +
                      "You received 12950.00 KES from Association. Reference: INV-7.\n"));
  CHECK(has(mail, id));
  CHECK_FALSE(has(world.app.log(), "amina@example.com"));
  CHECK(has(world.app.log(), "a***@example.com"));
}

TEST_CASE("the contact of the receiving wallet is notified of a payment between own wallets") {
  const Script script(kKeepMail);
  World world(mailing(script));
  const std::string to = world.reached_by({{"email", "wairimu@example.com"}});
  world.app.rate("USDC", "EURC", "0.9");
  world.app.liquidity("EURC", "1000");
  world.me.trustline(to, "EURC");
  Json transfer = transfer_body(world.from, to, "40.5");
  transfer.merge_patch(kEmail);
  Json swap = swap_body(world.from, to, "10", "USDC", "EURC");
  swap.merge_patch(kEmail);
  world.me.pay("/v1/payments/p2p/own", transfer);
  world.me.pay("/v1/payments/swap/own", swap);
  world.app.settle();
  CHECK(world.send() == 2);
  CHECK(script.left("to") == "wairimu@example.com\nwairimu@example.com\n");
  CHECK(has(script.left("mail"), "You received 40.50 USDC from Association.\n"));
  CHECK(has(script.left("mail"), "You received 9.00 EURC from Association.\n"));
}

TEST_CASE("a failed attempt is repeated, then the message fails") {
  const Script script("echo x >> $OUT/called; exit 75");
  World world(mailing(script));
  world.paid(kEmail);
  std::string called;
  for (int attempt = 1; attempt <= kMessageAttemptsMax; ++attempt) {
    CHECK(world.row().message.state == MessageState::waiting);
    CHECK(world.send() == 1);
    CHECK(script.left("called") == (called += "x\n"));
    world.app.clock.advance_ms(message_delay_ms(attempt) - 1);
    CHECK(world.send() == 0);
    world.app.clock.advance_ms(1);
  }
  CHECK(world.row().message.state == MessageState::failed);
  CHECK(world.row().message.attempts == kMessageAttemptsMax);
  CHECK(world.row().message.closed_at);
  CHECK(world.row().message.result == "sendmail exited with 75.");
  CHECK(world.send() == 0);
  CHECK(script.left("called") == called);
  CHECK(has(world.app.log(), "sendmail exited with 75."));
  CHECK_FALSE(has(world.app.log(), "amina@example.com"));
}

TEST_CASE("alerts are sent before notifications that were due earlier") {
  const Script script("cat > /dev/null; echo \"$5\" >> $OUT/to");
  World world([&](Config& config) {
    mailing(script)(config);
    config.alert_email = "ops@bank.example";
  });
  world.paid(kEmail);
  world.app.core().background().note_verification(false);
  CHECK(world.send() >= 2);
  const std::string to = script.left("to");
  CHECK(to.starts_with("ops@bank.example\n"));
  CHECK(to.ends_with("\namina@example.com\n"));
}

TEST_CASE("waiting notifications and their attempts survive a restart") {
  const Script script("exit 1");
  World world(mailing(script));
  world.paid(kEmail);
  world.app.restart();
  CHECK(world.send() == 1);
  world.app.restart();
  CHECK(world.row().message.attempts == 1);
  CHECK(world.send() == 0);
  world.app.clock.advance_ms(60'000);
  script.rewrite(kKeepMail);
  CHECK(world.send() == 1);
  CHECK(world.row().message.state == MessageState::sent);
  CHECK(script.left("to") == "amina@example.com\n");
}

TEST_CASE("an attempt that was interrupted by the end of the process counts for the limit") {
  const Script script(kKeepMail);
  World world(mailing(script));
  world.paid(kEmail);
  const std::int64_t key = world.row().message.key;
  for (int i = 0; i < kMessageAttemptsMax; ++i) {
    world.app.core()
        .queue()
        .run([&](store::WriteTx& tx) -> Result<void> {
          store::open_message_attempt(tx, key, tx.now());
          return {};
        })
        .value();
  }
  world.app.restart();
  CHECK(world.send() == 1);
  CHECK(world.row().message.state == MessageState::failed);
  CHECK(script.left("to").empty());
}

TEST_CASE("a message goes to the gateway, and a retry has the same key") {
  Receiver gateway;
  World world(messaging(gateway));
  const std::string id = world.paid(kMessage);
  gateway.script({{.status = 503}});
  CHECK(world.send() == 1);
  CHECK(world.row().message.state == MessageState::waiting);
  world.app.clock.advance_ms(60'000);
  CHECK(world.send() == 1);
  CHECK(world.row().message.state == MessageState::sent);
  const auto received = gateway.received();
  REQUIRE(received.size() == 2);
  CHECK(received[0].header("Authorization") == "Bearer sesame");
  CHECK(received[0].json().at("to") == "+254712345678");
  CHECK(received[0].json().at("paymentId") == id);
  CHECK(received[0].json().at("text") ==
        std::string(kSandbox) + "You received 12950.00 KES from Association.");
  CHECK(received[0].body == received[1].body);
  CHECK_FALSE(has(world.app.log(), "254712345678"));
  CHECK_FALSE(has(world.app.log(), "sesame"));
}

TEST_CASE("the worker sends while the server runs") {
  Receiver gateway;
  World world(messaging(gateway));
  world.app.listen();
  world.cash_out(kMessage);
  CHECK(gateway.wait_for(1));
}

}  // namespace notifications_test
