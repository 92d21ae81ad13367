// Readers of bank statements. The files are written by hand in the style of real ones; those of
// banks are read if COFFER_BANK_SAMPLES names a folder with them.
#include "domain/reconciliation/bank_statement.h"

#include <stdlib.h>

#include <array>
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
  struct Days {
    const char* given;
    const char* booked;
    const char* value;
  };
  for (const auto& [given, booked, value] :
       {Days{"9912310101", "2000-01-01", "1999-12-31"},
        Days{"0001031231", "1999-12-31", "2000-01-03"},
        Days{"2402290301", "2024-03-01", "2024-02-29"}, Days{"2602300302", "2026-03-02", "none"},
        Days{"2602290227", "2026-02-27", "none"}}) {
    INFO(given);
    const StatementFile file = good(swift(":61:" + std::string(given) + "D10,NTRFNONREF"));
    const BankLine& line = only_line(file);
    CHECK(line.booked_on.to_string().substr(0, 10) == booked);
    CHECK((line.value_on ? line.value_on->to_string().substr(0, 10) : "none") == value);
    CHECK(file.notes.size() == (line.value_on ? 0 : 1));
  }
  CHECK(only_line(good(swift(":61:260102D10,00//BANK1"))).bank_reference == "BANK1");
  // Codes of three characters, and a space after the amount.
  for (const auto& [given, code] : std::map<std::string, std::string>{
           {"D10,00NOV REF1", "NOV"}, {"D10,00 NTRFREF1", "NTRF"}, {"D10,00S   REF1", "S"}}) {
    INFO(given);
    const StatementFile file = good(swift(":61:260102" + given));
    CHECK(only_line(file).code == code);
    CHECK(only_line(file).reference == "REF1");
  }
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
  // The bank repeats :86:, and ends each part with a slash.
  const StatementFile parts = good(
      swift(":61:260102D10,NTRFMARF//B\n:86:/EREF/pay-123//MARF/M7//CNTP/DE14/BICX/Ann B.///REMI/"
            "USTD//Bill 7/\n:86:/TRCD/541/ULTC//NAME/Other/"));
  CHECK(only_line(parts).reference == "pay-123");
  CHECK(only_line(parts).text == "pay-123 Bill 7");
  CHECK(only_line(parts).party_name == "Ann B.");
  CHECK(only_line(parts).party_account == "DE14");
  for (const std::string mark : {">", "~", "^", "<"}) {
    INFO(mark);
    std::string text =
        ":61:260102D10,NTRFNONREF\n:86:020\n*00PAID*20Bill 7?21\n*31DE1\n*38DE14*32Ann";
    for (std::size_t at = text.find('*'); at != std::string::npos; at = text.find('*'))
      text.replace(at, 1, mark);
    const StatementFile marked = good(swift(text));
    CHECK(only_line(marked).text == "Bill 7?21");
    CHECK(only_line(marked).party_name == "Ann");
    CHECK(only_line(marked).party_account == "DE14");
  }
  CHECK(only_line(good(swift(":61:260102D10,NTRFNONREF\n:86:one\n-\ntwo"))).text == "one - two");
  CHECK(
      only_line(good(swift(":61:260102D10,NTRFNONREF\n:86:020?20At T16\n:26:37 x?21:13:y"))).text ==
      "At T16:26:37 x :13:y");
  // A line of 65 characters, of which the tag can be four, continues in the next one.
  for (const auto& [size, space] :
       std::map<std::size_t, std::string>{{60, " "}, {61, ""}, {65, ""}}) {
    INFO(size);
    const std::string full(size, 'x');
    CHECK(only_line(good(swift(":61:260102D10,NTRFNONREF\n:86:" + full + "\ny"))).text ==
          full + space + "y");
  }
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
           {swift(":61:260102C6,00NTRF\n :61:260102D6,00NTRF"),
            "Line 6: The field :61: is not at the start of its line."},
           {swift(":61:260102C6,00N TRF"),
            "Line 5: The line has no code of four characters after its amount."},
           {swift(":61:xx02300301C6,00NTRF"), "Line 5: \"xx0230\" is not a date."},
           {":20:X\n:25:NL1\n:28C:1/1\n:34F:EUR0,\n:61:260102C6,00NTRF",
            "Line 4: This is MT942, whose lines are not booked. MT940 is read."},
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
  for (const char* kind : {"053.001.02", "053.001.06", "053.001.13", "054.001.04", "054.001.08"}) {
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

TEST_CASE("bank statements: the other party of a reversal") {
  const auto named = [](const std::string& parties, const std::string& reversal) {
    return only_line(
               good(camt(entry("1", "DBIT",
                               "<RvslInd>" + reversal + "</RvslInd><NtryDtls><TxDtls><RltdPties>" +
                                   parties + "</RltdPties></TxDtls></NtryDtls>"))))
        .party_name;
  };
  const std::string payer = "<Dbtr><Nm>Payer</Nm></Dbtr>";
  CHECK(named(payer, "true") == "Payer");
  CHECK(named(payer, "false").empty());
  CHECK(named(payer + "<Cdtr><Nm>Payee</Nm></Cdtr>", "true") == "Payee");
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
  const std::string open =
      "Statements without both balances, so that no sum proves their lines: 1.";
  const std::string kept =
      "Batches whose transactions do not add up to them were read as one line: 1.";
  const std::string none = "<TxDtls/>";
  CHECK(split.notes == std::vector<std::string>{open});
  for (const std::string& parts :
       {part("4", "a") + part("5", "b"), part("4", "a") + none, none + part("4", "a")}) {
    INFO(parts);
    const StatementFile file =
        good(camt(balance("OPBD", "20") + balance("CLBD", "10") +
                  entry("10", "DBIT", "<NtryDtls>" + parts + "</NtryDtls>")));
    CHECK(file.line_count() == 1);
    CHECK(file.notes == std::vector<std::string>{kept});
  }
  CHECK(good(camt(entry("10", "DBIT", "<NtryDtls>" + none + none + "</NtryDtls>"), "054.001.08"))
            .notes.empty());
}

TEST_CASE("bank statements: the bytes of a file are in one of four encodings") {
  for (const auto& [encoding, bytes, text] : std::vector<std::array<std::string, 3>>{
           {"UTF-8", "\u00e9 \u20ac", "\u00e9 \u20ac"},
           {"ISO-8859-1", "\xe9 \xbf", "\u00e9 \u00bf"},
           {"windows-1252", "\xe9 \x80\x9f", "\u00e9 \u20ac\u0178"},
           {"ISO-8859-15", "\xe9 \xa4\xbe", "\u00e9 \u20ac\u0178"}}) {
    INFO(encoding);
    std::string file = camt(entry("1", "CRDT", "<AddtlNtryInf>" + bytes + "</AddtlNtryInf>"));
    file.replace(file.find("UTF-8"), 5, encoding);
    CHECK(only_line(good(utf8_of(file))).text == text);
  }
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
        "Line 2: This is not a camt.053 or camt.054 document, but pain.001.001.08.");
  CHECK(with("camt.053.", "camt.052.") ==
        "Line 2: This is not a camt.053 or camt.054 document, but camt.052.001.08.");
  CHECK(with("urn:iso:std:iso:20022", "urn:other") ==
        "Line 2: This is not a camt.053 or camt.054 document.");
  std::string envelope = ok;
  envelope.insert(envelope.find("<Document"), "<e:Envelope><h:AppHdr/>");
  CHECK(reason(envelope + "</e:Envelope>") == "read");
  CHECK(reason(envelope + ok.substr(ok.find("<Document")) + "</e:Envelope>") ==
        "Line 2: The element Document is twice in Envelope.");
  CHECK(with("</Stmt>", "").starts_with("Line "));
  CHECK(with("CRDT", "BOTH") == "Line 4: CdtDbtInd is neither CRDT nor DBIT.");
  CHECK(with(" Ccy=\"EUR\"", "") == "Line 4: An amount has no currency.");
  for (const std::string amount : {"1,000", "1'000.50", "1 000", "-1", "+1", "1e3", "0x1"})
    CHECK(with(">1<", ">" + amount + "<") == "Line 4: \"" + amount + "\" is not an amount.");
  CHECK(with("\"EUR\"", "\"EURO\"") == "Line 4: \"EURO\" is not a currency.");
  CHECK(with("\"EUR\"", "\"eur\"") == "Line 4: \"eur\" is not a currency.");
  CHECK(with("01-02T23", "01-02T25") == "Line 4: \"2026-01-02T25:15:00+01:00\" is not a date.");
  CHECK(with("00+01:00", "00.123Z") == "read");
  CHECK(with("T23:15:00+01:00", "") == "read");
  CHECK(with("T23:15:00+01:00", "x") == "Line 4: \"2026-01-02x\" is not a date.");
  for (const char* status : {"", "<Sts>BOOKED</Sts>", "<Sts><Prtry>BOOK</Prtry></Sts>"}) {
    CHECK(with("<Sts><Cd>BOOK</Cd></Sts>", status) ==
          "Line 4: The status of the entry must be BOOK, PDNG, INFO or FUTR.");
  }
  CHECK(with("2026-01-02", "2026-02-30") == "Line 4: \"2026-02-30T23:15:00+01:00\" is not a date.");
  CHECK(with("<DtTm>2026-01-02T23:15:00+01:00</DtTm>", "") == "Line 4: \"\" is not a date.");
  CHECK(reason(camt("<Bal><Tp><CdOrPrtry/></Tp></Bal>")) == "Line 4: The balance has no type.");
  CHECK(with("01-02T23", "January") == "Line 4: \"2026-January:15:00+01:00\" is not a date.");
  std::string deep = "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.02\">";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  CHECK(reason(deep).starts_with("Line "));
  std::string many = "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.02\">";
  for (int i = 0; i < 2'600'000; ++i) many += "<a/>\n<b>";
  CHECK(reason(many) == "Line 1: The file has too many elements. Split it into several files.");
  CHECK(reason("") == "Line 1: The file has no line with the names of its columns.");
}

struct Changed {
  const char* from;
  const char* to;
  const char* reason;
};
const std::vector<Changed> kChanged{
    {"</Document>", "</Document><!-- end -->", "read"},
    {"</Document>", "</Document>\n<Document/>",
     "Line 7: The file has more than one document, or text outside of it."},
    {"</Document>", "</Document>\n<?xml version=\"1.0\"?>",
     "Line 7: The file has more than one document, or text outside of it."},
    {"</Document>", "</Document>\nmore",
     "Line 6: The file has more than one document, or text outside of it."},
    {"<Document", "text<Document",
     "Line 1: The file has more than one document, or text outside of it."},
    {"</BkToCstmrStmt>", "</BkToCstmrStmt>\n<BkToCstmrStmt/>",
     "Line 2: The element BkToCstmrStmt is twice in Document."},
    {"<BkToCstmrStmt>", "<BkToCstmrDbtCdtNtfctn/><BkToCstmrStmt>",
     "Line 3: The document has a second message."},
    {"</BkToCstmrStmt>", "</BkToCstmrStmt>\n<BkToCstmrDbtCdtNtfctn/>",
     "Line 6: The document has a second message."},
    {"1.50", "1<!-- x -->.50", "Line 4: The text of Amt is in several pieces."},
    {"1.50", "1<?x y?>.50", "Line 4: The text of Amt is in several pieces."},
    {"1.50", "1<![CDATA[.50]]>", "Line 4: The text of Amt is in several pieces."},
    {"1.50", "1<b/>.50", "Line 4: The element Amt has text beside elements."},
    {"1.50", "<b/>1.50", "Line 4: The text of Amt is in several pieces."},
    {"1.50", "<![CDATA[1.50]]>", "read"},
    {"1.50", "&#49;.50", "read"},
    {"<Ntry>", "text<Ntry>", "Line 3: The text of Stmt is in several pieces."},
    {" Ccy=\"EUR\"", " Ccy=\"EUR\" Ccy=\"USD\"", "Line 4: The attribute Ccy is there twice."},
    {"\"EUR\"", "\"E<R\"", "Line 4: An attribute has the character <."},
    {"\"EUR\"", "\"EUR&#0;\"", "Line 4: This is not well-formed XML: \"&\" begins no character."},
    {"1.50", "1.50&#x1b;", "Line 4: This is not well-formed XML: \"&\" begins no character."},
    {"1.50", "1.50&nbsp;", "Line 4: This is not well-formed XML: \"&\" begins no character."},
    {"1.50", "1.50&", "Line 4: This is not well-formed XML: \"&\" begins no character."},
    {"1.50", "1.50\x01", "Line 4: The file has a control character, which XML does not permit."},
    {"<AcctSvcrRef>", "<!-- & --><AcctSvcrRef>", "read"},
    {"UTF-8", "iso-8859-1", "read"},
    {"UTF-8", "UTF-7", "Line 1: The encoding is not UTF-8 or ISO 8859-1. Convert the file."},
    {"UTF-8", "IBM037", "Line 1: The encoding is not UTF-8 or ISO 8859-1. Convert the file."}};

TEST_CASE("bank statements: XML that is not read completely is refused") {
  const std::string ok = camt(entry("1.50", "CRDT"));
  for (const auto& [from, to, expected] : kChanged) {
    std::string text = ok;
    text.replace(text.find(from), std::string_view(from).size(), to);
    INFO(text);
    CHECK(reason(text) == expected);
  }
  // Each is there once, and twice is refused.
  for (const char* name :
       {"Amt Ccy=\"EUR\"", "CdtDbtInd", "Sts", "BookgDt", "AcctSvcrRef", "Id", "Acct"}) {
    const std::string tag(name, std::string_view(name).find(' ') == std::string_view::npos
                                    ? std::string_view(name).size()
                                    : std::string_view(name).find(' '));
    const std::size_t start = ok.find("<" + std::string(name) + ">");
    const std::size_t end = ok.find("</" + tag + ">", start) + tag.size() + 3;
    std::string text = ok;
    text.insert(start, ok.substr(start, end - start));
    INFO(text);
    CHECK(reason(text).ends_with(": The element " + tag + " is twice in " +
                                 (tag == "Id" || tag == "Acct" ? "Stmt." : "Ntry.")));
  }
  for (const char* type : {"OPBD", "PRCD", "CLBD"}) {
    CHECK(reason(camt(balance(type, "1") + balance(type, "1"))) ==
          "Line 5: The statement has the balance " + std::string(type) + " twice.");
  }
  CHECK(reason(std::string("\xff\xfe<\0D\0", 6)) ==
        "Line 1: The file is UTF-16, or no text. Save it as UTF-8.");
  CHECK(reason("\x1f\x8b\x08") == "Line 1: The file is compressed. Unpack it.");
  CHECK(reason("PK\x03\x04") == "Line 1: The file is compressed. Unpack it.");
}

TEST_CASE("bank statements: every cut MT940 file is refused") {
  const std::string whole =
      swift(":61:260102D10,00NTRFREF1//BANK1\n:86:Order 7\n:61:2601020102D1250,00NTRFREF2",
            "D260102EUR1160,00");
  REQUIRE(good(whole).line_count() == 2);
  // What follows the closing balance says nothing.
  const std::size_t needed = whole.find(",00\n-") + 1;
  for (std::size_t size = 1; size < needed; ++size) {
    INFO(whole.substr(0, size));
    CHECK(reason(whole.substr(0, size)).starts_with("Line "));
  }
  CHECK(good(whole.substr(0, needed)).line_count() == 2);
  const std::string line = ":61:260102D10,00NTRFX";
  for (const auto& [text, expected] : std::map<std::string, std::string>{
           {":61:260102D10NTRFX", "Line 5: The amount \"10\" has no comma. The file may be cut."},
           {":61:260102D10,NT",
            "Line 5: The line has no code of four characters after its amount."},
           {line + "\n:60F:C260101EUR1,", "Line 6: The statement has the balance twice."},
           {line + "\n:25:NL2", "Line 6: The statement has :25: twice."},
           {line + "\n:28C:9", "Line 6: The statement has :28C: twice."},
           {line + "\n:62F:C260102EUR90,\n" + line,
            "Line 7: The line comes after the closing balance (:62F:)."}}) {
    INFO(text);
    CHECK(reason(swift(text)) == expected);
  }
}

TEST_CASE("bank statements: a statement that is there twice is read once") {
  const auto statements = [](const std::string& id1, const std::string& id2,
                             const std::string& closing2 = "94") {
    const std::string one =
        camt(balance("OPBD", "100") + balance("CLBD", "94") + entry("6", "DBIT"));
    const std::size_t start = one.find("<Stmt>");
    const std::size_t end = one.find("</Stmt>") + 7;
    std::string first = one.substr(start, end - start);
    std::string second = first;
    first.replace(first.find("<Id>S1</Id>"), 11, id1);
    second.replace(second.find("<Id>S1</Id>"), 11, id2);
    if (closing2 != "94") {
      second.replace(second.find(">100<"), 5, ">94<");
      second.replace(second.rfind(">94<"), 4, ">" + closing2 + "<");
    }
    return one.substr(0, start) + first + second + one.substr(end);
  };
  const StatementFile repeated = good(statements("<Id>A</Id>", "<Id>A</Id>"));
  CHECK(repeated.line_count() == 1);
  CHECK(repeated.notes ==
        std::vector<std::string>{"Statements that the file has twice were read once: 1."});
  CHECK(good(statements("<Id>A</Id>", "<Id>B</Id>")).line_count() == 1);
  CHECK(good(statements("<Id>A</Id>", "<Id>A</Id>", "88")).line_count() == 2);
  // Without balances, its number and page.
  const auto pages = [](const std::string& first, const std::string& second) {
    std::string out = camt(entry("6", "DBIT"), "054.001.08");
    const std::size_t start = out.find("<Ntfctn>");
    const std::size_t end = out.find("</Ntfctn>") + 9;
    std::string more = out.substr(start, end - start);
    more.replace(more.find("<Id>S1</Id>"), 11, second);
    out.insert(end, more);
    out.replace(out.find("<Id>S1</Id>"), 11, first);
    return good(out).line_count();
  };
  CHECK(pages("<Id>A</Id>", "<Id>A</Id>") == 1);
  CHECK(pages("<Id>A</Id>", "<Id>B</Id>") == 2);
  CHECK(pages("", "") == 2);
  for (const char* name : {"ElctrncSeqNb", "LglSeqNb", "StmtPgntn><PgNb"}) {
    const std::string tag = name;
    const std::string close = tag.starts_with("Stmt") ? "</PgNb></StmtPgntn>" : "</" + tag + ">";
    const auto page = [&](const char* number) {
      return "<Id>A</Id><" + tag + ">" + number + close;
    };
    CHECK(pages(page("1"), page("2")) == 2);
    CHECK(pages(page("1"), page("1")) == 1);
  }
}

TEST_CASE("bank statements: an IBAN is one account in every form") {
  for (const char* account :
       {"NL26VAYB8060476890", "nl26 vayb 8060 4768 90", "NL26VAYB8060476890EUR"}) {
    const std::string text = swift(":61:260102D10,NTRFX");
    std::string changed = text;
    changed.replace(changed.find("NL1"), 3, account);
    CHECK(good(changed).statements[0].account == "NL26VAYB8060476890");
  }
  CHECK(good(swift(":61:260102D10,NTRFX")).statements[0].account == "NL1");
}

TEST_CASE("bank statements: charges and conversions of the entry") {
  const auto money = [](const char* amount, const char* currency) {
    return "<Amt Ccy=\"" + std::string(currency) + "\">" + amount + "</Amt>";
  };
  const auto charge = [&](const char* amount, const char* direction = "DBIT") {
    return "<Rcrd>" + money(amount, "EUR") + "<CdtDbtInd>" + direction + "</CdtDbtInd></Rcrd>";
  };
  const auto detail = [](const std::string& inner) {
    return "<NtryDtls><TxDtls>" + inner + "</TxDtls></NtryDtls>";
  };
  const std::string instructed =
      "<AmtDtls><InstdAmt>" + money("1250", "KES") + "</InstdAmt></AmtDtls>";
  struct Case {
    std::string inner;
    const char* charges;
    const char* original;
  };
  for (const auto& [inner, charges, original] :
       {Case{"", "0.00", "none"}, Case{"<Chrgs>" + charge("0.5") + "</Chrgs>", "0.50", "none"},
        Case{"<Chrgs>" + charge("0.5") + charge("0.2") + "</Chrgs>" + detail(""), "0.70", "none"},
        Case{"<Chrgs>" + charge("0.5") + "</Chrgs><Chrgs>" + charge("0.2") + "</Chrgs>", "0.70",
             "none"},
        Case{"<Chrgs>" + charge("0.5") + charge("0.2", "CRDT") + "</Chrgs>", "0.30", "none"},
        Case{"<Chrgs>" + charge("0.2", "CRDT") + "</Chrgs>", "0.00", "none"},
        Case{
            "<Chrgs>" + charge("0.5") + "</Chrgs>" + detail("<Chrgs>" + charge("0.5") + "</Chrgs>"),
            "0.50", "none"},
        Case{instructed, "0.00", "1250.00"}, Case{instructed + detail(""), "0.00", "1250.00"},
        Case{detail(instructed), "0.00", "1250.00"},
        Case{"<NtryDtls><TxDtls>" + instructed + "</TxDtls><TxDtls>" + instructed +
                 "</TxDtls></NtryDtls>",
             "0.00", "none"}}) {
    INFO(inner);
    const StatementFile file = good(camt(entry("10", "DBIT", inner)));
    const BankLine& line = only_line(file);
    CHECK(line.charges.to_string(2) == charges);
    CHECK((line.original ? line.original->amount.to_string(2) : "none") == original);
  }
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
  CHECK(good(head + "02.01.2026;-1;;;\n02.01.2026;-2;;;\n", mapping).line_count() == 2);
  CHECK(reason(head + "02.01.2026;-1;;;\n02.01.2026;2;;;\n", mapping) ==
        "Line 3: Some debits have a sign, and others none.");
  CHECK(reason(head + "02.01.2026;;-1;;\n", mapping) == "Line 2: The credit is negative.");
  CHECK_FALSE(CsvMapping::parse("bookingDate=a,amount=b,currency=c", ",", ",", "YYYY-MM-DD"));
  const auto valued =
      CsvMapping::parse("bookingDate=B,valueDate=V,amount=A,currency==EUR", ";", ",", "DD.MM.YY")
          .value();
  const StatementFile thirty = good("B;V;A\n02.03.26;30.02.26;1\n02.03.26;29.02.24;1\n", valued);
  CHECK_FALSE(thirty.statements[0].lines[0].value_on);
  CHECK(thirty.statements[0].lines[1].value_on);
  CHECK(thirty.notes ==
        std::vector<std::string>{
            "Value dates that do not exist, such as 30 February, were left out: 1."});
  CHECK(reason("B;V;A\n;30.02.26;1\n", valued) == "Line 2: The line has no date.");
  CHECK(reason("B;V;A\n02.03.26;31.02.26;1\n", valued) == "Line 2: There is no day 2026-02-31.");
  const auto directed = CsvMapping::parse(
      "bookingDate=Datum,amount=Bedrag,direction=Af Bij,currency==EUR", ";", ",", "YYYYMMDD");
  const auto row = [](const std::string& words) {
    return "Datum;Af Bij;Bedrag\n20260102;" + words + "\n";
  };
  CHECK(only_line(good(row("Af;1,25"), *directed)).amount.to_string(2) == "-1.25");
  CHECK(only_line(good(row("Bij;1,25"), *directed)).amount.to_string(2) == "1.25");
  CHECK(only_line(good(row("d;1,25"), *directed)).amount.to_string(2) == "-1.25");
  CHECK(reason(row("Af;-1,25"), *directed) == "Line 2: The line has a direction and a sign.");
  for (const std::string word : {"", "Afbij", "debit credit", "X"}) {
    CHECK(reason(row(word + ";1,25"), *directed) ==
          "Line 2: The direction says neither debit nor credit.");
  }
  CHECK(reason("Buchung;Soll;Haben;Zweck;Ref;Soll\n", mapping) ==
        "Line 1: The column \"Soll\" is there twice.");
  CHECK(reason("A;B\n1;2\n", mapping) ==
        "Line 1: There is no column \"Buchung\", which the mapping has for bookingDate.");
  for (const char* columns :
       {"", "bookingDate=a", "bookingDate=a,amount=b", "bookingDate=a,amount=b,currency=c,odd=d",
        "bookingDate=a,amount=b,currency", "bookingDate=a,debit=b,currency=c",
        "bookingDate=a,debit=b,credit=c,direction=d,currency=e",
        "bookingDate=a,direction=d,currency=e", "bookingDate=a,amount=b,debit=c,currency=d",
        "bookingDate=a,amount=b,currency==NOPE"}) {
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
