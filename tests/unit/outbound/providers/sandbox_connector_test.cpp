#include "outbound/providers/sandbox_connector.h"

#include <catch2/catch.hpp>

#include "unit/outbound/connector_conformance.h"

using namespace coffer;
using namespace coffer::outbound;
using namespace coffer::outbound::test;

TEST_CASE("the sandbox driver passes the conformance suite") {
  ManualClock clock;
  SeededRandom random(7);
  SandboxConnector connector(clock);
  check_conformance({connector, conformance_terms(Direction::off_ramp),
                     conformance_terms(Direction::on_ramp), clock, random});
}

TEST_CASE("the last four digits are found behind separators, and only digits count") {
  CHECK(sandbox_digits("1101") == 1101);
  CHECK(sandbox_digits("0011-01") == 1101);
  CHECK(sandbox_digits("+49 30 11 01") == 1101);
  CHECK(sandbox_digits("customer-2004") == 2004);
  CHECK(sandbox_digits("customer2004") == 2004);
  CHECK(sandbox_digits("GABC") == 0);
  CHECK(sandbox_digits("11A01") == 0);
  CHECK(sandbox_digits("101") == 0);
  CHECK(sandbox_digits("") == 0);
}

TEST_CASE("a payment is in review until it is two seconds old") {
  ManualClock clock;
  SeededRandom random(7);
  SandboxConnector connector(clock);
  Subject subject{connector, conformance_terms(Direction::off_ramp),
                  conformance_terms(Direction::on_ramp), clock, random};
  const Payout payout = payout_to(subject, "000001202");
  const auto state = [&] { return connector.payout_status(subject.off_ramp, payout)->state; };
  clock.advance_ms(1'999);
  CHECK(state() == PayoutState::in_review);
  clock.advance_ms(1);
  CHECK(state() == PayoutState::succeeded);
}

TEST_CASE("references differ by connector and settlement account") {
  ManualClock clock;
  SandboxConnector connector(clock);
  const auto reference = [&](Direction direction, const std::string& account) {
    ReferenceAsk ask = reference_ask("customer-1");
    ask.settlement_account = account;
    return connector.issue_reference(conformance_terms(direction), ask)->issued.reference;
  };
  CHECK(reference(Direction::on_ramp, "GA") != reference(Direction::on_ramp, "GB"));
  CHECK(reference(Direction::on_ramp, "GA") != reference(Direction::off_ramp, "GA"));
}

TEST_CASE("a payment that never arrived is cancelled with its failure") {
  ManualClock clock;
  SeededRandom random(7);
  SandboxConnector connector(clock);
  Subject subject{connector, conformance_terms(Direction::off_ramp),
                  conformance_terms(Direction::on_ramp), clock, random};
  const auto failure = [&](const char* account) {
    return connector.cancel(subject.off_ramp, payout_to(subject, account))->failure;
  };
  CHECK(failure("000001401") == FailureCode::provider_timeout);
  CHECK(failure("000001402") == FailureCode::provider_error);
}
