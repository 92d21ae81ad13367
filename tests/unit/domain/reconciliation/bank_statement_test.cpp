// Readers of bank statements. The files are written by hand in the style of real ones; those of
// banks are read if COFFER_BANK_SAMPLES names a folder with them.
#include "domain/reconciliation/bank_statement.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/text/characters.h"

namespace bank_statement_test {
namespace {

using namespace coffer;

Result<StatementFile> read(const std::string& text, const CsvMapping& mapping = {}) {
  return read_statement_file(text, statement_format_of(text), mapping);
}
StatementFile good(const std::string& text, const CsvMapping& mapping = {}) {
  auto file = read(text, mapping);
  INFO((file ? "" : file.error().detail));
  REQUIRE(file);
  return *std::move(file);
}
std::string reason(const std::string& text, const CsvMapping& mapping = {}) {
  const auto file = read(text, mapping);
  return file ? "read" : file.error().detail;
}
const BankLine& only_line(const StatementFile& file) {
  REQUIRE(file.line_count() == 1);
  return file.statements.front().lines.front();
}

std::string swift(const std::string& lines, const std::string& closing = "C260102EUR90,") {
  return ":20:X\n:25:NL1\n:28C:1/1\n:60F:C260101EUR100,\n" + lines + "\n:62F:" + closing + "\n-\n";
}
/// The amount of a :61: between its date and its type, and the closing balance.
std::string swift_line(const std::string& mark, const std::string& closing) {
  return swift(":61:260102" + mark + "NTRFREF1//BANK1", closing);
}

std::string camt(const std::string& inner, const std::string& kind = "053.001.08") {
  const bool statement = kind.starts_with("053");
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document "
         "xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt." +
         kind + "\">\n<" + (statement ? "BkToCstmrStmt" : "BkToCstmrDbtCdtNtfctn") + "><" +
         (statement ? "Stmt" : "Ntfctn") +
         "><Id>S1</Id><Acct><Id><IBAN>NL26VAYB8060476890</IBAN></Id></Acct>\n" + inner + "</" +
         (statement ? "Stmt" : "Ntfctn") + "></" +
         (statement ? "BkToCstmrStmt" : "BkToCstmrDbtCdtNtfctn") + ">\n</Document>\n";
}
std::string balance(const std::string& type, const std::string& amount) {
  return "<Bal><Tp><CdOrPrtry><Cd>" + type + "</Cd></CdOrPrtry></Tp><Amt Ccy=\"EUR\">" + amount +
         "</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>\n";
}
std::string entry(const std::string& amount, const std::string& direction,
                  const std::string& more = {}, const std::string& status = "<Cd>BOOK</Cd>") {
  return "<Ntry><Amt Ccy=\"EUR\">" + amount + "</Amt><CdtDbtInd>" + direction +
         "</CdtDbtInd><Sts>" + status +
         "</Sts><BookgDt><DtTm>2026-01-02T23:15:00+01:00</DtTm></BookgDt><AcctSvcrRef>B1</"
         "AcctSvcrRef>" +
         more + "</Ntry>\n";
}

TEST_CASE("bank statements: amounts are exact, with seven places at most") {
  struct Case {
    const char* text;
    std::int64_t units;
  };
  for (const auto& [text, units] : {Case{"1234,5", 12'345'000'000}, Case{"1234,", 12'340'000'000},
                                    Case{"000000001000,00", 10'000'000'000}, Case{",5", 5'000'000},
                                    Case{"1.234,56", 12'345'600'000}, Case{"0,0000001", 1}}) {
    INFO(text);
    CHECK(stated_amount(text, ',', 1).value().units() == units);
  }
  for (const char* text :
       {"", ",", "1,2,3", "12.34,5", "1e3", "-1,0", "1.23", "0,00000001", "99999999999999999999"}) {
    INFO(text);
    const auto amount = stated_amount(text, ',', 7);
    REQUIRE_FALSE(amount);
    CHECK(amount.error().detail.starts_with("Line 7: "));
  }
}

TEST_CASE("bank statements: MT940 lines") {
  struct Case {
    const char* mark;
    const char* closing;
    std::int64_t whole;
  };
  for (const auto& [mark, closing, whole] :
       {Case{"D10,", "C260102EUR90,", -10}, Case{"0102C10,00", "C260102EUR110,", 10},
        Case{"0102RC10,00", "C260102EUR90,", -10}, Case{"0102RD10,", "C260102EUR110,", 10},
        Case{"0102DR10,00", "C260102EUR90,", -10}, Case{"    DD10,", "C260102EUR90,", -10}}) {
    INFO(mark);
    const StatementFile file = good(swift_line(mark, closing));
    const BankLine& line = only_line(file);
    CHECK(line.amount == Amount::from_units(whole * Amount::kUnitsPerWhole));
    CHECK(line.booked_on.to_string().starts_with("2026-01-02"));
    CHECK(line.reference == "REF1");
    CHECK(line.bank_reference == "BANK1");
    CHECK(line.code == "NTRF");
  }
  const StatementFile turn = good(swift(":61:2512310102D10,NTRFNONREF"));
  CHECK(only_line(turn).booked_on.to_string().starts_with("2026-01-02"));
  CHECK(only_line(turn).value_on->to_string().starts_with("2025-12-31"));
  CHECK(only_line(turn).reference.empty());
}

TEST_CASE("bank statements: MT940 details") {
  const StatementFile coded =
      good(swift(":61:260102D10,NTRFNONREF//B\n:86:166?00CREDIT?20EREF+pay-123?21SVWZ+Order 4 of "
                 "12345 articles?22x?31DE14?32Karl\n Kauf?33mann"));
  CHECK(only_line(coded).reference == "pay-123");
  CHECK(only_line(coded).text == "pay-123 Order 4 of 12345 articlesx");
  CHECK(only_line(coded).party_name == "Karl Kauf mann");
  CHECK(only_line(coded).party_account == "DE14");
  const StatementFile keys =
      good(swift(":61:260102D10,N102EREF\n:86:/EREF/01-01 A/BENM//NAME/CONTRA ACCOUN\nT "
                 "HOLDER/REMI/Bill 7/ISDT/2013-07-11"));
  CHECK(only_line(keys).reference == "01-01 A");
  CHECK(only_line(keys).text == "01-01 A Bill 7");
  const StatementFile free = good(swift(
      ":61:260102D10,NTRFNONREF\nsupplement\n:86:one\n\ntwo\n:64:C260102EUR90,\n:86:about all"));
  CHECK(only_line(free).text == "supplement one two");
  const StatementFile converted = good(swift(":61:260102D10,NTRFX//Y\n/OCMT/USD9,5//CHGS/EUR0,5/"));
  CHECK(only_line(converted).original->amount.to_string(2) == "9.50");
  CHECK(only_line(converted).charges.to_string(2) == "0.50");
  std::string block =
      "{1:F01ASNBNL21XXXX0000000000}{2:O940ASNBNL21XXXXN}{3:}{4:\r\n:25:NL1\r\n:60F:C260101EUR1,"
      "00\r\n"
      ":61:2601020102C1,00NTRFNONREF\r\n:86:\xdc"
      "berweisung\r\n:62F:C260102EUR2,00\r\n-}{5:}\r\n";
  CHECK(only_line(good(utf8_of(block))).text == "Überweisung");
}

TEST_CASE("bank statements: MT940 is refused with a line") {
  for (const auto& [text, expected] : std::map<std::string, std::string>{
           {swift(":61:160230D6,00NTRF"), "Line 5: There is no day 2016-02-30."},
           {swift(":61:260102X6,00NTRF"), "Line 5: The line is marked with neither C nor D."},
           {swift(":61:260102D6,123456789NTRF"),
            "Line 5: \"6,123456789\" has more than 7 decimal places."},
           {swift(":61:260102D6,NTRF"),
            "Line 1: The opening balance and the lines of statement \"1/1\" give 94.00 EUR, its "
            "closing balance is 90.00."},
           {":25:A\n:61:260102D6,NTRF\n:60F:C260101EUR1,",
            "Line 2: The line comes before the opening balance (:60F:)."},
           {swift("", "C260102EUR100,") + ":61:260102D6,NTRF",
            "Line 8: The field :61: is outside of a statement, which begins with :20:."},
           {swift("", "C260102USD100,"),
            "Line 1: The opening balance is in EUR and the closing balance in USD."}}) {
    INFO(text);
    CHECK(reason(text) == expected);
  }
}

TEST_CASE("bank statements: camt.053 and camt.054 in every version") {
  const std::string detail =
      "<NtryDtls><TxDtls><Refs><EndToEndId>E2E-1</EndToEndId></Refs><Chrgs><TtlChrgsAndTaxAmt "
      "Ccy=\"EUR\">0.5"
      "</TtlChrgsAndTaxAmt></Chrgs><RltdPties><Cdtr><Pty><Nm>Ann</Nm></Pty></"
      "Cdtr><CdtrAcct><Id><IBAN>NL56</IBAN></Id>"
      "</CdtrAcct></RltdPties><RmtInf><Ustrd>Order 7 &amp; 8</Ustrd></RmtInf></TxDtls></NtryDtls>";
  for (const char* kind : {"053.001.02", "053.001.04", "053.001.08", "054.001.02", "054.001.08"}) {
    INFO(kind);
    const StatementFile file =
        good(camt(balance("OPBD", "20") + balance("CLBD", "11.15") + entry("8.85", "DBIT", detail) +
                      entry("5", "CRDT", "", "PDNG"),
                  kind));
    const BankLine& line = only_line(file);
    CHECK(line.amount.to_string(2) == "-8.85");
    CHECK(line.line == 6);
    CHECK(line.booked_on.to_string().starts_with("2026-01-02"));
    CHECK(line.bank_reference == "B1");
    CHECK(line.reference == "E2E-1");
    CHECK(line.text == "Order 7 & 8");
    CHECK(line.party_name == "Ann");
    CHECK(line.party_account == "NL56");
    CHECK(line.charges.to_string(2) == "0.50");
    CHECK(file.notes == std::vector<std::string>{"Entries that are not booked were skipped: 1."});
  }
}

TEST_CASE("bank statements: a batch whose transactions add up is split") {
  const auto part = [](const std::string& amount, const std::string& reference) {
    return "<TxDtls><Refs><EndToEndId>" + reference + "</EndToEndId></Refs><Amt Ccy=\"EUR\">" +
           amount + "</Amt></TxDtls>";
  };
  const StatementFile split = good(
      camt(entry("10", "DBIT", "<NtryDtls>" + part("4", "a") + part("6", "b") + "</NtryDtls>")));
  REQUIRE(split.line_count() == 2);
  CHECK(split.statements[0].lines[1].bank_reference == "B1/2");
  CHECK(split.statements[0].lines[1].amount.to_string(2) == "-6.00");
  const StatementFile whole = good(
      camt(entry("10", "DBIT", "<NtryDtls>" + part("4", "a") + part("5", "b") + "</NtryDtls>")));
  CHECK(only_line(whole).reference == "a");
  CHECK(only_line(whole).text == "b");
}

TEST_CASE("bank statements: hostile and wrong XML is refused") {
  const std::string ok = camt(entry("1", "CRDT"));
  CHECK(reason(ok) == "read");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = ok;
    text.replace(text.find(from), from.size(), to);
    return reason(text);
  };
  CHECK(with("<Document", "<!DOCTYPE Document [<!ENTITY a \"aaaa\">]><Document") ==
        "Line 1: A document type declaration is not accepted.");
  CHECK(with("camt.053.001", "pain.001.001") ==
        "Line 2: This is not a camt.053 or camt.054 document.");
  CHECK(with("</Stmt>", "").starts_with("Line "));
  CHECK(with("CRDT", "BOTH") == "Line 4: CdtDbtInd is neither CRDT nor DBIT.");
  CHECK(with(" Ccy=\"EUR\"", "") == "Line 4: An amount has no currency.");
  CHECK(with("2026-01-02", "2026-02-30") == "Line 4: There is no day 2026-02-30.");
  CHECK(with("01-02T23", "January") == "Line 4: \"2026-January:15:00+01:00\" is not a date.");
  std::string deep = "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.02\">";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  CHECK(reason(deep).starts_with("Line "));
  std::string many = "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.02\">";
  for (int i = 0; i < 2'600'000; ++i) many += "<a/>\n<b>";
  CHECK(reason(many) == "Line 1: The file has too many elements. Split it into several files.");
  CHECK(reason("") == "Line 1: The file has no line with the names of its columns.");
}

TEST_CASE("bank statements: CSV with a mapping") {
  const auto mapping =
      CsvMapping::parse(
          "bookingDate=Buchung,debit=Soll,credit=Haben,currency==EUR,text=Zweck,reference=Ref", ";",
          ",", "DD.MM.YYYY")
          .value();
  const std::string head = "Buchung;Soll;Haben;Zweck;Ref\n";
  const StatementFile file =
      good(head + "02.01.2026;1.234,56;;\"a;b\";NONREF\n03.01.2026;;5;c;R2\n", mapping);
  REQUIRE(file.line_count() == 2);
  CHECK(file.statements[0].lines[0].amount.to_string(2) == "-1234.56");
  CHECK(file.statements[0].lines[0].text == "a;b");
  CHECK(file.statements[0].lines[0].reference.empty());
  CHECK(file.statements[0].lines[1].amount.to_string(2) == "5.00");
  CHECK(reason(head + "30.02.2026;1;;;\n", mapping) == "Line 2: There is no day 2026-02-30.");
  CHECK(reason(head + "02.01.2026;1;1;;\n", mapping) ==
        "Line 2: The line must have either a debit or a credit.");
  CHECK(reason(head + "2026-01-02;1;;;\n", mapping) ==
        "Line 2: \"2026-01-02\" is not a date like DD.MM.YYYY.");
  CHECK(reason(head + "02.01.2026;1;\n", mapping) == "Line 2: The line has 3 cells; expected 5.");
  CHECK(reason("A;B\n1;2\n", mapping) ==
        "Line 1: There is no column \"Buchung\", which the mapping has for bookingDate.");
  for (const char* columns :
       {"", "bookingDate=a", "bookingDate=a,amount=b", "bookingDate=a,amount=b,currency=c,odd=d",
        "bookingDate=a,amount=b,currency", "bookingDate=a,debit=b,currency=c"}) {
    INFO(columns);
    CHECK_FALSE(CsvMapping::parse(columns, ",", ".", "YYYY-MM-DD"));
  }
}

/// Files that no one here wrote. Prints each result with COFFER_BANK_SAMPLES_SHOW.
TEST_CASE("bank statements: files of banks are read, or refused with a line") {
  const char* folder = ::getenv("COFFER_BANK_SAMPLES");
  if (folder == nullptr) return;
  for (const auto& one : std::filesystem::directory_iterator(folder)) {
    if (one.path().extension() == ".md") continue;
    std::stringstream bytes;
    bytes << std::ifstream(one.path(), std::ios::binary).rdbuf();
    const std::string text = utf8_of(bytes.str());
    const auto file = read_statement_file(text, statement_format_of(text), {});
    INFO(one.path());
    std::ostringstream shown;
    if (!file) {
      CHECK(file.error().detail.starts_with("Line "));
      shown << file.error().detail << "\n";
    } else {
      for (const BankStatement& statement : file->statements) {
        shown << "  " << statement.account << " " << statement.id << " " << statement.lines.size()
              << " lines\n";
        for (const BankLine& line : statement.lines) {
          CHECK(is_utf8(line.text));
          shown << "    " << line.booked_on.to_string().substr(0, 10) << " "
                << line.amount.to_string(2) << " " << line.currency << " | " << line.bank_reference
                << " | " << line.reference << " | " << line.text << " | " << line.party_name
                << " | " << line.party_account << " | " << line.code << "\n";
        }
      }
      for (const std::string& note : file->notes) shown << "  " << note << "\n";
    }
    if (::getenv("COFFER_BANK_SAMPLES_SHOW") != nullptr)
      std::cout << one.path().filename() << ": " << shown.str();
  }
}

}  // namespace
}  // namespace bank_statement_test
