// Amounts: exact decimals as input, decimal strings as output, never a binary double.
#include <catch2/catch.hpp>

#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace amounts_test {
namespace {

const std::string kTransfer = "/v1/payments/p2p/own";

struct World {
  TestApp app;
  std::string from = app.wallet("USDC", "1000000000");
  std::string to = app.wallet("USDC");

  World() {
    for (const std::string& id : {from, to}) {
      app.me().trustline(id, "KES");
      app.me().trustline(id, "JPY");
    }
    app.me().fund(from, "KES", "1000");
    app.me().fund(from, "JPY", "1000");
  }
  /// `amount` is JSON text: a number or a quoted string.
  Reply send(const std::string& amount, const std::string& asset = "USDC") {
    Json body = transfer_body(from, to, "@", asset);
    std::string text = body.dump();
    text.replace(text.find("\"@\""), 3, amount);
    return app.me().post_text(kTransfer, text);
  }
};

}  // namespace

TEST_CASE("an amount equals its text, as a string or as a number") {
  World world;
  struct Row {
    const char* amount;
    const char* shown;
    const char* asset = "USDC";
  };
  const Row rows[] = {
      {"\"1\"", "1.00"},
      {"1", "1.00"},
      {"\"1.0\"", "1.00"},
      {"1.50", "1.50"},
      {"\"0.0000001\"", "0.0000001"},
      {"0.1234567", "0.1234567"},
      {"1e2", "100.00"},
      {"1E+2", "100.00"},
      {"25e-1", "2.50"},
      {"1.25e1", "12.50"},
      {"0.10000000000000000000", "0.10"},
      {"12345678.1234567", "12345678.1234567"},
      {"0.1", "0.10"},
      {"12.34", "12.34", "KES"},
      {"\"12.3\"", "12.30", "KES"},
      {"7", "7", "JPY"},
      {"7.0", "7", "JPY"},
  };
  for (const Row& row : rows) {
    const Reply reply = world.send(row.amount, row.asset);
    INFO(row.amount << " " << row.asset << " -> " << reply.text());
    REQUIRE(reply.status == 202);
    const Json record = world.app.me().record(reply.json().at("transactionRecordId"));
    CHECK(record.at("sendingAmount") == row.shown);
    CHECK(record.at("total") == row.shown);
  }
  world.app.settle();
}

TEST_CASE("0.1 and 0.2 add up to 0.3") {
  World world;
  for (const char* amount : {"0.1", "0.2"}) CHECK(world.send(amount).status == 202);
  world.app.settle();
  CHECK(world.app.me().balance(world.to, "USDC") == "0.30");
  CHECK(world.app.me().balance(world.from, "USDC") == "999999999.70");
  // A number keeps all digits, even more than a double can hold.
  CHECK(world.send("123456789.1234567").status == 202);
  world.app.settle();
  CHECK(world.app.me().balance(world.to, "USDC") == "123456789.4234567");
}

TEST_CASE("rejected amounts and their problems") {
  World world;
  struct Row {
    const char* amount;
    int status;
    const char* slug;
    const char* asset = "USDC";
  };
  const Row rows[] = {
      {"0", 422, "amount-out-of-range"},
      {"\"0\"", 422, "amount-out-of-range"},
      {"0.00", 422, "amount-out-of-range"},
      {"0e5", 422, "amount-out-of-range"},
      {"-1", 422, "amount-out-of-range"},
      {"\"-0.5\"", 422, "amount-out-of-range"},
      {"-0", 422, "amount-out-of-range"},
      {"922337203685.4775808", 422, "amount-out-of-range"},
      {"1e13", 422, "amount-out-of-range"},
      {"1e300", 422, "amount-out-of-range"},
      {"1e400", 422, "amount-out-of-range"},
      {"-1e400", 422, "amount-out-of-range"},
      {"99999999999999999999999999", 422, "amount-out-of-range"},
      {"0.00000001", 422, "amount-precision"},
      {"\"1.00000001\"", 422, "amount-precision"},
      {"1e-8", 422, "amount-precision"},
      {"1.005", 422, "amount-precision", "KES"},
      {"0.5", 422, "amount-precision", "JPY"},
      {"\"abc\"", 400, "malformed-request"},
      {"\"\"", 400, "malformed-request"},
      {"\" 1\"", 400, "malformed-request"},
      {"\"1 \"", 400, "malformed-request"},
      {"\"1,5\"", 400, "malformed-request"},
      {"\"+1\"", 400, "malformed-request"},
      {"\".5\"", 400, "malformed-request"},
      {"\"1.\"", 400, "malformed-request"},
      {"\"01\"", 400, "malformed-request"},
      {"\"0x10\"", 400, "malformed-request"},
      {"\"NaN\"", 400, "malformed-request"},
      {"\"Infinity\"", 400, "malformed-request"},
      {"\"1e\"", 400, "malformed-request"},
      {"\"1e3\"", 400, "malformed-request"},
      {"\"1E+3\"", 400, "malformed-request"},
      {"\"1e400\"", 400, "malformed-request"},
      {"\"١\"", 400, "malformed-request"},
      {"true", 400, "malformed-request"},
      {"null", 400, "malformed-request"},
      {"[1]", 400, "malformed-request"},
      {"{}", 400, "malformed-request"},
  };
  for (const Row& row : rows) {
    const Reply reply = world.send(row.amount, row.asset);
    INFO(row.amount << " " << row.asset << " -> " << reply.text());
    CHECK(reply.status == row.status);
    CHECK(reply.slug() == row.slug);
    CHECK(reply.fields() == std::vector<std::string>{"amount"});
  }
  // These are not valid JSON (RFC 8259 section 6).
  for (const char* amount : {"NaN", ".5", "01", "+1", "1.", "0x1", "1e", "1e400e"}) {
    INFO(amount);
    CHECK(world.send(amount).status == 400);
  }
  CHECK(world.app.me().all("/v1/transactions").empty());
}

TEST_CASE("the largest amount is transferred exactly") {
  TestApp app;
  const std::string largest = "922337203685.4775807";
  const std::string from = app.wallet("USDC", largest), to = app.wallet("USDC");
  app.me().transfer(from, to, largest);
  app.settle();
  CHECK(app.me().balance(to, "USDC") == largest);
  CHECK(app.me().balance(from, "USDC") == "0.00");
}

}  // namespace amounts_test
