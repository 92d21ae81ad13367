#include "domain/providers/connector.h"

#include <catch2/catch.hpp>
#include <vector>

#include "domain/payments/compliance.h"

using namespace coffer;

namespace connector_test {
namespace {

using List = std::vector<std::string>;

/// `field: slug` of every error in the values.
List wrong(const std::vector<Requirement>& requirements, const AdditionalFields& values,
           TransactionType type = TransactionType::b2c) {
  ValidationErrors errors;
  check_requirements(requirements, type, values, errors);
  if (errors.empty()) return {};
  List out;
  const Problem problem = errors.problem();
  for (const FieldError& error : problem.fields) out.push_back(error.field);
  out.push_back(std::string(info(problem.slug).name));
  return out;
}

std::vector<Requirement> one(Requirement requirement) {
  requirement.name = "x";
  requirement.label = "X";
  return {requirement};
}

}  // namespace

TEST_CASE("vocabularies of connectors are read in any case", "[connector]") {
  CHECK(name(ConnectorFlow::bespoke) == "BESPOKE");
  CHECK(parse_term_in_any_case<ConnectorFlow>("quoted") == ConnectorFlow::quoted);
  CHECK(parse_term_in_any_case<Direction>("on_ramp") == Direction::on_ramp);
  CHECK_FALSE(parse_term_in_any_case<Direction>("ONRAMP"));
  CHECK(parse_term_in_any_case<DriverKind>("http") == DriverKind::http);
  CHECK(parse_pay_method("MOMO") == PayMethod::momo);
  CHECK(parse_pay_method("mobile_money") == PayMethod::momo);
  CHECK_FALSE(parse_pay_method(""));
  CHECK(parse_term_in_any_case<TransactionType>("b2C") == TransactionType::b2c);
  CHECK_FALSE(parse_term_in_any_case<TransactionType>("B2CC"));
  for (std::size_t i = 0; i < terms<PayMethod>().size(); ++i) {
    CHECK(parse_pay_method(terms<PayMethod>()[i].code) == static_cast<PayMethod>(i));
    CHECK(name(static_cast<PayMethod>(i)) == terms<PayMethod>()[i].code);
  }
}

TEST_CASE("sender and receiver determine the transaction type", "[connector]") {
  CHECK(transaction_type(false, false) == TransactionType::c2c);
  CHECK(transaction_type(false, true) == TransactionType::c2b);
  CHECK(transaction_type(true, false) == TransactionType::b2c);
  CHECK(transaction_type(true, true) == TransactionType::b2b);
  CHECK(contains(0b0100, TransactionType::b2c));
  CHECK_FALSE(contains(0b0100, TransactionType::b2b));
}

TEST_CASE("a change sets the given members that may change, and no others", "[connector]") {
  ConnectorTerms terms;
  terms.name = "before";
  terms.day_limit = Amount::from_units(5);
  terms.fee.basis_points = 25;
  ConnectorChange change;
  change.set<&ConnectorTerms::name>("after").set<&ConnectorTerms::day_limit>(std::nullopt);
  change.set<&ConnectorTerms::fee, &FeeRule::fixed>(Amount::from_units(3));
  CHECK(change.has<&ConnectorTerms::day_limit>());
  CHECK_FALSE(change.has<&ConnectorTerms::month_limit>());
  CHECK_FALSE(change.has<&ConnectorTerms::fee, &FeeRule::basis_points>());
  change.apply_to(terms);
  CHECK(terms.name == "before");  // fixed
  CHECK_FALSE(terms.day_limit);
  CHECK(terms.fee.fixed == Amount::from_units(3));
  CHECK(terms.fee.basis_points == 25);
}

TEST_CASE("only a connector whose driver calls out has a lane of its own", "[connector]") {
  ConnectorTerms terms;
  terms.key = 9;
  CHECK(terms.lane() == 0);
  terms.driver = DriverKind::http;
  CHECK(terms.lane() == 9);
  CHECK(drivers_that_call_out() == "http");
}

TEST_CASE("sent and received amounts follow the direction", "[connector]") {
  ConnectorTerms terms;
  terms.currency = "JPY";
  terms.currency_decimals = 0;
  terms.asset.code = *AssetCode::parse("USDC");
  terms.asset.decimals = 6;
  CHECK(terms.send_code() == "USDC");
  CHECK(terms.receive_code() == "JPY");
  CHECK(terms.send_decimals() == 6);
  CHECK(terms.receive_decimals() == 0);
  terms.direction = Direction::on_ramp;
  CHECK(terms.send_code() == "JPY");
  CHECK(terms.receive_code() == "USDC");
  CHECK(terms.send_decimals() == 0);
  CHECK(terms.receive_decimals() == 6);
}

TEST_CASE("texts are checked for length, choices and pattern", "[connector]") {
  const auto plain = one({});
  CHECK(wrong(plain, {{"x", "anything"}}).empty());
  CHECK(wrong(plain, {}) == List{"additionalFields.x", "requirement-missing"});
  CHECK(wrong(plain, {{"x", ""}}) == List{"additionalFields.x", "validation-failed"});
  CHECK(wrong(plain, {{"x", std::string(200, 'a')}}).empty());
  CHECK_FALSE(wrong(plain, {{"x", std::string(201, 'a')}}).empty());
  // Characters, not bytes.
  const auto two = one({.min_length = 2, .max_length = 2});
  CHECK(wrong(two, {{"x", "\xc3\xa4\xc3\xb6"}}).empty());
  CHECK_FALSE(wrong(two, {{"x", "\xc3\xa4"}}).empty());
  CHECK_FALSE(wrong(two, {{"x", "abc"}}).empty());
  const auto choices = one({.choices = {{"A", "First"}, {"B", "Second"}}});
  CHECK(wrong(choices, {{"x", "B"}}).empty());
  CHECK_FALSE(wrong(choices, {{"x", "b"}}).empty());
  // The pattern must match the whole value.
  const auto digits = one({.pattern = "[0-9]{3}|x"});
  CHECK(wrong(digits, {{"x", "123"}}).empty());
  CHECK(wrong(digits, {{"x", "x"}}).empty());
  CHECK_FALSE(wrong(digits, {{"x", "1234"}}).empty());
  CHECK_FALSE(wrong(digits, {{"x", "xx"}}).empty());
}

TEST_CASE("numbers and booleans", "[connector]") {
  const auto number = one({.type = Requirement::Type::number});
  for (const char* good : {"0", "-5", "12.50", "1e3", "0.00000001"}) {
    INFO(good);
    CHECK(wrong(number, {{"x", good}}).empty());
  }
  for (const char* bad : {"", "x", "1,5", "01", "+1", "0x1"}) {
    INFO(bad);
    CHECK_FALSE(wrong(number, {{"x", bad}}).empty());
  }
  const auto boolean = one({.type = Requirement::Type::boolean});
  CHECK(wrong(boolean, {{"x", "true"}}).empty());
  CHECK(wrong(boolean, {{"x", "false"}}).empty());
  CHECK_FALSE(wrong(boolean, {{"x", "yes"}}).empty());
}

TEST_CASE("only the fields of the type are required, and no others are accepted", "[connector]") {
  std::vector<Requirement> all = {
      {.name = "both", .label = "Both"},
      {.name = "business", .label = "Business", .types = 0b1000},
      {.name = "maybe", .required = false, .label = "Maybe"},
  };
  CHECK(applicable(all, std::nullopt).size() == 3);
  CHECK(applicable(all, TransactionType::b2c).size() == 2);
  CHECK(wrong(all, {{"both", "1"}}).empty());
  CHECK(wrong(all, {{"both", "1"}}, TransactionType::b2b) ==
        List{"additionalFields.business", "requirement-missing"});
  CHECK(wrong(all, {{"both", "1"}, {"business", "1"}}) ==
        List{"additionalFields.business", "validation-failed"});
  CHECK(wrong(all, {{"other", "1"}}) ==
        List{"additionalFields.both", "additionalFields.other", "validation-failed"});
}

TEST_CASE("a pattern with exponential backtracking in other engines is evaluated immediately",
          "[connector]") {
  const auto nested = one({.pattern = "([A-Za-z]+ ?)+"});
  CHECK(wrong(nested, {{"x", std::string(60, 'a') + "!"}}) ==
        List{"additionalFields.x", "validation-failed"});
  CHECK(wrong(nested, {{"x", std::string(200, 'a')}}).empty());
}

TEST_CASE("patterns are regular expressions of a bounded length", "[connector]") {
  CHECK(is_requirement_pattern("^[A-Z]{2}[0-9]+$"));
  CHECK_FALSE(is_requirement_pattern(""));
  CHECK_FALSE(is_requirement_pattern("["));
  CHECK_FALSE(is_requirement_pattern(std::string(201, 'a')));
  // Patterns that only some JSON Schema implementations support, or that need backtracking.
  for (const char* other :
       {"(a)\\1", "(?=a)a", "(?i)a", "(?P<n>a)", "[[:alpha:]]", "\\Aa", "a\\z", "\\pL"}) {
    CHECK_FALSE(is_requirement_pattern(other));
  }
  CHECK(is_requirement_pattern("(?:\\d\\.)+\\[\\w{2,5}"));
  CHECK_FALSE(is_requirement_pattern("(((a{1000}){1000}){1000}"));
}

TEST_CASE("compliance codes are exact", "[connector]") {
  CHECK(is_purpose_of_payment("FAMILY_SUPPORT"));
  CHECK_FALSE(is_purpose_of_payment("family_support"));
  CHECK(is_source_of_funds("SALARY"));
  CHECK_FALSE(is_source_of_funds(""));
  CHECK(is_relationship("SPOUSE"));
  CHECK_FALSE(is_relationship("ENEMY"));
}

}  // namespace connector_test
