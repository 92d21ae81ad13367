// Commands that read: overview, activity, wallets and their statements, beneficiaries, quotes.
#include <catch2/catch.hpp>
#include <fstream>

#include "base/platform/exit_code.h"
#include "flows/ledger/wallet_changes.h"
#include "flows/parties/beneficiary_changes.h"
#include "flows/payments/submit_payment.h"
#include "store/identity/tenants.h"
#include "support/unknown_id.h"
#include "unit/cli/open_file.h"

using namespace coffer;
using namespace coffer::cli;
using coffer::cli::test::OpenFile;
using coffer::cli::test::Ran;
using coffer::test::kUnknownId;

namespace operations_test {
namespace {

using Values = std::map<std::string, std::string>;

/// An association with an application, two own wallets of which one is funded, and payments between
/// them.
class House {
 public:
  House() {
    REQUIRE(file.run("asset add", {{"CODE", "USDC"}, {"name", "US Dollar"}}).code == 0);
    association = file.run("association create", {{"NAME", "Acme"}}).json().at("id");
    const std::string application =
        file.run("application register", {{"name", "backend"}, {"association", association}})
            .json()
            .at("id");
    caller_ =
        store::with_reader(file.app().database(), [&](store::Connection& db) -> Result<Caller> {
          const auto row = store::find_application(db, *ApplicationId::parse(application));
          return Caller{row->id, row->key, *row->tenant, AssociationStatus::active, row->scopes};
        }).value();
    first = wallet("Alpha");
    second = wallet("Beta");
    REQUIRE(file.run("wallet fund", {{"ID", first}, {"asset", "USDC"}, {"amount", "100"}}).code ==
            0);
  }

  std::string wallet(const std::string& name) {
    return flows::register_wallet(file.app().flows(), caller_.tenant,
                                  {name, *AssetCode::parse("USDC"), true, {}})
        .value()
        .id.to_string();
  }
  void pay(const std::string& transaction_id) {
    PaymentRequest request;
    request.transaction_id = transaction_id;
    TransferLeg leg;
    leg.source_wallet = *WalletId::parse(first);
    leg.destination_wallet = *WalletId::parse(second);
    leg.sending_asset = *AssetCode::parse("USDC");
    leg.amount = Amount::from_units(Amount::kUnitsPerWhole);
    request.legs = {leg};
    const auto made = flows::submit_payment(file.app().flows(), caller_, request,
                                            "request-" + transaction_id, false);
    INFO((made ? "" : made.error().detail));
    REQUIRE(made);
  }
  const Tenant& tenant() const { return caller_.tenant; }

  OpenFile file;
  std::string association, first, second;

 private:
  Caller caller_;
};

}  // namespace

TEST_CASE("changes: every entry of the changelog, without Markdown", "[cli]") {
  OpenFile file;
  std::ifstream changelog(std::string(COFFER_SOURCE_DIR) + "/CHANGELOG.md");
  std::size_t entries = 0;
  std::string text;
  for (std::string line; std::getline(changelog, line);) {
    entries += line.starts_with("- ") ? 1 : 0;
    text += line.substr(std::min(line.size(), line.find_first_not_of(' '))) + ' ';
  }
  std::erase_if(text, [](char c) { return c == '*' || c == '`' || c == '[' || c == ']'; });
  const auto rows = file.run("changes").json();
  REQUIRE(entries > 10);
  CHECK(rows.size() == entries);
  for (const auto& row : rows) {
    const std::string change = row.at("change");
    INFO(change);
    CHECK(text.find(change) != std::string::npos);
    CHECK(text.find("## " + row.at("release").get<std::string>() + ' ') != std::string::npos);
    CHECK(text.find("### " + row.at("kind").get<std::string>() + ' ') != std::string::npos);
  }
}

TEST_CASE("overview: waiting work, and balances that add up", "[cli]") {
  House house;
  house.pay("t1");
  const auto shown = house.file.run("overview").json();
  CHECK(shown.at("startedAt").is_null());
  CHECK(shown.at("invariantsHold").is_null());  // nothing has verified it
  CHECK(shown.at("unsettledPayments") == 1);
  CHECK(shown.at("oldestUnsettledAt") == house.file.clock().now().to_string());
  CHECK(shown.at("paymentsEver") == 1);
  CHECK(shown.at("databaseBytes").get<std::int64_t>() > 0);
  const auto& books = shown.at("books");
  REQUIRE(books.size() == 1);
  CHECK(books[0].at("wallets") == "100.00");
  CHECK(books[0].at("held") == "1.00");
  CHECK(books[0].at("issuance") == "-100.00");
  const std::string text = house.file.run("overview", {}, false).out;
  CHECK_THAT(text, Catch::Matchers::Contains("unsettled payments"));
  CHECK_THAT(text, !Catch::Matchers::Contains("invariants hold"));  // only what is known

  house.file.app().background().settle_once();
  CHECK(house.file.run("overview").json().at("unsettledPayments") == 0);
}

TEST_CASE("activity: the last day by hours, the last week by quarters of days", "[cli]") {
  House house;
  house.pay("t1");
  house.file.app().background().settle_once();
  house.file.clock().advance_ms(3 * 3'600'000);
  house.pay("t2");
  const auto day = house.file.run("activity").json();
  REQUIRE(day.size() == 24);
  CHECK(day[20].at("succeeded") == 1);
  CHECK(day[20].at("successRate") == "100.0");
  CHECK(day[20].at("volume")[0].at("amount") == "1.00");
  CHECK(day[23].at("inProgress") == 1);
  CHECK(day[23].at("successRate").is_null());
  CHECK(day[23].at("sampled") == false);
  const auto week = house.file.run("activity", {{"hours", "168"}}).json();
  REQUIRE(week.size() == 28);
  CHECK(week[27].at("payments") == 2);
  CHECK(house.file.run("activity", {{"environment", "production"}}).json()[23].at("payments") == 0);
  CHECK(house.file.run("activity", {{"hours", "25"}}).code == exit_code::kUsage);
  CHECK(day[20].at("volume")[0].at("payments") == 1);
  CHECK(day[20].at("failures").empty());
  CHECK(house.file.run("activity", {{"hours", "48"}}).json().size() == 48);
  CHECK(house.file.run("activity", {{"hours", "720"}}).json().size() == 30);
}

TEST_CASE("activity: of a given period, in a limited number of spans", "[cli]") {
  House house;
  house.pay("t1");
  const auto now = house.file.clock().now();
  const auto spans = [&](std::int64_t hours, const Values& more = {}) {
    Values values{{"from", now.plus_ms(-hours * 3'600'000).to_string()}};
    values.insert(more.begin(), more.end());
    const Ran ran = house.file.run("activity", values);
    INFO(ran.err);
    REQUIRE(ran.code == 0);
    std::int64_t payments = 0;
    for (const auto& span : ran.json()) payments += span.at("payments").get<std::int64_t>();
    return std::pair(ran.json().size(), payments);
  };
  CHECK(spans(1) == std::pair(std::size_t{2}, std::int64_t{1}));
  CHECK(spans(24 * 30).second == 1);
  for (const int days : {1, 10, 100, 1'000, 10'000}) CHECK(spans(24 * days).first <= 62);
  CHECK(spans(48, {{"to", now.plus_ms(-3'600'000).to_string()}}).second == 0);
  CHECK(house.file.run("activity", {{"to", now.to_string()}}).code == exit_code::kUsage);
  const Values later{{"from", now.plus_ms(3'600'000).to_string()}};
  CHECK(house.file.run("activity", later).code == exit_code::kUsage);
}

TEST_CASE("wallet list: each wallet with its balances", "[cli]") {
  House house;
  const auto rows = house.file.run("wallet list").json();
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].at("balances")[0].at("balance") == "100.00");
  CHECK(rows[0].at("balances")[0].at("assetCode") == "USDC");
  CHECK(rows[1].at("balance") == "100.00");
  const auto oldest = house.file.run("wallet list", {{"order", "oldest"}}).json();
  CHECK(oldest[0].at("id") == rows[1].at("id"));
  const Ran first = house.file.run("wallet list", {{"order", "oldest"}, {"limit", "1"}});
  const auto cursor = nlohmann::json::parse(first.out).at("nextCursor");
  const auto second =
      house.file.run("wallet list", {{"order", "oldest"}, {"cursor", cursor}}).json();
  CHECK(second[0].at("id") == rows[0].at("id"));
}

TEST_CASE("payment show: also by the transaction ID, if it is unique", "[cli]") {
  House house;
  house.pay("invoice-42");
  const auto shown = house.file.run("payment show", {{"ID", "invoice-42"}}).json();
  CHECK(shown.at("transactionId") == "invoice-42");
  CHECK(house.file.run("payment show", {{"ID", "invoice-43"}}).code == exit_code::kUsage);
}

TEST_CASE("books give an asset no name that is a word of beancount", "[cli]") {
  House house;
  for (const std::string code : {"TRUE", "FALSE", "NULL", "TRUE1"}) {
    REQUIRE(house.file.run("asset add", {{"CODE", code}, {"name", "x"}}).code == 0);
    REQUIRE(house.file.run("asset liquidity", {{"CODE", code}, {"AMOUNT", "10"}}).code == 0);
  }
  const Ran ran = house.file.run(
      "export", {{"FILE", "-"}, {"format", "beancount"}, {"environment", "sandbox"}}, false);
  INFO(ran.out + ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find(" TRUE1") != std::string::npos);
  for (const char* code : {" TRUE\n", " FALSE\n", " NULL\n", ":TRUE\n", ":TRUE "})
    CHECK(ran.out.find(code) == std::string::npos);
}

TEST_CASE("limit list shows counts, also one of 0", "[cli]") {
  House house;
  REQUIRE(
      house.file
          .run("limit set", {{"wallet", house.first}, {"asset", "USDC"}, {"count-per-day", "0"}})
          .code == 0);
  const std::string shown = house.file.run("limit list", {}, false).out;
  INFO(shown);
  for (const char* column : {"COUNT PER DAY", "COUNT TODAY", "COUNT PER MONTH", "COUNT THIS MONTH"})
    CHECK(shown.find(column) != std::string::npos);
}

TEST_CASE("texts of commands say what to do", "[cli]") {
  House house;
  const auto said = [&](const char* command, const Values& values) {
    const Ran ran = house.file.run(command, values, false);
    return ran.out + ran.err;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(said("association create", {{"NAME", "Acme Two"}}),
             Contains("coffer application register --name NAME --association "));
  CHECK_THAT(said("wallet fund", {{"ID", house.first}, {"asset", "USDC"}, {"amount", "1,000.50"}}),
             Contains("Write 1000.50, without thousands separators."));
  CHECK_THAT(said("wallet fund", {{"ID", house.first}, {"asset", "USDC"}, {"amount", "x"}}),
             Contains("Write it like 250.50."));
  CHECK_THAT(said("wallet fund", {{"ID", house.first}, {"asset", "USDC"}, {"amount", "1e3"}}),
             Contains("Write it like 250.50."));
  CHECK_THAT(said("payment find", {{"TEXT", "nothing-like-this"}}),
             Contains("No payment has this ID, reference or hash."));
  CHECK_THAT(said("connector add", {{"NAME", "Bank"},
                                    {"driver", "http"},
                                    {"country", "KE"},
                                    {"currency", "KES"},
                                    {"asset", "USDC"},
                                    {"min", "1"},
                                    {"max", "100"}}),
             Contains("--driver http needs --base-url, such as https://bank.example"));
}

TEST_CASE("wallets: listed, shown, and their statements", "[cli]") {
  House house;
  for (const char* id : {"t1", "t2", "t3"}) house.pay(id);
  house.file.app().background().settle_once();
  const auto listed = [&](const Values& filter) {
    return house.file.run("wallet list", filter).json();
  };
  CHECK(listed({}).at(0).at("id") == house.second);
  CHECK(listed({}).at(0).at("association") == "Acme");
  CHECK(listed({{"text", "alp"}}).at(0).at("id") == house.first);
  CHECK(listed({{"text", house.second}}).size() == 1);
  CHECK(listed({{"association", house.association}, {"environment", "production"}}).empty());
  const Ran page = house.file.run("wallet list", {{"limit", "1"}}, false);
  const auto cursor = page.err.substr(page.err.find("--cursor ") + 9);
  CHECK(listed({{"cursor", cursor.substr(0, cursor.find('\n'))}}).at(0).at("id") == house.first);

  const auto shown = house.file.run("wallet show", {{"ID", house.first}}).json();
  CHECK(shown.at("balances").at(0).at("balance") == "97.00");
  CHECK(shown.at("details").empty());
  CHECK(house.file.run("wallet show", {{"ID", kUnknownId}}).code == exit_code::kFailed);

  const auto lines = house.file.run("wallet statement", {{"ID", house.first}}).json();
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].at("amount") == "-1.00");
  CHECK(lines[0].at("direction") == "debit");
  CHECK(lines[0].at("runningBalance") == "97.00");
  CHECK(lines[0].at("counterparty") == "Beta");
  CHECK(lines[3].at("amount") == "100.00");
  CHECK(lines[3].at("counterparty") == "Funding");
  CHECK(house.file.run("wallet statement", {{"ID", house.first}, {"to", "2025-01-01"}})
            .json()
            .empty());
  CHECK(house.file.run("wallet statement", {{"ID", house.first}, {"asset", "EURC"}}).code ==
        exit_code::kFailed);
}

TEST_CASE("beneficiaries: listed, found by part of a name, shown with their destinations",
          "[cli]") {
  House house;
  CHECK(house.file.run("beneficiary list").json().empty());
  flows::NewBeneficiary fresh;
  fresh.detail.party = Individual{"Ada", "Obi", "ada@example.com", {}, {}, {}};
  fresh.detail.tags = {"vip", "payroll"};
  Destination bank;
  bank.country = "KE";
  bank.currency = "KES";
  BankDetails account;
  account.account_name = "Ada Obi";
  account.account_number = "0011223344";
  account.bank_name = "First Bank";
  bank.details = account;
  fresh.destinations = {bank};
  const auto made = flows::create_beneficiary(house.file.app().flows(), house.tenant(), fresh);
  REQUIRE(made);
  const std::string id = made->beneficiary.id.to_string();
  CHECK(house.file.run("beneficiary list", {{"text", "ADA O"}}).json().at(0).at("id") == id);
  CHECK(house.file.run("beneficiary list", {{"text", id}}).json().size() == 1);
  CHECK(house.file.run("beneficiary list", {{"text", "bob"}}).json().empty());
  CHECK(house.file.run("beneficiary list", {{"environment", "production"}}).json().empty());
  const auto shown = house.file.run("beneficiary show", {{"ID", id}}).json();
  CHECK(shown.at("name") == "Ada Obi");
  CHECK(shown.at("tags") == "vip, payroll");
  CHECK(shown.at("destinations").at(0).at("accountNumber") == "0011223344");
  CHECK(shown.at("destinations").at(0).at("institution") == "First Bank");
  REQUIRE(
      flows::archive_beneficiary(house.file.app().flows(), house.tenant(), made->beneficiary.id));
  CHECK(house.file.run("beneficiary list").json().empty());
  CHECK(house.file.run("beneficiary show", {{"ID", id}}).json().at("status") == "archived");
  CHECK(house.file.run("beneficiary show", {{"ID", kUnknownId}}).code == exit_code::kFailed);
  CHECK(house.file.run("quote list").json().empty());
  CHECK(house.file.run("quote list", {{"status", "open"}}).code == exit_code::kUsage);
}

}  // namespace operations_test
