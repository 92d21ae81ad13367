// The statement as CSV and as NDJSON: the whole range, the same rows, safe to open in a
// spreadsheet.
#include <catch2/catch.hpp>
#include <sstream>

#include "api/ledger/csv.h"
#include "api/ledger/statement_file.h"
#include "cli/run/dispatch.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace statement_export_test {
namespace {

using Row = std::vector<std::string>;

/// `format`: empty for the page as JSON, otherwise such as "/csv".
std::string target(const std::string& wallet, const std::string& more,
                   const std::string& format = {}) {
  return "/v1/statements/transactions" + format + "?walletId=" + wallet +
         "&assetCode=USDC&startDate=2026-01-01&endDate=2026-02-01" + more;
}

/// A strict RFC 4180 parser.
std::vector<Row> parse_csv(const std::string& text) {
  std::vector<Row> rows;
  Row row;
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        cell += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"' && cell.empty()) {
      quoted = true;
    } else if (c == ',') {
      row.push_back(std::move(cell));
      cell.clear();
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      row.push_back(std::move(cell));
      cell.clear();
      rows.push_back(std::move(row));
      row.clear();
    } else {
      cell += c;
    }
  }
  CHECK_FALSE(quoted);
  CHECK((row.empty() && cell.empty()));  // the last line has its end
  return rows;
}

std::vector<Json> parse_ndjson(const std::string& text) {
  std::vector<Json> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    out.push_back(Json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

std::string text_of(const Json& line, const char* name) {
  return line.contains(name) && line.at(name).is_string() ? line.at(name).get<std::string>() : "";
}

struct World {
  TestApp app;
  std::string from = app.wallet("USDC", "100");
  std::string to = app.wallet("USDC");

  void pay(const std::string& description, const std::string& reference = {}) {
    Json body = transfer_body(from, to, "0.5");
    body["description"] = description;
    if (!reference.empty()) body["fromRef"] = reference;
    app.me().pay("/v1/payments/p2p/own", body);
    app.clock.advance_ms(1'000);
    app.settle();
  }
};

}  // namespace

TEST_CASE("CSV and NDJSON contain the rows of the JSON statement") {
  World world;
  world.pay("Rent");
  world.pay("Comma, \"quote\" and more", "REF-2");
  world.pay("Ümläut 元");
  const Json page = world.app.me().get(target(world.from, "")).json();
  const auto lines = page.at("data").get<std::vector<Json>>();
  REQUIRE(lines.size() == 4);

  const Reply csv = world.app.me().get(target(world.from, "", "/csv"));
  CHECK(csv.status == 200);
  CHECK(csv.header("Content-Type") == "text/csv; charset=utf-8");
  CHECK_THAT(
      csv.header("Content-Disposition"),
      Catch::Matchers::StartsWith("attachment; filename=") && Catch::Matchers::Contains(".csv"));
  const auto rows = parse_csv(csv.body);
  REQUIRE(rows.size() == 5);
  CHECK(rows[0] == Row{"rowId", "at", "description", "reference", "counterparty", "direction",
                       "amount", "runningBalance", "transactionRecordId", "metadata"});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (std::size_t column = 0; column < rows[0].size(); ++column) {
      INFO(rows[0][column]);
      CHECK(rows[i + 1].at(column) == text_of(lines[i], rows[0][column].c_str()));
    }
  }

  const Reply ndjson = world.app.me().get(target(world.from, "", "/ndjson"));
  CHECK(ndjson.status == 200);
  CHECK(ndjson.header("Content-Type") == "application/x-ndjson");
  CHECK(parse_ndjson(ndjson.body) == lines);
}

TEST_CASE("each statement operation has one media type, whatever the Accept header says") {
  World world;
  world.pay("x");
  for (const char* accept : {"text/csv", "application/x-ndjson", "application/xml", "*/*"}) {
    INFO(accept);
    const Client me = world.app.me().with("Accept", accept);
    const auto type = [&](const std::string& format) {
      return me.get(target(world.from, "", format)).header("Content-Type");
    };
    CHECK(type("") == "application/json");
    CHECK(type("/csv") == "text/csv; charset=utf-8");
    CHECK(type("/ndjson") == "application/x-ndjson");
    CHECK(type("/camt.053") == "application/xml");
  }
  for (const char* query : {"&format=csv", "&format=json", "&limit=5&Format=csv"}) {
    INFO(query);
    CHECK(world.app.me().get(target(world.from, query)).status == 400);
    CHECK(world.app.me().get(target(world.from, query, "/csv")).status == 400);
  }
}

TEST_CASE("no CSV cell starts like a formula") {
  World world;
  world.app.me().put("/v1/wallets/" + world.to, {{"walletName", "=HYPERLINK(\"http://x\")"}});
  const std::string texts[] = {"=1+1",
                               "+1",
                               "-1",
                               "@SUM(A1)",
                               "  =1",
                               "\xc2\xa0=1",      // a no-break space
                               "\xe3\x80\x80-1",  // a wide space
                               "\xef\xbc\x9d"
                               "1",  // full-width signs
                               "\xef\xbc\x8b"
                               "1",
                               "\xef\xbc\x8d"
                               "1",
                               "\xef\xbc\xa0"
                               "1"};
  for (const std::string& text : texts) world.pay(text, "-REF");
  const auto rows = parse_csv(world.app.me().get(target(world.from, "", "/csv")).body);
  REQUIRE(rows.size() == std::size(texts) + 2);
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    const Row& row = rows[i + 2];
    CHECK(row[2] == "'" + texts[i]);
    CHECK(row[3] == "'-REF");
    CHECK(row[4] == "'=HYPERLINK(\"http://x\")");
    // Amounts are numbers, not texts.
    CHECK(row[6] == "-0.50");
  }
  // Texts that requests cannot contain.
  for (const std::string text :
       {"\t=1", "\r=1", "\n=1", "\xef\xbb\xbf=1", "\xe2\x80\x8b\xe3\x80\x80-1"}) {
    CHECK(parse_csv(api::csv_cell(text) + "\r\n").at(0).at(0) == "'" + text);
  }
  // Ordinary texts are unchanged, also with a sign inside or with letters of any script.
  for (const char* text : {"a=1", "1+1", "  x-1", "\xe4\xbb\x98\xe6\xac\xbe", "(=1)", ""}) {
    CHECK(api::csv_cell(text) == text);
  }
  // JSON does not need this: there the text is unchanged.
  const auto lines = parse_ndjson(world.app.me().get(target(world.from, "", "/ndjson")).body);
  CHECK(lines[1].at("description") == "=1+1");
}

TEST_CASE("an export streams the whole range, beyond any page") {
  TestApp app;
  const std::string from = app.wallet("USDC", "1000"), to = app.wallet("USDC");
  for (int i = 0; i < 6; ++i) {
    app.me().pay("/v1/payments/p2p/own/multi",
                 multi_body(std::vector<Json>(100, transfer_body(from, to, "0.25"))));
  }
  app.settle();
  const auto lines = parse_ndjson(app.me().get(target(to, "", "/ndjson")).body);
  REQUIRE(lines.size() == 600);
  CHECK(lines.back().at("runningBalance") == "150.00");
  std::vector<std::string> paged;
  std::string cursor;
  for (bool more = true; more;) {
    const Json page = app.me().get(target(to, "&limit=100" + cursor)).json();
    for (const Json& line : page.at("data")) paged.push_back(line.at("rowId"));
    more = page.at("hasMore");
    if (more) cursor = "&cursor=" + page.at("nextCursor").get<std::string>();
  }
  CHECK(member_of_each(lines, "rowId") == paged);
  const auto rows = parse_csv(app.me().get(target(to, "", "/csv")).body);
  REQUIRE(rows.size() == 601);
  for (std::size_t i = 0; i < paged.size(); ++i) CHECK(rows[i + 1][0] == paged[i]);
}

TEST_CASE("an export of a period that ends before its start is rejected") {
  TestApp app;
  const std::string base =
      "?walletId=" + app.wallet("USDC") + "&assetCode=USDC&startDate=2026-02-01&endDate=2026-01-01";
  for (const char* format : {"/csv", "/ndjson", "/camt.053"}) {
    const Reply reply = app.me().get("/v1/statements/transactions" + std::string(format) + base);
    INFO(format << " " << reply.text());
    CHECK(reply.status == 422);
    CHECK(reply.slug() == "validation-failed");
  }
}

TEST_CASE("an empty period exports only the header") {
  World world;
  CHECK(parse_csv(world.app.me().get(target(world.to, "", "/csv")).body).size() == 1);
  CHECK(world.app.me().get(target(world.to, "", "/ndjson")).body.empty());
}

TEST_CASE("an export arrives complete over the wire, in chunks") {
  World world;
  for (int i = 0; i < 3; ++i) world.pay("over the wire");
  const Reply near = world.app.me().get(target(world.from, "", "/csv"));
  world.app.listen();
  const Reply far = world.app.me().over_wire().get(target(world.from, "", "/csv"));
  CHECK(far.status == 200);
  CHECK(far.header("Transfer-Encoding") == "chunked");
  CHECK(far.header("Content-Type") == near.header("Content-Type"));
  CHECK(far.body == near.body);
  const Reply head =
      world.app.me().over_wire().send({"HEAD", target(world.from, "", "/csv"), {}, {}});
  CHECK(head.status == 200);
  CHECK(head.body.empty());
}

namespace {

std::string exported(TestApp& app, std::map<std::string, std::string> arguments) {
  std::ostringstream out;
  std::ostringstream err;
  cli::Interruption interruption;
  const int code = cli::run_request(
      app.core(), {.command = "statement export", .arguments = std::move(arguments)}, out, err,
      interruption);
  INFO(err.str());
  REQUIRE(code == 0);
  return out.str();
}

/// Without the ID of the message, which differs between two documents.
std::string without_message_id(std::string xml) {
  const auto from = xml.find("<MsgId>");
  if (from != std::string::npos) xml.erase(from, xml.find("</MsgId>") - from);
  return xml;
}

}  // namespace

TEST_CASE("statement export: the operator gets the bytes of the API in every format") {
  TestApp app;
  const std::string from = app.wallet("USDC", "1000");
  const std::string to = app.wallet("USDC");
  for (int i = 0; i < 3; ++i) app.me().transfer(from, to, "1.5");
  app.settle();
  for (const api::StatementFormatInfo& info : api::kStatementFormats) {
    INFO(info.name);
    const std::string file = exported(app, {{"ID", from},
                                            {"format", std::string(info.name)},
                                            {"from", "2026-01-01"},
                                            {"to", "2026-02-01"}});
    const bool is_page = info.format == api::StatementFormat::json;
    const std::string format = is_page ? std::string() : '/' + std::string(info.name);
    const std::string reply = app.me().get(target(from, "", format)).body;
    if (info.format == api::StatementFormat::json) {
      CHECK(Json::parse(file) == Json::parse(reply));
    } else {
      CHECK(without_message_id(file) == without_message_id(reply));
    }
  }
}

TEST_CASE("statement export: without a period, everything from the first entry to now") {
  TestApp app;
  const std::string from = app.wallet("USDC", "1000");
  const std::string to = app.wallet("USDC");
  app.me().transfer(from, to, "1.5");
  app.settle();
  const Json all = Json::parse(exported(app, {{"ID", from}, {"format", "json"}}));
  CHECK(all.at("openingBalance") == "0.00");
  CHECK(all.at("closingBalance") == "998.50");
  CHECK(all.at("data").size() == 2);
  CHECK(all.at("data").back().at("runningBalance") == "998.50");
  const Json none = Json::parse(exported(
      app, {{"ID", from}, {"format", "json"}, {"to", "2020-01-02"}, {"from", "2020-01-01"}}));
  CHECK(none.at("data").empty());
  CHECK(none.at("hasMore") == false);
}

}  // namespace statement_export_test
