// Matching of bank lines with payments: single rules, and a statement of 2,000 lines with known
// answers, which contains the trouble of real ones. COFFER_SHOW_MATCHING prints its table.
#include "domain/reconciliation/matching.h"

#include <stdlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iomanip>
#include <iostream>
#include <map>
#include <random>
#include <set>

namespace matching_test {
namespace {

using namespace coffer;

const Timestamp kFirstDay = *Timestamp::parse("2026-03-02");

Amount cents(std::int64_t value) {
  return Amount::from_units(value * (Amount::kUnitsPerWhole / 100));
}
MatchTarget payout(std::int64_t payment, std::int64_t value, std::vector<std::string> references) {
  MatchTarget out{.payment = payment, .amount = cents(-value), .currency = "EUR", .at = kFirstDay};
  out.references = std::move(references);
  return out;
}
OpenLine debit(std::int64_t key, std::int64_t value, std::string text) {
  OpenLine out{.key = key, .booked_on = kFirstDay.plus_ms(kDayMs), .amount = cents(-value)};
  out.currency = "EUR";
  out.text = std::move(text);
  return out;
}
using Decisions = std::map<std::int64_t, MatchDecision>;
Decisions decide(std::vector<OpenLine> lines, const std::vector<MatchTarget>& targets,
                 const std::set<std::int64_t>& taken = {}) {
  Matcher matcher(std::move(lines));
  for (const MatchTarget& one : targets) matcher.consider(one);
  Decisions out;
  std::vector<bool> is_taken;
  for (const MatchTarget& one : matcher.targets()) is_taken.push_back(taken.contains(one.payment));
  for (auto& one : matcher.decide(is_taken)) out.emplace(one.line, std::move(one));
  return out;
}
/// `reference 1`, `parts 1`, `offer other_amount 1`, or `nothing`.
std::string result(const Decisions& all, std::int64_t line = 1) {
  const auto found = all.find(line);
  if (found == all.end()) return "nothing";
  std::string out;
  for (const MatchChoice& one : found->second.choices) {
    out += std::string(out.empty() ? "" : ", ") + (found->second.matched ? "" : "offer ") +
           std::string(name(one.rule)) + " " + std::to_string(one.payment);
  }
  return out;
}

const std::string kId = "019ac1f2-33b4-7c11-8d3e-0123456789ab";
const std::string kId2 = "019ac1f2-33b5-7c11-8d3e-0123456789ab";

TEST_CASE("matching: rules of one line and one payment") {
  const auto one = [](const OpenLine& line, const MatchTarget& target,
                      const std::set<std::int64_t>& taken = {}) {
    return result(decide({line}, {target}, taken));
  };
  const MatchTarget target = payout(1, 1000, {kId, "ORD-2026-1"});
  CHECK(one(debit(1, 1000, "Payment " + kId), target) == "reference 1");
  CHECK(one(debit(1, 1000, "ord 2026 1 thanks"), target) == "reference 1");
  CHECK(one(debit(1, 1000, kId.substr(0, 35)), target) == "cut 1");
  CHECK(one(debit(1, 1000, kId.substr(0, 20)), target) == "cut 1");
  CHECK(one(debit(1, 1000, kId.substr(0, 16)), target) == "cut 1");
  CHECK(one(debit(1, 1000, kId.substr(0, 15)), target) == "offer amount_and_day 1");
  CHECK(one(debit(1, 1000, ""), target) == "offer amount_and_day 1");
  CHECK(one(debit(1, 999, ""), target) == "nothing");
  CHECK(one(debit(1, 999, kId), target) == "offer other_amount 1");
  CHECK(one(debit(1, 999, kId.substr(0, 20)), target) == "offer other_amount 1");
  CHECK(one(debit(1, -1000, kId), target) == "offer other_direction 1");
  CHECK(one(debit(1, 1000, kId), target, {1}) == "offer taken 1");
  MatchTarget unsettled = target;
  unsettled.settled = false;
  CHECK(one(debit(1, 1000, kId), unsettled) == "offer unsettled 1");
  OpenLine charged = debit(1, 1050, kId);
  charged.charges = cents(50);
  CHECK(one(charged, target) == "net 1");
  // A charge makes a debit larger, and is smaller than the payment.
  OpenLine smaller = debit(1, 950, kId);
  smaller.charges = cents(50);
  CHECK(one(smaller, target) == "offer other_amount 1");
  smaller = debit(1, 1, kId);
  smaller.charges = cents(999);
  CHECK(one(smaller, target) == "offer other_amount 1");
  OpenLine doubled = debit(1, 2000, kId);
  doubled.charges = cents(1000);
  CHECK(one(doubled, target) == "offer other_amount 1");
  OpenLine converted = debit(1, 1080, kId);
  converted.currency = "USD";
  CHECK(one(converted, target) == "offer other_currency 1");
  converted.original = StatedAmount{cents(1000), "EUR"};
  CHECK(one(converted, target) == "converted 1");
  converted.amount = Amount::from_units(-1);
  CHECK(one(converted, target) == "offer other_currency 1");
  MatchTarget collection{
      .payment = 1, .amount = cents(1000), .fee = cents(10), .currency = "EUR", .at = kFirstDay};
  collection.references = {kId};
  CHECK(one(debit(1, -990, kId), collection) == "net 1");
  CHECK(one(debit(1, -1010, kId), collection) == "offer other_amount 1");
  OpenLine late = debit(1, 1000, kId);
  late.booked_on = kFirstDay.plus_ms(kMatchDays * kDayMs);
  CHECK(one(late, target) == "reference 1");
  late.booked_on = kFirstDay.plus_ms((kMatchDays + 1) * kDayMs);
  CHECK(one(late, target) == "nothing");
  late.booked_on = kFirstDay.plus_ms(-2 * kDayMs);
  CHECK(one(late, target) == "nothing");
}

TEST_CASE("matching: what is ambiguous is offered") {
  const MatchTarget first = payout(1, 1000, {kId});
  const MatchTarget second = payout(2, 1000, {kId2});
  SECTION("two lines for one payment") {
    const auto all = decide({debit(1, 1000, kId), debit(2, 1000, kId)}, {first});
    CHECK(result(all, 1) == "offer repeated 1");
    CHECK(result(all, 2) == "offer repeated 1");
  }
  SECTION("a reference and its beginning") {
    const auto all = decide({debit(1, 1000, kId), debit(2, 1000, kId.substr(0, 20))}, {first});
    CHECK(result(all, 1) == "offer repeated 1");
    CHECK(result(all, 2) == "offer repeated 1");
  }
  SECTION("the beginning of two references, although one amount fits") {
    CHECK(result(decide({debit(1, 1000, "ORDER-2026-000001")},
                        {payout(1, 1000, {"ORDER-2026-00000123"}),
                         payout(2, 500, {"ORDER-2026-00000177"})}))
              .starts_with("offer"));
  }
  SECTION("a line that names two payments") {
    CHECK(result(decide({debit(1, 1000, kId + " " + kId2)}, {first, second})) ==
          "offer several 1, offer several 2");
    CHECK(result(decide({debit(1, 2000, kId + " " + kId2)}, {first, second})) == "sum 1, sum 2");
    CHECK(
        result(decide({debit(1, 2000, kId + " " + kId2), debit(2, 1000, kId)}, {first, second}), 1)
            .starts_with("offer"));
    CHECK(result(decide({debit(1, 2000, kId + " " + kId2)}, {first, second}, {2}))
              .starts_with("offer"));
  }
  SECTION("parts of a payment") {
    const auto all = decide({debit(1, 400, kId), debit(2, 600, kId)}, {first});
    CHECK(result(all, 1) == "parts 1");
    CHECK(result(all, 2) == "parts 1");
    CHECK(result(decide({debit(1, 400, kId), debit(2, 500, kId)}, {first})) ==
          "offer other_amount 1");
    CHECK(result(decide({debit(1, 400, kId), debit(2, 600, kId)}, {first}, {1})) ==
          "offer other_amount 1");
  }
  SECTION("the reference of a customer") {
    MatchTarget third{.payment = 3, .amount = cents(700), .currency = "EUR", .at = kFirstDay};
    third.standing = {"CUST-4711"};
    MatchTarget fourth = third;
    fourth.payment = 4;
    CHECK(result(decide({debit(1, -700, "CUST-4711")}, {third})) == "standing 3");
    CHECK(result(decide({debit(1, -700, "CUST-4711")}, {third, fourth})) ==
          "offer several 3, offer several 4");
    fourth.amount = cents(800);
    CHECK(result(decide({debit(1, -700, "CUST-4711")}, {third, fourth})) == "standing 3");
    OpenLine late = debit(1, -700, "CUST-4711");
    late.booked_on = kFirstDay.plus_ms((kNearDays + 1) * kDayMs);
    CHECK(result(decide({late}, {third})) == "nothing");
  }
}

// --- The statement with known answers
// -----------------------------------------------------------------

struct Answer {
  std::string trouble;
  std::set<std::int64_t> payments;  // that the line belongs to; empty: to none
  bool matched = true;              // otherwise a person must decide
};

class Statement {
 public:
  explicit Statement(std::size_t lines) {
    using Make = void (Statement::*)();
    const std::vector<Make> makes{
        &Statement::plain,       &Statement::provider,   &Statement::cut16,
        &Statement::cut20,       &Statement::cut35,      &Statement::late,
        &Statement::split,       &Statement::merged,     &Statement::netted,
        &Statement::converted,   &Statement::wrong_sign, &Statement::repeated,
        &Statement::other_money, &Statement::bare,       &Statement::foreign,
        &Statement::returned};
    while (answers.size() < lines) (this->*makes[random_() % makes.size()])();
    // Payments that no line shows.
    for (int i = 0; i < 500; ++i) fresh();
  }

  std::vector<MatchTarget> targets;
  std::map<std::string, Answer> answers;  // by the bank's reference

  std::string mt940() const { return swift_ + ":62F:" + balance(swift_sum_) + "\n-\n"; }
  std::string camt() const {
    return "<Document "
           "xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\"><BkToCstmrStmt><Stmt><Id>1</"
           "Id><Acct><Id>"
           "<IBAN>DE02120300000000202051</IBAN></Id></Acct>" +
           camt_ + "</Stmt></BkToCstmrStmt></Document>";
  }

 private:
  struct Shown {
    Amount amount;
    std::string reference = {};
    std::string text = {};
    int days = 1;
    std::string currency = "EUR";
    Amount charges = {};
    Amount original = {};
  };

  static std::string balance(Amount sum) {
    std::string text = (sum.is_negative() ? -sum : sum).to_string(2);
    std::ranges::replace(text, '.', ',');
    return (sum.is_negative() ? "D260430EUR" : "C260430EUR") + text;
  }

  std::string hex(int digits) {
    std::string out;
    while (digits-- > 0) out += "0123456789abcdef"[random_() % 16];
    return out;
  }

  /// A payout or a collection of 1.00 to 5,000.00 EUR.
  MatchTarget fresh() {
    MatchTarget out;
    out.payment = ++last_;
    const bool pays = random_() % 2 == 0;
    const std::int64_t value = 100 + static_cast<std::int64_t>(random_() % 499'900);
    out.amount = cents(pays ? -value : value);
    if (!pays) out.fee = cents(value / 100 + 10);
    out.currency = "EUR";
    out.at =
        kFirstDay.plus_ms(static_cast<std::int64_t>(random_() % 30) * kDayMs + 40'000'000 + last_);
    // A UUID of version 7 begins with the time.
    const std::uint64_t ms = static_cast<std::uint64_t>(out.at.ms);
    std::string time;
    for (int shift = 44; shift >= 0; shift -= 4)
      time += "0123456789abcdef"[ms >> static_cast<unsigned>(shift) & 15U];
    id_ = time.substr(0, 8) + "-" + time.substr(8) + "-7" + hex(3) + "-8" + hex(3) + "-" + hex(12);
    provider_ = "PRV" + hex(12);
    out.references = {id_, "ORD-2026-" + std::to_string(100'000 + last_), provider_};
    targets.push_back(out);
    return out;
  }

  void show(const MatchTarget& target, Shown shown, Answer answer) {
    const std::string bank = "B" + std::to_string(1'000'000 + answers.size());
    std::string day = target.at.plus_ms(shown.days * kDayMs).to_string().substr(0, 10);
    if (random_() % 2 == 0 && shown.currency == "EUR" && !shown.original.is_positive()) {
      show_swift(shown, bank, day);
    } else {
      show_camt(shown, bank, day);
    }
    answers.emplace(bank, std::move(answer));
  }

  void show_swift(const Shown& shown, const std::string& bank, const std::string& day) {
    swift_sum_ = swift_sum_ + shown.amount;
    const Amount size = shown.amount.is_negative() ? -shown.amount : shown.amount;
    std::string amount = size.to_string(2);
    std::ranges::replace(amount, '.', ',');
    swift_ +=
        ":61:" + day.substr(2, 2) + day.substr(5, 2) + day.substr(8) +
        (shown.amount.is_negative() ? "D" : "C") + amount + "NTRF" +
        (shown.reference.size() <= 16 && !shown.reference.empty() ? shown.reference : "NONREF") +
        "//" + bank + "\n";
    if (shown.charges.is_positive()) {
      std::string charges = shown.charges.to_string(2);
      std::ranges::replace(charges, '.', ',');
      swift_ += "/CHGS/EUR" + charges + "/\n";
    }
    std::string text = shown.reference.size() > 16
                           ? "EREF+" + shown.reference + " SVWZ+" + shown.text
                           : shown.text;
    swift_ += ":86:166?00TRANSFER";
    for (int field = 20; !text.empty() && field < 30; ++field) {
      swift_ += "?" + std::to_string(field) + text.substr(0, 27);
      text.erase(0, 27);
    }
    swift_ += "?32Some One\n";
  }

  void show_camt(const Shown& shown, const std::string& bank, const std::string& day) {
    const Amount size = shown.amount.is_negative() ? -shown.amount : shown.amount;
    const auto money = [](Amount amount, const std::string& currency) {
      return "<Amt Ccy=\"" + currency + "\">" + amount.to_string(2) + "</Amt>";
    };
    camt_ += "<Ntry>" + money(size, shown.currency) + "<CdtDbtInd>" +
             (shown.amount.is_negative() ? "DBIT" : "CRDT") +
             "</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>" + day +
             "</Dt></BookgDt><AcctSvcrRef>" + bank +
             "</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>" +
             (shown.reference.empty() ? "NOTPROVIDED" : shown.reference) + "</EndToEndId></Refs>";
    if (shown.original.is_positive()) {
      camt_ += "<AmtDtls><InstdAmt>" + money(shown.original, "EUR") + "</InstdAmt></AmtDtls>";
    }
    if (shown.charges.is_positive()) {
      camt_ += "<Chrgs><Rcrd>" + money(shown.charges, shown.currency) + "</Rcrd></Chrgs>";
    }
    camt_ += "<RmtInf><Ustrd>" + shown.text + "</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>\n";
  }

  void one(const std::string& trouble, const MatchTarget& target, Shown shown,
           bool matched = true) {
    show(target, std::move(shown), {trouble, {target.payment}, matched});
  }

  void plain() {
    const MatchTarget target = fresh();
    one("plain", target, {target.amount, "", "Payment " + id_});
  }
  void provider() {
    const MatchTarget target = fresh();
    one("provider reference", target, {target.amount, provider_, "thanks"});
  }
  void cut(std::size_t length) {
    const MatchTarget target = fresh();
    one("cut at " + std::to_string(length), target,
        {target.amount, id_.substr(0, length), "for you"});
  }
  void cut16() { cut(16); }
  void cut20() { cut(20); }
  void cut35() { cut(35); }
  void late() {
    const MatchTarget target = fresh();
    one("late", target, {target.amount, id_, "", 20 + static_cast<int>(random_() % 20)});
  }
  void split() {
    const MatchTarget target = fresh();
    const Amount part = truncate_to(Amount::from_units(target.amount.units() / 3), 2);
    one("split", target, {part, id_, "part 1"});
    one("split", target, {target.amount - part, id_, "part 2"});
  }
  void merged() {
    const MatchTarget first = fresh();
    std::string text = id_;
    Amount sum = first.amount;
    std::set<std::int64_t> all{first.payment};
    for (int i = 0; i < 2; ++i) {
      MatchTarget more = fresh();
      more.amount =
          first.amount.is_negative() == more.amount.is_negative() ? more.amount : -more.amount;
      more.at = first.at;
      targets.back() = more;
      sum = sum + more.amount;
      text += " " + id_;
      all.insert(more.payment);
    }
    show(first, {sum, "", text}, {"merged", all});
  }
  void netted() {
    const MatchTarget target = fresh();
    if (target.fee.is_positive() && random_() % 2 == 0) {
      return one("fee netted", target, {target.amount - target.fee, id_, "net"});
    }
    Shown shown{target.amount - cents(35), id_, "with charges"};
    shown.charges = cents(35);
    one("fee netted", target, shown);
  }
  void converted() {
    const MatchTarget target = fresh();
    Shown shown{truncate_to(Amount::from_units(target.amount.units() / 10 * 11), 2), id_, "", 2,
                "USD"};
    shown.original = target.amount.is_negative() ? -target.amount : target.amount;
    one("converted", target, shown);
  }
  void wrong_sign() {
    const MatchTarget target = fresh();
    one("wrong sign", target, {-target.amount, id_, ""}, false);
  }
  void repeated() {
    const MatchTarget target = fresh();
    one("duplicate", target, {target.amount, id_, ""}, false);
    one("duplicate", target, {target.amount, id_, "", 2}, false);
  }
  void other_money() {
    const MatchTarget target = fresh();
    one("other currency", target, {target.amount, id_, "", 1, "CHF"}, false);
  }
  void bare() {
    const MatchTarget target = fresh();
    one("no reference", target, {target.amount, "", "rent"}, false);
  }
  void foreign() {
    MatchTarget target = fresh();
    targets.pop_back();
    show(target, {target.amount, "", "Invoice " + hex(10)}, {"of no payment", {}, false});
  }
  void returned() {
    const MatchTarget target = fresh();
    MatchTarget back = target;
    back.kind = MatchKind::returned;
    back.refund = target.payment;
    back.amount = -target.amount;
    back.references.push_back("RET" + hex(10));
    targets.push_back(back);
    one("return", target, {target.amount, id_, ""});
    one("return", target, {back.amount, "", "returned " + back.references.back(), 3});
  }

  std::mt19937_64 random_{20261129};
  std::int64_t last_ = 0;
  std::string id_;
  std::string provider_;
  Amount swift_sum_;
  std::string swift_ = ":20:S\n:25:DE02120300000000202051\n:28C:1\n:60F:C260302EUR0,\n";
  std::string camt_;
};

TEST_CASE("matching: a statement of 2,000 lines with known answers") {
  const Statement statement(2'000);
  std::vector<OpenLine> lines;
  std::vector<std::string> banks;
  for (const std::string& text : {statement.mt940(), statement.camt()}) {
    const auto file = read_statement_file(text, statement_format_of(text), {});
    INFO((file ? "" : file.error().detail));
    REQUIRE(file);
    for (const BankLine& line : file->statements.front().lines) {
      lines.push_back({static_cast<std::int64_t>(lines.size()), line.booked_on, line.amount,
                       line.charges, line.currency, line.original, line.reference,
                       line.bank_reference, line.text});
      banks.push_back(line.bank_reference);
    }
  }
  REQUIRE(lines.size() == statement.answers.size());
  const Decisions decisions = decide(std::move(lines), statement.targets);
  struct Sum {
    int lines = 0, expected = 0, matched = 0, right = 0, offered = 0, in_offer = 0;
  };
  std::map<std::string, Sum> sums;
  Sum all;
  for (std::size_t i = 0; i < banks.size(); ++i) {
    const Answer& answer = statement.answers.at(banks[i]);
    const auto found = decisions.find(static_cast<std::int64_t>(i));
    std::set<std::int64_t> payments;
    if (found != decisions.end()) {
      for (const MatchChoice& one : found->second.choices) payments.insert(one.payment);
    }
    const bool matched = found != decisions.end() && found->second.matched;
    for (Sum* sum : {&all, &sums[answer.trouble]}) {
      ++sum->lines;
      sum->expected += answer.matched ? 1 : 0;
      sum->matched += matched ? 1 : 0;
      sum->right += matched && answer.matched && payments == answer.payments ? 1 : 0;
      if (matched || answer.payments.empty()) continue;
      sum->offered += payments.empty() ? 0 : 1;
      sum->in_offer += std::ranges::includes(payments, answer.payments) ? 1 : 0;
    }
  }
  CHECK(all.lines >= 2'000);
  CHECK(all.right == all.matched);  // precision 1
  CHECK(all.right * 100 >= all.expected * 98);
  CHECK(all.in_offer * 100 >= (all.lines - all.matched - sums["of no payment"].lines) * 98);
  CHECK(sums.size() == 16);
  if (::getenv("COFFER_SHOW_MATCHING") == nullptr) return;
  sums["all"] = all;
  std::cout << std::left << std::setw(20) << "trouble"
            << "lines  should  matched  right  offered  true payment offered\n";
  for (const auto& [trouble, sum] : sums) {
    std::cout << std::setw(20) << trouble << std::setw(7) << sum.lines << std::setw(8)
              << sum.expected << std::setw(9) << sum.matched << std::setw(7) << sum.right
              << std::setw(9) << sum.offered << sum.in_offer << "\n";
  }
}

}  // namespace
}  // namespace matching_test
