// The statement as ISO 20022 camt.053.001.08: parsed strictly, and checked field by field against
// the used part of the published schema. It must have the rows of the JSON statement, and matching
// balances.
#include <catch2/catch.hpp>
#include <memory>
#include <regex>

#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace statement_camt_test {
namespace {

// A strict reader of XML without doctype, comments, sections and self-closing elements
// ---------------

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
  std::vector<Element> children;

  std::vector<const Element*> all(const std::string& wanted) const {
    std::vector<const Element*> out;
    for (const Element& child : children) {
      if (child.name == wanted) out.push_back(&child);
    }
    return out;
  }
  /// The only child at the end of the path; nullptr when a step is missing.
  const Element* find(const std::vector<std::string>& path) const {
    const Element* at = this;
    for (const std::string& step : path) {
      const auto found = at->all(step);
      if (found.empty()) return nullptr;
      REQUIRE(found.size() == 1);
      at = found[0];
    }
    return at;
  }
  std::string at(const std::vector<std::string>& path) const {
    const Element* found = find(path);
    return found != nullptr ? found->text : "(none)";
  }
};

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Element document() {
    expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    Element root = element();
    skip_blanks();
    REQUIRE(at_ == text_.size());
    return root;
  }

 private:
  void expect(const std::string& what) {
    INFO("at " << at_ << ": " << text_.substr(at_, 60));
    REQUIRE(text_.compare(at_, what.size(), what) == 0);
    at_ += what.size();
  }
  bool sees(const std::string& what) const { return text_.compare(at_, what.size(), what) == 0; }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_]))) ++at_;
    REQUIRE(at_ > begin);
    return text_.substr(begin, at_ - begin);
  }
  std::string reference() {
    static const std::map<std::string, std::string> known = {
        {"&amp;", "&"}, {"&lt;", "<"},   {"&gt;", ">"},  {"&quot;", "\""},
        {"&#9;", "\t"}, {"&#10;", "\n"}, {"&#13;", "\r"}};
    for (const auto& [mark, meaning] : known) {
      if (!sees(mark)) continue;
      at_ += mark.size();
      return meaning;
    }
    FAIL("unknown reference: " << text_.substr(at_, 20));
    return {};
  }
  Element element() {
    Element out;
    expect("<");
    out.name = name();
    while (sees(" ")) {
      expect(" ");
      const std::string key = name();
      expect("=\"");
      const std::size_t end = text_.find('"', at_);
      out.attributes[key] = text_.substr(at_, end - at_);
      at_ = end + 1;
    }
    expect(">");
    while (!sees("</")) {
      REQUIRE(at_ < text_.size());
      if (sees("<")) {
        out.children.push_back(element());
      } else if (sees("&")) {
        out.text += reference();
      } else {
        const auto c = static_cast<unsigned char>(text_[at_]);
        // XML 1.0 has no other control characters.
        REQUIRE((c >= 0x20 || c == '\n'));
        out.text += text_[at_++];
      }
    }
    expect("</" + out.name + ">");
    if (!out.children.empty()) {
      // Between elements only line ends.
      CHECK(out.text.find_first_not_of('\n') == std::string::npos);
      out.text.clear();
    }
    return out;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

// The used part of the schema, in the order of its sequences, with the mandatory elements
// --------------------

struct Rule {
  const char* parent;
  const char* name;
  int min;
  int max;
  const char* type;
};

constexpr int kMany = 1'000'000;

const std::vector<Rule> kSchema = {
    {"Document", "BkToCstmrStmt", 1, 1, "BankToCustomerStatementV08"},
    {"BankToCustomerStatementV08", "GrpHdr", 1, 1, "GroupHeader81"},
    {"BankToCustomerStatementV08", "Stmt", 1, kMany, "AccountStatement9"},
    {"GroupHeader81", "MsgId", 1, 1, "Max35Text"},
    {"GroupHeader81", "CreDtTm", 1, 1, "ISODateTime"},
    {"AccountStatement9", "Id", 1, 1, "Max35Text"},
    {"AccountStatement9", "CreDtTm", 0, 1, "ISODateTime"},
    {"AccountStatement9", "FrToDt", 0, 1, "DateTimePeriod1"},
    {"AccountStatement9", "Acct", 1, 1, "CashAccount39"},
    {"AccountStatement9", "Bal", 1, kMany, "CashBalance8"},
    {"AccountStatement9", "Ntry", 0, kMany, "ReportEntry10"},
    {"AccountStatement9", "AddtlStmtInf", 0, 1, "Max500Text"},
    {"DateTimePeriod1", "FrDtTm", 1, 1, "ISODateTime"},
    {"DateTimePeriod1", "ToDtTm", 1, 1, "ISODateTime"},
    {"CashAccount39", "Id", 1, 1, "AccountIdentification4Choice"},
    {"CashAccount39", "Tp", 0, 1, "CashAccountType2Choice"},
    {"CashAccount39", "Ccy", 0, 1, "CurrencyCode"},
    {"CashAccount39", "Nm", 0, 1, "Max70Text"},
    {"AccountIdentification4Choice", "Othr", 1, 1, "GenericAccountIdentification1"},
    {"GenericAccountIdentification1", "Id", 1, 1, "Max34Text"},
    {"CashAccountType2Choice", "Prtry", 1, 1, "Max35Text"},
    {"CashBalance8", "Tp", 1, 1, "BalanceType13"},
    {"CashBalance8", "Amt", 1, 1, "Amount"},
    {"CashBalance8", "CdtDbtInd", 1, 1, "CreditDebitCode"},
    {"CashBalance8", "Dt", 1, 1, "DateAndDateTime2Choice"},
    {"BalanceType13", "CdOrPrtry", 1, 1, "BalanceType10Choice"},
    {"BalanceType10Choice", "Cd", 1, 1, "Max4Text"},
    {"DateAndDateTime2Choice", "DtTm", 1, 1, "ISODateTime"},
    {"ReportEntry10", "NtryRef", 0, 1, "Max35Text"},
    {"ReportEntry10", "Amt", 1, 1, "Amount"},
    {"ReportEntry10", "CdtDbtInd", 1, 1, "CreditDebitCode"},
    {"ReportEntry10", "Sts", 1, 1, "EntryStatus1Choice"},
    {"ReportEntry10", "BookgDt", 0, 1, "DateAndDateTime2Choice"},
    {"ReportEntry10", "ValDt", 0, 1, "DateAndDateTime2Choice"},
    {"ReportEntry10", "BkTxCd", 1, 1, "BankTransactionCodeStructure4"},
    {"ReportEntry10", "NtryDtls", 0, kMany, "EntryDetails9"},
    {"ReportEntry10", "AddtlNtryInf", 0, 1, "Max500Text"},
    {"EntryStatus1Choice", "Cd", 1, 1, "Max4Text"},
    {"BankTransactionCodeStructure4", "Domn", 0, 1, "BankTransactionCodeStructure5"},
    {"BankTransactionCodeStructure5", "Cd", 1, 1, "Max4Text"},
    {"BankTransactionCodeStructure5", "Fmly", 1, 1, "BankTransactionCodeStructure6"},
    {"BankTransactionCodeStructure6", "Cd", 1, 1, "Max4Text"},
    {"BankTransactionCodeStructure6", "SubFmlyCd", 1, 1, "Max4Text"},
    {"EntryDetails9", "TxDtls", 0, kMany, "EntryTransaction10"},
    {"EntryTransaction10", "Refs", 0, 1, "TransactionReferences6"},
    {"EntryTransaction10", "Amt", 0, 1, "Amount"},
    {"EntryTransaction10", "CdtDbtInd", 0, 1, "CreditDebitCode"},
    {"EntryTransaction10", "RltdPties", 0, 1, "TransactionParties6"},
    {"EntryTransaction10", "RmtInf", 0, 1, "RemittanceInformation16"},
    {"TransactionReferences6", "AcctSvcrRef", 0, 1, "Max35Text"},
    {"TransactionReferences6", "EndToEndId", 0, 1, "Max35Text"},
    {"TransactionParties6", "Dbtr", 0, 1, "Party40Choice"},
    {"TransactionParties6", "Cdtr", 0, 1, "Party40Choice"},
    {"Party40Choice", "Pty", 1, 1, "PartyIdentification135"},
    {"PartyIdentification135", "Nm", 0, 1, "Max140Text"},
    {"RemittanceInformation16", "Ustrd", 0, kMany, "Max140Text"},
};

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

void check_text(const Element& element, const std::string& type) {
  static const std::map<std::string, std::regex> patterns = {
      {"ISODateTime", std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")},
      {"CurrencyCode", std::regex("[A-Z]{3}")},
      {"CreditDebitCode", std::regex("CRDT|DBIT")},
      {"Amount", std::regex(R"(\d{1,13}(\.\d{1,5})?)")}};
  INFO(type << " " << element.name << " " << element.text);
  CHECK(element.children.empty());
  if (type == "Amount") {
    REQUIRE(element.attributes.size() == 1);
    CHECK(std::regex_match(element.attributes.at("Ccy"), patterns.at("CurrencyCode")));
  } else {
    CHECK(element.attributes.empty());
  }
  if (const auto pattern = patterns.find(type); pattern != patterns.end()) {
    CHECK(std::regex_match(element.text, pattern->second));
  } else {
    REQUIRE(type.starts_with("Max"));
    CHECK(characters(element.text) >= 1);
    CHECK(characters(element.text) <= std::stoul(type.substr(3)));
  }
}

void check_schema(const Element& element, const std::string& type) {
  INFO(type << " " << element.name);
  auto next = element.children.begin();
  bool is_complex = false;
  for (const Rule& rule : kSchema) {
    if (rule.parent != type) continue;
    is_complex = true;
    int count = 0;
    for (; next != element.children.end() && next->name == rule.name; ++next, ++count) {
      check_schema(*next, rule.type);
    }
    INFO(rule.name);
    CHECK(count >= rule.min);
    CHECK(count <= rule.max);
  }
  if (!is_complex) return check_text(element, type);
  // The remaining elements are unknown or in the wrong order.
  CHECK((next == element.children.end() ? "" : next->name) == "");
}

// ------------------------------------------------------------------------------------------------

std::string target(const std::string& wallet, const std::string& more = {},
                   const std::string& asset = "USDC", const std::string& format = "/camt.053") {
  return "/v1/statements/transactions" + format + "?walletId=" + wallet + "&assetCode=" + asset +
         "&startDate=2026-01-01&endDate=2026-02-01" + more;
}

/// The statement in a reply, after the checks that apply to every statement.
Element statement_of(const Reply& reply) {
  INFO(reply.text().substr(0, 2000));
  REQUIRE(reply.status == 200);
  CHECK(reply.header("Content-Type") == "application/xml");
  const Element document = Reader(reply.body).document();
  REQUIRE(document.name == "Document");
  CHECK(document.attributes == std::map<std::string, std::string>{
                                   {"xmlns", "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"}});
  check_schema(document, "Document");
  return *document.find({"BkToCstmrStmt", "Stmt"});
}

/// In units of 10^-5, with the sign of its credit/debit indicator.
std::int64_t units(const Element& holder) {
  std::string digits = holder.at({"Amt"});
  const auto point = digits.find('.');
  const std::size_t places = point == std::string::npos ? 0 : digits.size() - point - 1;
  if (point != std::string::npos) digits.erase(point, 1);
  digits.append(5 - places, '0');
  return std::stoll(digits) * (holder.at({"CdtDbtInd"}) == "DBIT" ? -1 : 1);
}

/// Opening balance plus entries is the closing balance.
void check_ties(const Element& statement) {
  const auto balances = statement.all("Bal");
  REQUIRE(balances.size() == 2);
  CHECK(balances[0]->at({"Tp", "CdOrPrtry", "Cd"}) == "OPBD");
  CHECK(balances[1]->at({"Tp", "CdOrPrtry", "Cd"}) == "CLBD");
  std::int64_t sum = units(*balances[0]);
  for (const Element* entry : statement.all("Ntry")) sum += units(*entry);
  CHECK(sum == units(*balances[1]));
}

struct World {
  TestApp app;
  std::string from = app.wallet("USDC", "100");
  std::string to = app.wallet("USDC");

  void pay(const std::string& description, const std::string& amount = "0.5",
           const std::string& reference = {}) {
    Json body = transfer_body(from, to, amount);
    if (!description.empty()) body["description"] = description;
    if (!reference.empty()) body["fromRef"] = reference;
    app.me().pay("/v1/payments/p2p/own", body);
    app.clock.advance_ms(1'000);
    app.settle();
  }
  Element read(const std::string& wallet, const std::string& more = {}) {
    return statement_of(app.me().get(target(wallet, more)));
  }
};

const std::vector<std::string> kDetails = {"NtryDtls", "TxDtls"};

std::string detail(const Element& entry, std::vector<std::string> path) {
  path.insert(path.begin(), kDetails.begin(), kDetails.end());
  return entry.at(path);
}

}  // namespace

TEST_CASE("camt.053 contains the rows of the JSON statement, and its balances match") {
  World world;
  world.app.me().put("/v1/wallets/" + world.to, {{"walletName", "Payee & <Sons>"}});
  world.pay("Rent", "1.25", "REF-1");
  world.pay("", "2");
  const Json page = world.app.me().get(target(world.from, "", "USDC", "")).json();
  const Json wallet = world.app.me().get("/v1/wallets/" + world.from).json();
  const Element statement = world.read(world.from);
  check_ties(statement);
  CHECK(statement.at({"Acct", "Id", "Othr", "Id"}) == wallet.at("accountNumber"));
  CHECK(statement.at({"Acct", "Nm"}) == wallet.at("walletName"));
  CHECK(statement.at({"Acct", "Tp", "Prtry"}) == "USDC");
  CHECK(statement.at({"Acct", "Ccy"}) == "XXX");
  CHECK(statement.at({"FrToDt", "FrDtTm"}) == page.at("startDate"));
  CHECK(statement.at({"FrToDt", "ToDtTm"}) == page.at("endDate"));
  CHECK(statement.all("Bal")[0]->at({"Amt"}) == page.at("openingBalance"));
  CHECK(statement.all("Bal")[1]->at({"Amt"}) == page.at("closingBalance"));
  const auto entries = statement.all("Ntry");
  const Json& lines = page.at("data");
  REQUIRE(entries.size() == lines.size());
  const auto or_none = [](const Json& value) {
    return value.is_null() ? "(none)" : value.get<std::string>();
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    INFO(i);
    const Element& entry = *entries[i];
    const bool debit = lines[i].at("direction") == "debit";
    CHECK(entry.at({"NtryRef"}) == lines[i].at("rowId"));
    CHECK((debit ? "-" : "") + entry.at({"Amt"}) == lines[i].at("amount"));
    CHECK(entry.at({"CdtDbtInd"}) == (debit ? "DBIT" : "CRDT"));
    CHECK(entry.at({"Sts", "Cd"}) == "BOOK");
    CHECK(entry.at({"BookgDt", "DtTm"}) == lines[i].at("at"));
    CHECK(entry.at({"ValDt", "DtTm"}) == lines[i].at("at"));
    CHECK(detail(entry, {"Amt"}) == entry.at({"Amt"}));
    CHECK(detail(entry, {"Refs", "EndToEndId"}) == or_none(lines[i].at("reference")));
    CHECK(detail(entry, {"RmtInf", "Ustrd"}) == or_none(lines[i].at("description")));
    CHECK(detail(entry, {"RltdPties", debit ? "Cdtr" : "Dbtr", "Pty", "Nm"}) ==
          or_none(lines[i].at("counterparty")));
    std::string record = or_none(lines[i].at("transactionRecordId"));
    std::erase(record, '-');
    CHECK(detail(entry, {"Refs", "AcctSvcrRef"}) == record);
    CHECK(entry.at({"AddtlNtryInf"}) == "(none)");
  }
  CHECK(detail(*entries[1], {"RltdPties", "Cdtr", "Pty", "Nm"}) == "Payee & <Sons>");
}

TEST_CASE("camt.053: every text is escaped") {
  World world;
  const std::vector<std::string> texts = {"<Amt>1</Amt> & \"]]>\" 'x'", "\xf0\x9f\x92\xb8 元 é",
                                          "&amp;&#60;"};
  for (const std::string& text : texts) world.pay(text);
  std::string long_text;
  while (long_text.size() + 4 <= 140) long_text += "\xf0\x9f\x92\xb8";
  world.pay(long_text);
  const auto lines = world.read(world.from);
  const auto entries = lines.all("Ntry");
  REQUIRE(entries.size() == texts.size() + 2);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CHECK(detail(*entries[i + 1], {"RmtInf", "Ustrd"}) == texts[i]);
  }
  CHECK(detail(*entries[texts.size() + 1], {"RmtInf", "Ustrd"}) == long_text);
  // A name longer than the format allows is truncated between characters.
  std::string name;
  for (int i = 0; i < 40; ++i) name += "\xc3\xa9&";
  world.app.me().put("/v1/wallets/" + world.from, {{"walletName", name}});
  std::string cut;
  for (int i = 0; i < 35; ++i) cut += "\xc3\xa9&";
  CHECK(world.read(world.from).at({"Acct", "Nm"}) == cut);
}

TEST_CASE("camt.053: amounts are rounded from seven decimals to five, and still add up") {
  World world;
  for (const char* amount : {"0.0000001", "0.000009", "0.0000004", "1.2345678", "0.0000005"}) {
    world.pay("", amount);
  }
  const Element sender = world.read(world.from);
  check_ties(sender);
  const auto out = sender.all("Ntry");
  REQUIRE(out.size() == 6);
  CHECK(out[1]->at({"AddtlNtryInf"}) == "Exact amount: -0.0000001 USDC");
  CHECK(out[4]->at({"AddtlNtryInf"}) == "Exact amount: -1.2345678 USDC");
  CHECK_THAT(sender.at({"AddtlStmtInf"}), Catch::Matchers::Contains("closing 98.7654222 USDC"));
  CHECK(sender.all("Bal")[1]->at({"Amt"}) == "98.76542");
  const Element receiver = world.read(world.to);
  check_ties(receiver);
  // An entry may be zero at this scale, but keeps its direction.
  CHECK(receiver.all("Ntry")[0]->at({"Amt"}) == "0.00");
  CHECK(receiver.all("Ntry")[0]->at({"CdtDbtInd"}) == "CRDT");
  CHECK(receiver.all("Bal")[1]->at({"Amt"}) == "1.23457");
}

TEST_CASE("camt.053: an asset with a currency code is that currency") {
  TestApp app;
  const std::string wallet = app.wallet("JPY", "500");
  const Element statement = statement_of(app.me().get(target(wallet, "", "JPY")));
  check_ties(statement);
  CHECK(statement.at({"Acct", "Ccy"}) == "JPY");
  CHECK(statement.all("Ntry")[0]->find({"Amt"})->attributes.at("Ccy") == "JPY");
  CHECK(statement.all("Ntry")[0]->at({"Amt"}) == "500");
}

TEST_CASE("camt.053: an empty range has balances and no entries") {
  World world;
  const Element statement = world.read(world.to);
  check_ties(statement);
  CHECK(statement.all("Ntry").empty());
  // The opening balance includes everything before the range; a future range closes with the
  // current balance.
  const std::string later = "/v1/statements/transactions/camt.053?walletId=" + world.from +
                            "&assetCode=USDC&startDate=2026-03-01&endDate=2026-04-01";
  const Element after = statement_of(world.app.me().get(later));
  check_ties(after);
  CHECK(after.all("Bal")[0]->at({"Amt"}) == "100.00");
  CHECK(after.all("Bal")[1]->at({"Dt", "DtTm"}) == "2026-03-01T00:00:00.000Z");
}

TEST_CASE("camt.053: every message has a new ID, and a statement keeps its ID") {
  World world;
  const auto ids = [&] {
    const Element document = Reader(world.app.me().get(target(world.from)).body).document();
    return std::pair(document.at({"BkToCstmrStmt", "GrpHdr", "MsgId"}),
                     document.at({"BkToCstmrStmt", "Stmt", "Id"}));
  };
  const auto first = ids(), second = ids();
  CHECK(first.first != second.first);
  CHECK(first.second == second.second);
}

TEST_CASE("camt.053: the response is a file") {
  World world;
  CHECK_THAT(world.app.me().get(target(world.from)).header("Content-Disposition"),
             Catch::Matchers::EndsWith(".camt053.xml\""));
}

TEST_CASE("a long camt.053 arrives completely over the wire") {
  TestApp app;
  const std::string from = app.wallet("USDC", "1000"), to = app.wallet("USDC");
  for (int i = 0; i < 6; ++i) {
    app.me().pay("/v1/payments/p2p/own/multi",
                 multi_body(std::vector<Json>(100, transfer_body(from, to, "0.25"))));
  }
  app.settle();
  app.listen();
  const Element statement = statement_of(app.me().over_wire().get(target(to)));
  check_ties(statement);
  CHECK(statement.all("Ntry").size() == 600);
  CHECK(statement.all("Bal")[1]->at({"Amt"}) == "150.00");
}

}  // namespace statement_camt_test
