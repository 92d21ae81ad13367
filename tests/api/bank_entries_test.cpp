// coffer reconcile: which entries of several files are the same, what may be matched with what, and
// for which connector a line counts (docs/operating.md#reconciliation).
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "base/platform/exit_code.h"
#include "cli/run/dispatch.h"
#include "store/file/connection.h"
#include "support/connectors.h"
#include "support/recipients.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace bank_entries_test {
namespace {

using Values = std::map<std::string, std::string>;

struct World {
  TestApp app;
  const Client& me = app.me();
  std::string wallet = app.wallet("USDC", "10000");
  std::string pays = add_connector(app);  // 129.5 KES for 1 USDC

  std::pair<int, std::string> run(const std::string& command, const Values& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    cli::Interruption interruption;
    const int code =
        cli::run_request(app.core(), {.command = command, .arguments = arguments, .json = true},
                         out, err, interruption);
    return {code, code == exit_code::kDone ? out.str() : out.str() + err.str()};
  }
  Json json(const std::string& command, const Values& arguments) {
    const auto [code, out] = run(command, arguments);
    INFO(out);
    REQUIRE(code == exit_code::kDone);
    Json all = Json::parse(out);
    return all.is_object() && all.contains("nextCursor") ? all.at("data") : all;
  }
  Json import(const std::string& content, const std::string& connector = {}) {
    return json("reconcile import",
                {{"FILE", content}, {"connector", connector.empty() ? pays : connector}});
  }
  Json lines(const Values& filter = {}) { return json("reconcile list", filter); }
  /// With a transaction ID of its own, which is a reference; 12,950 KES.
  std::string payout(const std::string& reference, const std::string& digits = "5678",
                     const std::string& connector = {}) {
    const std::string beneficiary = add_recipient(me, digits);
    Json body = cash_out_body(quote_for(me, connector.empty() ? pays : connector, beneficiary),
                              wallet, beneficiary);
    body["transactionId"] = reference;
    const std::string id = me.pay("/v1/payments/offramp", body);
    for (int passed = 0; passed < 3'000; passed += 250) {
      app.settle();
      app.clock.advance_ms(250);
    }
    app.settle();
    return id;
  }
  std::string text(const std::string& sql) {
    return store::with_reader(app.core().database(),
                              [&](store::Connection& db) {
                                store::Query query(db, db.interned(sql));
                                query.step();
                                return query.text(0);
                              })
        .value();
  }
  /// `lines, sum`, of those that count.
  std::string counted() {
    return text(
        "SELECT count(*) || ', ' || (ifnull(sum(amount), 0) / 10000000) FROM bank_lines"
        " WHERE state <> 3");
  }
  std::string report_of(const std::string& connector) {
    const Json days =
        json("reconcile report",
             {{"connector", connector}, {"from", "2026-01-01"}, {"to", "2026-01-31"}});
    std::string out;
    for (const Json& day : days) out += day.at("bank").get<std::string>() + " ";
    return out;
  }
};

std::string detail(const std::string& reference, const std::string& amount = {}) {
  const std::string shown = amount.empty() ? "" : "<Amt Ccy=\"KES\">" + amount + "</Amt>";
  return "<TxDtls><Refs><EndToEndId>" + reference + "</EndToEndId></Refs>" + shown + "</TxDtls>";
}
std::string entry(const std::string& amount, const std::string& bank,
                  const std::string& details = {}, const std::string& direction = "DBIT",
                  const std::string& currency = "KES") {
  return "<Ntry><Amt Ccy=\"" + currency + "\">" + amount + "</Amt><CdtDbtInd>" + direction +
         "</CdtDbtInd><Sts>BOOK</Sts><BookgDt><Dt>2026-01-02</Dt></BookgDt>" +
         (bank.empty() ? "" : "<AcctSvcrRef>" + bank + "</AcctSvcrRef>") +
         (details.empty() ? "" : "<NtryDtls>" + details + "</NtryDtls>") + "</Ntry>";
}
std::string balance(const char* type, const std::string& amount) {
  return "<Bal><Tp><CdOrPrtry><Cd>" + std::string(type) +
         "</Cd></CdOrPrtry></Tp><Amt Ccy=\"KES\">" + amount +
         "</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>";
}
struct Statement {
  std::string entries;
  std::string opening = {};
  std::string closing = {};
  std::string id = "1";
};
std::string camt(const std::vector<Statement>& statements, bool notification = false) {
  const std::string outer = notification ? "BkToCstmrDbtCdtNtfctn" : "BkToCstmrStmt";
  const std::string inner = notification ? "Ntfctn" : "Stmt";
  std::string out = "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.05" +
                    std::string(notification ? "4" : "3") + ".001.08\"><" + outer + ">";
  for (const Statement& one : statements) {
    out += "<" + inner + "><Id>" + one.id + "</Id><Acct><Id><Othr><Id>K1</Id></Othr></Id></Acct>";
    if (!one.opening.empty()) out += balance("OPBD", one.opening) + balance("CLBD", one.closing);
    out += one.entries + "</" + inner + ">";
  }
  return out + "</" + outer + "></Document>";
}
std::string notice(const std::string& entries) { return camt({{entries}}, true); }
std::string swift(const std::string& page, const std::string& opening, const std::string& lines,
                  const std::string& closing) {
  return ":20:X\n:25:K1\n:28C:" + page + "\n:60F:C260101KES" + opening + ",\n" + lines +
         ":62F:C260102KES" + closing + ",\n-\n";
}

struct Files {
  const char* what;
  std::vector<std::string> files;
  const char* counted;
};
const std::string kBatch = "BT1";
const std::string kDetails = detail("REF-001", "100") + detail("REF-002", "200");
const std::string kTurned = detail("REF-002", "200") + detail("REF-001", "100");
const std::string kSwiftFee = ":61:260102D6,NTRFNONREF\n:86:fee\n";
const std::string kZeros = ":61:260102D6,NTRFNONREF//000000\n:86:one\n";
const std::vector<Files> kFiles{
    {"equal entries of one statement",
     {camt({{entry("6", "R", detail("A")) + entry("6", "R", detail("A")) +
                 entry("6", "R", detail("B")),
             "100", "82"}})},
     "3, -18"},
    {"the same in MT940", {swift("1/1", "100", kZeros + kZeros, "88")}, "2, -12"},
    {"equal entries of a file that another one has too",
     {camt({{entry("6", "R") + entry("6", "R")}}),
      camt({{entry("6", "R") + entry("6", "R")}}, true)},
     "2, -12"},
    {"one more than the other file has",
     {camt({{entry("6", "R")}}), camt({{entry("6", "R") + entry("6", "R")}}, true)},
     "2, -12"},
    {"entries without a reference on two pages",
     {camt({{entry("6", ""), "100", "94"}, {entry("6", ""), "94", "88"}})},
     "2, -12"},
    {"without balances, of two statements of a file",
     {camt({{entry("6", "")}, {.entries = entry("6", ""), .id = "2"}})},
     "2, -12"},
    {"pages in MT940",
     {swift("1/1", "100", kSwiftFee, "94") + swift("1/2", "94", kSwiftFee, "88")},
     "2, -12"},
    {"files whose balances continue",
     {camt({{entry("6", ""), "100", "94"}}), camt({{entry("6", ""), "94", "88"}})},
     "2, -12"},
    {"and the other way round",
     {camt({{entry("6", ""), "94", "88"}}), camt({{entry("6", ""), "100", "94"}})},
     "2, -12"},
    {"pages in two files",
     {swift("1/1", "100", kSwiftFee, "94"), swift("1/2", "94", kSwiftFee, "88")},
     "2, -12"},
    {"parts of a longer statement",
     {camt({{entry("6", "") + entry("6", ""), "100", "88"}}), camt({{entry("6", ""), "100", "94"}}),
      camt({{entry("6", ""), "94", "88"}})},
     "2, -12"},
    {"a longer statement of known parts",
     {camt({{entry("6", ""), "100", "94"}}), camt({{entry("6", ""), "94", "88"}}),
      camt({{entry("6", "") + entry("6", ""), "100", "88"}}),
      camt({{.entries = entry("6", ""), .opening = "94", .closing = "88", .id = "7"}})},
     "2, -12"},
    {"a sum, then its details",
     {camt({{entry("300", kBatch)}}), notice(entry("300", kBatch, kDetails))},
     "2, -300"},
    {"details, then their sum",
     {notice(entry("300", kBatch, kDetails)), camt({{entry("300", kBatch)}})},
     "2, -300"},
    {"details in another order",
     {camt({{entry("300", kBatch, kDetails)}}), notice(entry("300", kBatch, kTurned))},
     "2, -300"},
    {"a sum twice, with equal details",
     {camt({{entry("300", kBatch) + entry("300", kBatch)}}),
      notice(entry("300", kBatch, kDetails) + entry("300", kBatch, kDetails))},
     "4, -600"},
    {"details that do not add up",
     {camt({{entry("300", kBatch)}}),
      notice(entry("300", kBatch, detail("REF-001", "100") + detail("REF-002", "1")))},
     "1, -300"},
    {"a reference that was missing",
     {camt({{entry("300", kBatch)}}), notice(entry("300", kBatch, detail("REF-001"))),
      camt({{.entries = entry("300", kBatch), .id = "2"}})},
     "1, -300"}};

}  // namespace

TEST_CASE("bank entries: an entry in several files is stored once, and no entry is lost") {
  for (const auto& [what, files, counted] : kFiles) {
    INFO(what);
    World world;
    for (const std::string& file : files) world.import(file);
    CHECK(world.counted() == counted);
    // Again, in other bytes.
    for (const std::string& file : files) {
      INFO(file);
      CHECK(world.import(file + "\n").at("stored") == 0);
    }
    CHECK(world.counted() == counted);
  }
}

TEST_CASE("bank entries: a line gets the reference that it lacked, and is matched by it") {
  World world;
  world.payout("REF-001");
  world.payout("REF-002");
  CHECK(world.import(camt({{entry("12950", "B1") + entry("25900", "B2")}})).at("matched") == 0);
  const Json done = world.import(notice(entry("12950", "B1", detail("REF-001"))));
  CHECK(done.at("stored") == 0);
  CHECK(done.at("known") == 1);
  CHECK(done.at("completed") == 1);
  CHECK(done.at("matched") == 1);
  CHECK(world.lines({{"state", "replaced"}}).size() == 1);
  CHECK(world.lines({{"state", "matched"}})[0].at("reference") == "REF-001");
  // Each of equal entries keeps its own reference.
  world.import(notice(entry("7", "B3", detail("REF-003"))));
  world.import(camt({{entry("7", "B3", detail("REF-004")) + entry("7", "B3", detail("REF-003")) +
                      entry("7", "B3", detail("REF-004"))}}));
  CHECK(world.text("SELECT group_concat(reference, ' ' ORDER BY reference) FROM bank_lines WHERE "
                   "bank_reference = 'B3'") == "REF-003 REF-004 REF-004");
}

TEST_CASE("bank entries: a matched sum stays, and its details change nothing") {
  World world;
  const std::string paid = world.payout("REF-001");
  world.import(camt({{entry("12950", "B1")}}));
  const std::string line = world.lines()[0].at("id");
  world.json("reconcile match", {{"LINE", line}, {"PAYMENT", paid}, {"reason", "Called"}});
  const Json done =
      world.import(notice(entry("12950", "B1", detail("A", "12000") + detail("B", "950"))));
  CHECK(done.at("stored") == 0);
  CHECK(done.at("completed") == 0);
  CHECK(world.counted() == "1, -12950");
}

TEST_CASE("bank entries: lines that a statement with balances does not have are named") {
  World world;
  world.import(notice(entry("6", "B1") + entry("7", "B2")));
  const Json done = world.import(camt({{entry("6", "B1") + entry("8", "B3"), "100", "86"}}));
  REQUIRE(done.at("notes").size() == 1);
  CHECK(done.at("notes")[0].at("note") ==
        "Account K1, 2026-01-02 to 2026-01-02: other files have lines that this file does not "
        "have, and its balances agree without them: 1.");
  // Two statements of the same days in one file are one note.
  const Json both = world.import(
      camt({{.entries = entry("4", "B4"), .opening = "86", .closing = "82", .id = "2"},
            {.entries = entry("3", "B5"), .opening = "82", .closing = "79", .id = "3"}}));
  REQUIRE(both.at("notes").size() == 1);
  CHECK(both.at("notes")[0].at("note").get<std::string>().ends_with(": 2."));
}

TEST_CASE("bank entries: a match that an operator undid is made by no rule again") {
  World world;
  const std::string paid = world.payout("REF-001");
  world.import(camt({{entry("12950", "B1", detail("REF-001"))}}));
  const std::string line = world.lines({{"state", "matched"}})[0].at("id");
  world.json("reconcile unmatch", {{"LINE", line}, {"reason", "Not this payment"}});
  world.import(camt({{.entries = entry("5", "B2"), .id = "2"}}));
  const Json after = world.lines({{"state", "offered"}});
  REQUIRE(after.size() == 1);
  CHECK(after[0].at("payments")[0].at("because") == "an operator undid the match");
  CHECK(world.json("reconcile match", {{"LINE", line}, {"PAYMENT", paid}, {"reason", "It is"}})
            .at("state") == "matched");
}

TEST_CASE("bank entries: an account serves several connectors, and a line counts for one of them") {
  World world;
  const std::string beta =
      add_connector(world.app, [](ConnectorTerms& terms) { terms.provider = "Beta"; });
  world.payout("REF-001");
  world.payout("REF-002", "5678", beta);
  const std::string file = camt({{entry("12950", "B1", detail("REF-001")) +
                                  entry("12950", "B2", detail("REF-002")) + entry("5", "B3")}});
  CHECK(world.import(file).at("matched") == 2);
  CHECK(world.report_of(world.pays) == "0.00 -12955.00 ");
  CHECK(world.report_of(beta) == "0.00 -12950.00 ");
  CHECK(world.lines({{"connector", beta}}).empty());
  // The import for another connector gives it the line without a match.
  const Json moved = world.import(file, beta);
  CHECK(moved.at("stored") == 0);
  CHECK(world.lines({{"connector", beta}}).size() == 3);
  CHECK(world.report_of(world.pays) == "0.00 -12950.00 ");
  CHECK(world.report_of(beta) == "0.00 -12955.00 ");
}

TEST_CASE("bank entries: a converted line counts in the currency of the payment") {
  World world;
  world.payout("REF-001");
  const std::string instructed =
      "<TxDtls><Refs><EndToEndId>REF-001</EndToEndId></Refs><AmtDtls><InstdAmt><Amt "
      "Ccy=\"KES\">12950</Amt></InstdAmt></AmtDtls></TxDtls>";
  CHECK(world.import(camt({{entry("90", "B1", instructed, "DBIT", "EUR")}})).at("matched") == 1);
  CHECK(world.report_of(world.pays) == "0.00 -12950.00 ");
}

TEST_CASE("bank entries: a payout that failed after its debit has a debit and a credit") {
  World world;
  const std::string paid = world.payout("REF-001", "1301");
  REQUIRE(world.me.status(paid) == "refunded");
  CHECK(world
            .import(camt({{entry("12950", "B1", detail("REF-001")) +
                           entry("12950", "B2", detail("REF-001"), "CRDT")}}))
            .at("matched") == 2);
  const Json lines = world.lines();
  CHECK(lines[0].at("payments")[0].at("kind") == "return");
  CHECK(lines[1].at("payments")[0].at("kind") == "payment");
  // A further one is another matter.
  CHECK(world.import(camt({{entry("12950", "B3", detail("REF-001"), "CRDT")}})).at("matched") == 0);
}

TEST_CASE("bank entries: an operator matches what is left of a payment, or says that it differs") {
  World world;
  const std::string paid = world.payout("REF-001");
  const std::string failed = world.payout("REF-002", "1101");
  REQUIRE(world.me.status(failed) == "failed");
  struct Case {
    std::string entry;
    std::string payment;
    const char* reason;  // empty: matched
  };
  const std::vector<Case> cases{
      {entry("12000", "L0"), paid, ""},
      {entry("951", "L1"), paid,
       "the line has 951.00 KES, of the payment 950.00 are without a line."},
      {entry("950", "L2"), paid, ""},
      {entry("1", "L3"), paid, "the line has 1.00 KES, of the payment 0.00 are without a line."},
      {entry("1", "L4", "", "CRDT"), paid, "the line and the payment have different directions."},
      {entry("1", "L5", "", "DBIT", "KWD"), paid, "the line is in KWD, the payment in KES."},
      {entry("1", "L6"), failed, "the payment has not moved money."}};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [shown, payment, reason] = cases[i];
    INFO(shown);
    world.import(camt({{.entries = shown, .id = std::to_string(i)}}));
    Values with{{"PAYMENT", payment}, {"reason", "Called the bank"}};
    for (const Json& line : world.lines()) {
      if (line.at("bankReference") == "L" + std::to_string(i)) with["LINE"] = line.at("id");
    }
    const auto [code, out] = world.run("reconcile match", with);
    INFO(out);
    CHECK((code == exit_code::kDone) == std::string(reason).empty());
    CHECK(out.find(reason) != std::string::npos);
    if (code == exit_code::kDone) continue;
    with["although-it-differs"] = "true";
    CHECK(world.json("reconcile match", with).at("state") == "matched");
    world.json("reconcile unmatch", {{"LINE", with["LINE"]}, {"reason", "Only tried"}});
  }
}

}  // namespace bank_entries_test
