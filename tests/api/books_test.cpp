// The books of an environment and the reports (docs/operating.md#books).
//
// `COFFER_RECORD_BOOKS=1 build/dev/tests/api_tests "books*"` replaces the files of
// tests/api/golden.
#include "cli/operations/books.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/environment.h"
#include "base/platform/exit_code.h"
#include "base/text/ascii.h"
#include "flows/providers/refunds.h"
#include "source_dir.h"
#include "store/operations/reports.h"
#include "support/commands.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/unguarded.h"
#include "support/unknown_id.h"

using namespace coffer;
using namespace coffer::test;

namespace books_test {
namespace {

/// Three days with everything that moves the accounts of the operator.
struct World {
  TestApp app{[](Config& config) { config.token_lifetime_s = 10'000'000; }};
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "1000");
  std::string euros = app.wallet("EURC", "500");
  std::string pays = add_connector(app);  // 129.5 KES for 1 USDC; fee 0.50 and 1 %
  std::string collects = add_connector(app, collection_connector());
  int last = 0;

  World() {
    app.rate("USDC", "EURC", "0.92");
    app.rate("EURC", "USDC", "1.05");
    app.liquidity("USDC", "2000");
    app.liquidity("EURC", "3000");
  }
  void pass(int ms) {
    for (int passed = 0; passed < ms; passed += 250) {
      app.settle();
      app.clock.advance_ms(250);
    }
    app.settle();
  }
  std::string pay(const Client& by, const std::string& route, Json body) {
    body["transactionId"] = "T-" + std::to_string(++last);
    const std::string id = by.pay("/v1/payments/" + route, body);
    pass(2'000);
    return id;
  }
  std::string payout(const Client& by, const std::string& from, const std::string& digits) {
    const std::string to = add_recipient(by, digits);
    return pay(by, "offramp", cash_out_body(quote_for(by, pays, to), from, to));
  }
  void reverse(const std::string& id, const char* sum = nullptr) {
    flows::Reversal reversal{*PaymentId::parse(id), "R-" + std::to_string(++last), {}, "Agreed"};
    if (sum != nullptr) reversal.amount = amount(sum);
    REQUIRE(flows::reverse_for_operator(app.flows(), reversal).has_value());
    pass(2'000);
  }
  void history() {
    Json described = transfer_body(wallet, euros, "7");
    me.trustline(euros, "USDC");
    described["description"] = "Rent, \"May\" \\ = (1) ; 2 | x";
    pay(me, "p2p/own", described);
    const std::string paid = payout(me, wallet, "5678");
    payout(me, wallet, "1301");  // fails after the debit, and is refunded
    const Json quote = collection_quote(me, collects);
    const std::string collected = pay(me, "onramp", collection_body(quote, wallet));
    const std::string swap = pay(me, "swap/own", swap_body(wallet, euros, "50", "USDC", "EURC"));
    app.clock.advance_ms(kDayMs);
    pay(me, "swap/own", swap_body(euros, wallet, "10", "EURC", "USDC"));
    const std::string back = transfer_body(euros, wallet, "1").dump();
    pay(me, "p2p/own/multi", multi_body({transfer_body(wallet, euros, "2"), Json::parse(back)}));
    app.clock.advance_ms(kDayMs);
    reverse(paid, "40");
    reverse(collected, "4000");
    reverse(swap);
  }
  Ran report(const std::string& which, Values more = {}) {
    more.try_emplace("from", "2026-01-01");
    more.try_emplace("to", "2026-02-01");
    if (!more.contains("connector")) more.try_emplace("environment", "sandbox");
    return run_command(app, "report " + which, more);
  }
  std::string books(const char* format) {
    return app.flows()
        .read([&](store::Connection& db) {
          std::string out;
          const auto period = store::book_period(db, Environment::sandbox, {}, {});
          cli::write_books(db, period, format, [&](const std::string& text) { out += text; });
          return out;
        })
        .value();
  }
};

/// With numbers in place of IDs, account keys and hashes, in the order of their appearance.
std::string without_ids(const std::string& text) {
  std::map<std::string, std::string> known;
  std::string out;
  const auto is_part = [](char c) { return c == '-' || ascii::is_letter_or_digit(c); };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_part(text[end])) ++end;
    std::string word = text.substr(at, std::max<std::size_t>(end - at, 1));
    at += word.size();
    const std::string prefix =
        word.size() == 38 && word[1] == '-' ? word.substr(0, 2) : std::string();
    const std::string id = word.substr(prefix.size());
    if (id.size() == 64 || Uuid::parse(id)) {
      word = prefix + known
                          .try_emplace(id, (id.size() == 64 ? "HASH-" : "ID-") +
                                               std::to_string(known.size() + 1))
                          .first->second;
    }
    out += word;
  }
  return out;
}

void check_golden(const std::string& name, const std::string& content) {
  const std::string path = COFFER_SOURCE_DIR "/tests/api/golden/" + name;
  const std::string found = without_ids(content);
  if (environment_variable("COFFER_RECORD_BOOKS")) {
    std::ofstream(path, std::ios::binary) << found;
  }
  std::ifstream file(path, std::ios::binary);
  INFO(name);
  CHECK(found == std::string(std::istreambuf_iterator<char>(file), {}));
}

/// The row of a report as numbers: opening, the movements, closing.
std::vector<double> numbers(const Json& row) {
  std::vector<double> out;
  bool begun = false;
  for (const auto& [key, value] : row.items()) {
    begun = begun || key == "opening";
    if (begun && key != "entries") out.push_back(std::stod(value.get<std::string>()));
  }
  return out;
}

}  // namespace

TEST_CASE("books have these bytes in each format") {
  World world;
  world.history();
  check_golden("books.journal", world.books("hledger"));
  check_golden("books.beancount", world.books("beancount"));
  check_golden("books.csv", world.books("csv"));
}

TEST_CASE("books: reports have these rows") {
  World world;
  world.history();
  for (const char* which : {"settlement", "fees", "conversion"}) {
    const Ran done = world.report(which, {{"format", "csv"}});
    INFO(done.err);
    CHECK(done.code == exit_code::kDone);
    check_golden(std::string("report-") + which + ".csv", done.out);
  }
}

TEST_CASE("books: opening and movements add up to closing, from row to row") {
  World world;
  world.history();
  for (const char* which : {"settlement", "fees", "conversion"}) {
    INFO(which);
    const Json rows = world.report(which).json();
    REQUIRE_FALSE(rows.empty());
    std::map<std::string, double> before;
    for (const Json& row : rows) {
      INFO(row.dump());
      const auto all = numbers(row);
      double sum = 0;
      for (std::size_t i = 0; i + 1 < all.size(); ++i) sum += all[i];
      CHECK(std::abs(sum - all.back()) < 1e-6);
      const std::string account = row.value("connectorId", "") + row.at("assetCode").dump();
      CHECK(std::abs(all.front() - before[account]) < 1e-6);
      before[account] = all.back();
    }
    // A day later, the report opens with these balances and has no movement.
    const Json later = world.report(which, {{"from", "2026-01-04"}}).json();
    CHECK(later.size() == before.size());
    for (const Json& row : later) {
      const std::string account = row.value("connectorId", "") + row.at("assetCode").dump();
      CHECK(row.at("opening") == row.at("closing"));
      CHECK(std::abs(numbers(row).front() - before[account]) < 1e-6);
      CHECK(row.at("entries") == 0);
    }
  }
}

TEST_CASE("books: a part of a report has the entries of one association or connector") {
  World world;
  const Client other = world.app.stranger();
  const std::string theirs = other.wallet("USDC", "300");
  world.payout(other, theirs, "5678");
  const std::string others =
      add_connector(world.app, [](ConnectorTerms& terms) { terms.name = "=Other, Ltd"; });
  const std::string mine = world.app.association().to_string();
  world.payout(world.me, world.wallet, "5678");
  world.app.clock.advance_ms(kDayMs);
  world.payout(world.me, world.wallet, "5678");
  const auto fees = [&](const Values& more) {
    const Json rows = world.report("fees", more).json();
    std::string out;
    for (const Json& row : rows) {
      for (const char* key : {"opening", "charged", "givenBack", "closing"}) {
        out += row.at(key).get<std::string>() + " ";
      }
    }
    return out;
  };
  CHECK(fees({}) == "0.00 3.00 0.00 3.00 3.00 1.50 0.00 4.50 ");
  CHECK(fees({{"association", mine}}) == "0.00 1.50 0.00 1.50 1.50 1.50 0.00 3.00 ");
  CHECK(fees({{"association", mine}, {"from", "2026-01-02"}}) == "1.50 1.50 0.00 3.00 ");
  CHECK(fees({{"association", mine}, {"from", "2026-01-03"}}) == "3.00 0.00 0.00 3.00 ");
  CHECK(fees({{"connector", world.pays}}) == fees({}));
  CHECK(fees({{"connector", others}}).empty());
  CHECK(world.report("settlement", {{"connector", others}}).json().empty());
  CHECK(world.report("settlement", {{"association", mine}}).json().at(0).at("payouts") == "100.00");
  CHECK(world.report("fees", {{"environment", "production"}}).json().empty());
  for (const Values& wrong :
       std::vector<Values>{{{"from", "2026-01-01T10:00:00Z"}},
                           {{"to", "2026-01-01"}},
                           {{"to", "2027-01-03"}},
                           {{"association", kUnknownId}},
                           {{"connector", world.pays}, {"environment", "production"}}}) {
    CHECK(world.report("fees", wrong).code != exit_code::kDone);
  }
  CHECK(world.report("conversion", {{"connector", world.pays}}).code == exit_code::kUsage);
}

TEST_CASE("books control: a report fails if a sum is not that of the journal") {
  World world;
  world.history();
  const std::string of_kind =
      " WHERE entry = (SELECT max(e.entry) FROM entries e JOIN accounts a"
      " ON a.account = e.account WHERE a.kind = ";
  struct Damage {
    const char* report;
    std::string sql;
    const char* finding;
  };
  for (const auto& [report, sql, finding] : std::vector<Damage>{
           {"settlement", "UPDATE entries SET amount = amount + 1" + of_kind + "4)",
            "its balance is not the sum"},
           {"fees", "UPDATE entries SET balance_after = balance_after + 1" + of_kind + "3)",
            "its balance is not the sum"},
           {"conversion", "UPDATE journal SET kind = 1 WHERE kind = 2", "in no column"},
           {"settlement", "UPDATE journal SET kind = 2 WHERE kind = 3", "in no column"}}) {
    INFO(sql);
    CHECK(world.report(report).code == exit_code::kDone);
    const std::string path = world.app.config().db;
    std::string copy = path + ".copy";
    {
      store::Connection db(path, store::OpenMode::read_write);
      db.execute("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    store::Connection db(copy, store::OpenMode::read_write);
    change_unguarded(db, sql);
    const auto which = report == std::string("fees")         ? store::Report::fees
                       : report == std::string("settlement") ? store::Report::settlement
                                                             : store::Report::conversion;
    const auto period = store::book_period(db, Environment::sandbox, {}, {});
    const auto rows = store::report_rows(db, which, period, {});
    REQUIRE_FALSE(rows.has_value());
    CHECK(rows.error().detail.find(finding) != std::string::npos);
    CHECK(rows.error().detail.find("does not add up") != std::string::npos);
  }
}

}  // namespace books_test
