// coffer payment bulk: CSV rows as payments (docs/operating.md#bulk-payments).
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/files/csv_rows.h"
#include "base/platform/exit_code.h"
#include "base/thread.h"
#include "cli/demo/demo_secrets.h"
#include "cli/demo/demo_seed.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using Json = nlohmann::json;

namespace bulk_payments_test {
namespace {

using Values = std::map<std::string, std::string>;

struct BulkWorld {
  BulkWorld() : world(world_in(file)) {
    application = file.run("application register",
                           {{"name", "payroll"}, {"association", world.association.to_string()}})
                      .json()
                      .at("id");
  }
  static DemoWorld world_in(OpenFile& file) {
    REQUIRE(claim_demo(file.path()));
    return ensure_demo_world(file.app()).value();
  }
  std::string wallet(std::size_t i) const { return world.wallets.at(i).id.to_string(); }
  std::string connector(const std::string& name) const {
    for (const auto& one : world.connectors) {
      if (one.name == name) return one.id.to_string();
    }
    return {};
  }
  /// The beneficiary whose only suitable destination is a Kenyan bank account.
  std::string beneficiary(std::size_t i = 0) const {
    return world.beneficiaries.at(i).beneficiary.id.to_string();
  }
  std::string payout(const std::string& id, const std::string& amount) const {
    return id + ",," + wallet(0) + ",," + beneficiary() + "," + connector("Kenya bank payout") +
           ",," + amount + ",SALARY,BUSINESS_INCOME,EMPLOYEE\n";
  }
  std::string transfer(const std::string& id, const std::string& amount) const {
    return id + ",p2p_own," + wallet(0) + "," + wallet(1) + ",,,USDC," + amount + ",,,\n";
  }
  Ran bulk(const std::string& csv, bool preview = false) {
    Values values{{"FILE", csv}, {"application", application}};
    if (preview) values["preview"] = "true";
    return file.run("payment bulk", values);
  }
  std::size_t payments() { return file.run("payment list").json().size(); }
  std::string balance(std::size_t i) {
    return file.run("wallet show", {{"ID", wallet(i)}}).json().at("balances").at(0).at("balance");
  }

  OpenFile file;
  DemoWorld world;
  std::string application;
};

const std::string kHeader =
    "transactionId,type,sourceWalletId,destinationWalletId,beneficiaryId,connectorId,"
    "sendingAssetCode,amount,purposeOfPayment,sourceOfFunds,relationship\n";

std::vector<std::string> statuses(const Json& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.push_back(row.at("status"));
  return out;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("csv: quoted cells, CRLF, blank lines, and the line of each row", "[text]") {
  const auto rows = csv_rows("a,b\r\n\r\n\"1,\"\"x\"\"\n2\",\r\nlast,\"\"").value();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].cells == Words{"a", "b"});
  CHECK(rows[1].cells == Words{"1,\"x\"\n2", ""});
  CHECK(rows[1].line == 3);
  CHECK(rows[2].cells == Words{"last", ""});
  CHECK(rows[2].line == 5);
  CHECK(csv_rows("")->empty());
  for (const char* wrong : {"a\n\"b", "\"a\"b,c"}) {
    const auto rejected = csv_rows(wrong);
    REQUIRE_FALSE(rejected);
    CHECK(rejected.error().slug == Slug::malformed_request);
  }
  CHECK(csv_rows("a\n\"b").error().detail.find("line 2") != std::string::npos);
}

TEST_CASE("payment bulk: a file with too many columns is rejected before they are compared",
          "[cli]") {
  BulkWorld bulk;
  std::string header = "transactionId";
  for (int i = 0; i < 150'000; ++i) header += ",c" + std::to_string(i % 1'000);
  const Ran ran = bulk.bulk(header.substr(0, 900'000) + "\nx\n");
  CHECK(ran.code == exit_code::kUsage);
  CHECK(ran.err.find("at most 256") != std::string::npos);
}

TEST_CASE("payment bulk: submits every row once, and a repeated run skips what exists", "[cli]") {
  BulkWorld bulk;
  const std::string csv = kHeader + bulk.payout("PAY-1", "100") + bulk.transfer("MOVE-1", "250.5");
  const Ran first = bulk.bulk(csv);
  INFO(first.out << first.err);
  REQUIRE(first.code == 0);
  const Json rows = first.json();
  CHECK(statuses(rows) == Words{"accepted", "accepted"});
  CHECK(rows[0].at("line") == 2);
  // 0.5 and 50 basis points of 100: the fee of the demo's connector.
  CHECK(rows[0].at("fee") == "1.00");
  CHECK(rows[0].at("total") == "101.00");
  CHECK(rows[0].at("receives") == "12950.00 KES");
  CHECK(bulk.payments() == 2);

  const Json again = bulk.bulk(csv + bulk.payout("PAY-2", "7")).json();
  CHECK(statuses(again) == Words{"exists", "exists", "accepted"});
  CHECK(again[0].at("transactionRecordId") == rows[0].at("transactionRecordId"));
  CHECK(again[0].at("total") == "101.00");
  CHECK(bulk.payments() == 3);
  CHECK(again[1].at("paymentStatus") == "initiated");
  bulk.file.app().background().settle_once();
  CHECK(bulk.bulk(csv).json()[1].at("paymentStatus") == "succeeded");
  CHECK(bulk.file.run("verify").code == 0);
}

TEST_CASE("payment bulk: runs of the same file at the same time submit every row once", "[cli]") {
  BulkWorld bulk;
  constexpr int kRows = 20;
  std::string csv = kHeader;
  for (int i = 0; i < kRows; ++i) csv += bulk.payout("PAY-" + std::to_string(i), "1");
  std::vector<Ran> runs(3);
  {
    std::vector<Thread> threads;
    for (Ran& ran : runs) threads.emplace_back("bulk", [&] { ran = bulk.bulk(csv); });
    for (Thread& thread : threads) thread.join();
  }
  int accepted = 0;
  for (const Ran& ran : runs) {
    INFO(ran.out << ran.err);
    REQUIRE(ran.code == 0);
    for (const std::string& status : statuses(ran.json())) {
      if (status == "accepted") ++accepted;
      if (status != "accepted") CHECK(status == "exists");
    }
  }
  CHECK(accepted == kRows);
  CHECK(bulk.file.run("payment count").json().at("payments") == kRows);
}

TEST_CASE("payment bulk: a transactionId with other content is a conflict of its row", "[cli]") {
  BulkWorld bulk;
  REQUIRE(bulk.bulk(kHeader + bulk.payout("PAY-1", "100") + bulk.transfer("M-1", "5")).code == 0);
  const Ran changed = bulk.bulk(kHeader + bulk.payout("PAY-1", "100.01") +
                                bulk.transfer("M-1", "6") + bulk.transfer("M-2", "1"));
  CHECK(changed.code == exit_code::kFailed);
  CHECK(statuses(changed.json()) == Words{"failed", "failed", "accepted"});
  for (const int row : {0, 1}) {
    const std::string problem = changed.json()[row].at("problem");
    CHECK(problem.find("amount differs") != std::string::npos);
  }
  CHECK(bulk.payments() == 3);
}

TEST_CASE("payment bulk: the preview checks every row, submits nothing and adds up the funds",
          "[cli]") {
  BulkWorld bulk;
  const std::string balance = bulk.balance(0);
  const Ran good = bulk.bulk(kHeader + bulk.payout("PAY-1", "100"), true);
  REQUIRE(good.code == 0);
  CHECK(statuses(good.json()) == Words{"valid"});
  CHECK(good.json()[0].at("total") == "101.00");
  CHECK(good.json()[0].at("transactionRecordId").is_null());
  const Ran shown =
      bulk.file.run("payment bulk",
                    {{"FILE", kHeader + bulk.payout("PAY-1", "100") + bulk.payout("PAY-2", "50")},
                     {"application", bulk.application},
                     {"preview", "true"}},
                    false);
  INFO(shown.out << shown.err);
  for (const char* said : {"101.00", " 1.00", "12950.00 KES"}) {
    CHECK(shown.out.find(said) != std::string::npos);
  }
  CHECK(shown.err.find("Wallet " + bulk.wallet(0) + " needs 151.75 USDC.") != std::string::npos);
  // The wallet has 1,000,000: each row alone is covered, the second is not after the first.
  const Ran beyond = bulk.bulk(kHeader + bulk.transfer("M-1", "600000") +
                                   bulk.transfer("M-2", "600000") + bulk.transfer("M-3", "400000"),
                               true);
  CHECK(beyond.code == exit_code::kFailed);
  CHECK(statuses(beyond.json()) == Words{"valid", "failed", "valid"});
  CHECK(beyond.json()[1].at("problem").get<std::string>().find("1200000.00") != std::string::npos);
  CHECK(bulk.payments() == 0);
  CHECK(bulk.balance(0) == balance);
}

TEST_CASE("payment bulk: one malformed cell rejects the whole file, with every error", "[cli]") {
  BulkWorld bulk;
  const Ran wrong =
      bulk.bulk(kHeader + bulk.transfer("M-1", "5") + bulk.transfer("M 2", "5,5") +
                bulk.transfer("M-1", "7") + bulk.transfer("M-3", "x") + "M-4,onramp,,,,,,1,,,\n");
  CHECK(wrong.code != 0);
  CHECK(wrong.out.empty());
  for (const char* said : {"line 3: has 12 cells; expected 11", "line 4: transactionId: repeats",
                           "line 5: amount: ", "line 6: type: \"onramp\" is not one of"}) {
    INFO(said << " in\n" << wrong.err);
    CHECK(wrong.err.find(said) != std::string::npos);
  }
  CHECK(bulk.payments() == 0);
  for (const std::string& header :
       {std::string("amount,amount\n1,2\n"), std::string("quoteId\n1\n"), std::string("a,\n1,2\n"),
        std::string("transactionId\n")}) {
    CHECK(bulk.bulk(header).code != 0);
  }
}

TEST_CASE("payment bulk: an unknown column is one error of the line with the names", "[cli]") {
  BulkWorld bulk;
  const Ran unknown = bulk.bulk(
      "\ntransactionId,type,sourceWallet,idempotencyKey,bogus\n"
      "M-1,p2p_own,x,,\nM-2,p2p_own,y,,\n");
  INFO(unknown.err);
  CHECK(unknown.code == exit_code::kUsage);
  for (const char* said :
       {"line 2: sourceWallet: is not a field of this request; the nearest is",
        "line 2: idempotencyKey: is no longer accepted; send transactionId",
        "line 2: bogus: is not a field of this request", "line 4: sourceWalletId: is required"}) {
    INFO(said);
    CHECK(unknown.err.find(said) != std::string::npos);
    CHECK(unknown.err.find(said) == unknown.err.rfind(said));
  }
  CHECK(unknown.err.find("line 3: sourceWallet:") == std::string::npos);
  // A field of another type of payment is an error of its row.
  std::string header = kHeader;
  header.insert(header.find('\n'), ",minReceivingAmount");
  std::string row = bulk.transfer("M-1", "5");
  row.insert(row.find('\n'), ",1");
  CHECK(bulk.bulk(header + row).err.find("line 2: minReceivingAmount: is not a field") !=
        std::string::npos);
  // Every known column, also with empty cells.
  const Ran known = bulk.bulk(
      "transactionId,type,sourceWalletId,destinationWalletId,beneficiaryId,destinationId,"
      "connectorId,sendingAssetCode,receivingAssetCode,amount,minReceivingAmount,purposeOfPayment,"
      "sourceOfFunds,relationship,fromRef,toRef,description,memo,notifyEmail,notifyWhatsApp,"
      "additionalFields.x,metadata.order,metadata.region\nK-1,p2p_own," +
      bulk.wallet(0) + "," + bulk.wallet(1) + ",,,,USDC,,1,,,,,,,,,,,,A-1,\n");
  INFO(known.err);
  CHECK(known.code == exit_code::kDone);
  const Json found = bulk.file.run("payment find", {{"TEXT", "order=A-1"}}).json();
  REQUIRE(found.size() == 1);
  CHECK(found[0].at("metadata") == Json{{{"name", "order"}, {"value", "A-1"}}});
  const Ran bad = bulk.bulk("transactionId,metadata.a b\nK-2,x\n");
  CHECK(bad.err.find("line 2: metadata.a b: is not a permitted key") != std::string::npos);
}

TEST_CASE("payment bulk: separators other than commas are named, with the remedy", "[cli]") {
  BulkWorld bulk;
  for (const auto& [separator, name] :
       {std::pair{';', "by semicolons"}, std::pair{'\t', "by tabs"}}) {
    for (std::string csv :
         {kHeader + bulk.transfer("M-2", "5"),
          "\"transactionId\"," + kHeader + "\"M-2\"," + bulk.transfer("x", "1")}) {
      std::ranges::replace(csv, ',', separator);
      const Ran ran = bulk.bulk(csv);
      INFO(ran.err);
      CHECK(ran.code == exit_code::kUsage);
      CHECK(ran.err.find(name) != std::string::npos);
      CHECK(ran.err.find("with the comma as the separator") != std::string::npos);
    }
  }
}

TEST_CASE("payment bulk: a repeated transactionId is listed beside other errors", "[cli]") {
  BulkWorld bulk;
  const Ran wrong = bulk.bulk(kHeader + bulk.transfer("M-1", "x") + bulk.transfer("M-1", "y") +
                              bulk.payout("M-1", "0") + "M-1,onramp,,,,,,1,,,\n");
  INFO(wrong.err);
  CHECK(wrong.code == exit_code::kUsage);
  for (const char* said : {"line 2: amount: ", "line 3: amount: ", "line 4: amount: ",
                           "line 5: type: ", "line 3: transactionId: repeats the value of line 2",
                           "line 4: transactionId: repeats the value of line 2",
                           "line 5: transactionId: repeats the value of line 2"}) {
    INFO(said);
    CHECK(wrong.err.find(said) != std::string::npos);
  }
  CHECK(wrong.err.find("line 2: transactionId") == std::string::npos);
}

TEST_CASE("payment bulk: the error of a row is shown once", "[cli]") {
  BulkWorld bulk;
  const Ran rejected = bulk.bulk(kHeader + bulk.payout("PAY-1", "0.01"), true);
  CHECK(rejected.json()[0].at("problem") == "amount must be from 1.00 to 250000.00 USDC.");
}

TEST_CASE("payment bulk: requires the rights of an active application", "[cli]") {
  BulkWorld bulk;
  const std::string csv = kHeader + bulk.transfer("M-1", "5");
  REQUIRE(
      bulk.file.run("application scopes", {{"ID", bulk.application}, {"SCOPES", "wallets:read"}})
          .code == 0);
  CHECK(bulk.bulk(csv).code != 0);
  REQUIRE(
      bulk.file.run("application scopes", {{"ID", bulk.application}, {"SCOPES", "payments:write"}})
          .code == 0);
  REQUIRE(bulk.file.run("application suspend", {{"ID", bulk.application}}).code == 0);
  CHECK(bulk.bulk(csv).code != 0);
  CHECK(bulk.payments() == 0);
}

TEST_CASE("payment bulk: the audit log has the digest of the file, not its content", "[cli]") {
  BulkWorld bulk;
  REQUIRE(bulk.bulk(kHeader + bulk.transfer("M-1", "5")).code == 0);
  const Json entries = bulk.file.run("audit list").json();
  const std::string recorded = entries.at(0).at("arguments").dump();
  CHECK(entries.at(0).at("command") == "payment bulk");
  CHECK(recorded.find("sha256:") != std::string::npos);
  CHECK(recorded.find("M-1") == std::string::npos);
}

}  // namespace bulk_payments_test
