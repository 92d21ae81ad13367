// The conformance suite, which every driver must pass. Based on the provider protocol
// (docs/provider-protocol.md) and the results of docs/contract.md#sandbox.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "outbound/providers/connector.h"

namespace coffer::outbound::test {

/// A driver, and the objects that the suite needs.
struct Subject {
  Connector& connector;
  ConnectorTerms off_ramp;  // USDC -> NGN
  ConnectorTerms on_ramp;   // NGN -> USDC
  ManualClock& clock;
  Random& random;
};

inline ConnectorTerms conformance_terms(Direction direction) {
  ConnectorTerms terms;
  terms.key = direction == Direction::off_ramp ? 1 : 2;
  SeededRandom random(static_cast<std::uint64_t>(terms.key));
  terms.id = random.id<ConnectorId>({1'767'225'600'000});
  terms.name = "Conformance";
  terms.provider = "Provider";
  terms.direction = direction;
  terms.country = "NG";
  terms.currency = "NGN";
  terms.asset.code = *AssetCode::parse("USDC");
  terms.rate = *Rate::parse(direction == Direction::off_ramp ? "1540.25" : "0.00064");
  terms.fee.basis_points = 50;
  return terms;
}

inline Amount amount_of(std::string_view text) { return parse_amount(text, 7).amount; }

inline Payout payout_to(Subject& subject, const std::string& account) {
  Payout payout;
  payout.id = subject.random.id<PaymentId>(subject.clock.now());
  payout.send = amount_of("100");
  payout.receive = amount_of("154025");
  payout.recipient = {"Ada \"A\" Obi", account, {{"bankCode", "044"}}};
  payout.to_ref = "INV-7";
  payout.purpose_of_payment = "salary";
  payout.source_of_funds = "business_income";
  payout.relationship = "employee";
  payout.fields = {{"taxId", "12-34"}};
  payout.first_sent_at = subject.clock.now();
  return payout;
}

inline Collection collection_from(Subject& subject, const std::string& account) {
  Collection collection;
  collection.id = subject.random.id<PaymentId>(subject.clock.now());
  collection.send = amount_of("154025");
  collection.receive = amount_of("98.5");
  collection.payer = {"Ada Obi", account, {}};
  collection.first_sent_at = subject.clock.now();
  collection.expires_at = subject.clock.now().plus_ms(600'000);
  return collection;
}

inline void check_quotes(Subject& subject) {
  for (const ConnectorTerms& terms : {subject.off_ramp, subject.on_ramp}) {
    const auto sent = subject.connector.quote(terms, {amount_of("5000"), false, {}});
    REQUIRE(sent);
    CHECK(sent->send == amount_of("5000"));
    CHECK(sent->receive.is_positive());
    CHECK_FALSE(sent->fee.is_negative());
    if (sent->expires_at) CHECK(*sent->expires_at > subject.clock.now());
    const auto wanted = subject.connector.quote(terms, {amount_of("20"), true, {}});
    REQUIRE(wanted);
    CHECK(wanted->receive >= amount_of("20"));
    CHECK(wanted->send.is_positive());
  }
}

struct PayoutCase {
  const char* account;
  PayoutState submitted;
  PayoutState later;  // 3 s on
  std::optional<FailureCode> failure;
  ProviderRefund refund = ProviderRefund::returned;
};

inline const std::vector<PayoutCase>& payout_cases() {
  using enum PayoutState;
  static const std::vector<PayoutCase> all = {
      {"0123456789", succeeded, succeeded, {}},
      {"+234 801 555 0000", succeeded, succeeded, {}},
      {"DE89370400440532013000", succeeded, succeeded, {}},
      {"000001101", failed, failed, FailureCode::insufficient_funds},
      {"000001102", failed, failed, FailureCode::account_closed},
      {"000001103", failed, failed, FailureCode::account_not_found},
      {"000001104", failed, failed, FailureCode::name_mismatch},
      {"000001105", failed, failed, FailureCode::limit_exceeded},
      {"000001106", failed, failed, FailureCode::compliance_rejected},
      {"000001201", pending, pending, {}},
      {"000001202", in_review, succeeded, {}},
      {"000001301", pending, failed, FailureCode::provider_error},
      {"000001303", pending, failed, FailureCode::provider_error, ProviderRefund::refused},
  };
  return all;
}

inline void check_payout(Subject& subject, const PayoutCase& expected) {
  INFO("account " << expected.account);
  const ConnectorTerms& terms = subject.off_ramp;
  const Payout payout = payout_to(subject, expected.account);
  const auto first = subject.connector.submit(terms, payout);
  REQUIRE(first);
  CHECK(first->state == expected.submitted);
  if (expected.submitted == PayoutState::failed) {
    CHECK(first->failure == expected.failure);
    CHECK(first->refund == ProviderRefund::returned);
  }
  const auto again = subject.connector.submit(terms, payout);
  REQUIRE(again);
  CHECK((again->state == first->state || again->state == expected.later));

  subject.clock.advance_ms(3'000);
  const auto later = subject.connector.payout_status(terms, payout);
  REQUIRE(later);
  CHECK(later->state == expected.later);
  CHECK(later->failure == expected.failure);
  if (later->state == PayoutState::failed) CHECK(later->refund == expected.refund);
  if (first->state != PayoutState::failed) {
    CHECK(later->provider_reference == first->provider_reference);
    CHECK_FALSE(later->provider_reference.empty());
  }
  // An accepted payout can no longer be cancelled.
  const auto cancelled = subject.connector.cancel(terms, payout);
  REQUIRE(cancelled);
  CHECK(cancelled->state == expected.later);
  CHECK(cancelled->failure == expected.failure);
}

struct LostCase {
  const char* account;
  Slug fault;
};
inline const std::vector<LostCase>& lost_cases() {
  static const std::vector<LostCase> all = {{"000001401", Slug::provider_timeout},
                                            {"000001402", Slug::provider_error}};
  return all;
}

inline void check_lost_payout(Subject& subject, const LostCase& expected) {
  INFO("account " << expected.account);
  const ConnectorTerms& terms = subject.off_ramp;
  const Payout payout = payout_to(subject, expected.account);
  const auto submitted = subject.connector.submit(terms, payout);
  REQUIRE_FALSE(submitted);
  CHECK(submitted.error().slug == expected.fault);
  const auto status = subject.connector.payout_status(terms, payout);
  REQUIRE(status);
  CHECK(status->state == PayoutState::never_arrived);
  for (int i = 0; i < 2; ++i) {
    const auto cancelled = subject.connector.cancel(terms, payout);
    REQUIRE(cancelled);
    CHECK(cancelled->state == PayoutState::failed);
    CHECK(cancelled->failure.has_value());
    CHECK(cancelled->refund == ProviderRefund::returned);
  }
  const auto after = subject.connector.payout_status(terms, payout);
  REQUIRE(after);
  CHECK((after->state == PayoutState::failed || after->state == PayoutState::never_arrived));
}

struct CollectionCase {
  const char* account;
  CollectionState collected;
  CollectionState later;  // 3 s on
  std::optional<FailureCode> failure;
};
inline const std::vector<CollectionCase>& collection_cases() {
  using enum CollectionState;
  static const std::vector<CollectionCase> all = {
      {"+2348015550000", pending, collected, {}},
      {"000001202", pending, collected, {}},
      {"000001201", pending, pending, {}},
      {"000001101", failed, failed, FailureCode::insufficient_funds},
      {"000001106", failed, failed, FailureCode::compliance_rejected},
  };
  return all;
}

inline void check_collection(Subject& subject, const CollectionCase& expected) {
  INFO("payer " << expected.account);
  const ConnectorTerms& terms = subject.on_ramp;
  const Collection collection = collection_from(subject, expected.account);
  const auto first = subject.connector.collect(terms, collection);
  REQUIRE(first);
  CHECK(first->state == expected.collected);
  CHECK(first->failure == expected.failure);
  if (first->state == CollectionState::pending) CHECK_FALSE(first->instructions.empty());
  const auto again = subject.connector.collect(terms, collection);
  REQUIRE(again);
  CHECK((again->state == first->state || again->state == expected.later));

  subject.clock.advance_ms(3'000);
  const auto later = subject.connector.collection_status(terms, collection);
  REQUIRE(later);
  CHECK(later->state == expected.later);
  CHECK(later->failure == expected.failure);
  // A paid collection does not expire; only an open one does.
  const bool open = expected.later == CollectionState::pending;
  const auto ended = subject.connector.expire(terms, collection);
  REQUIRE(ended);
  CHECK(ended->state == (open ? CollectionState::expired : expected.later));
}

inline void check_unpaid_collection(Subject& subject) {
  const Collection collection = collection_from(subject, "000001201");
  REQUIRE(subject.connector.collect(subject.on_ramp, collection));
  subject.clock.advance_ms(600'000);
  const auto status = subject.connector.collection_status(subject.on_ramp, collection);
  REQUIRE(status);
  CHECK(status->state == CollectionState::expired);
}

inline void check_lost_collection(Subject& subject, const LostCase& expected) {
  INFO("payer " << expected.account);
  const Collection collection = collection_from(subject, expected.account);
  const auto lost = subject.connector.collect(subject.on_ramp, collection);
  REQUIRE_FALSE(lost);
  CHECK(lost.error().slug == expected.fault);
  const auto status = subject.connector.collection_status(subject.on_ramp, collection);
  REQUIRE(status);
  CHECK(status->state == CollectionState::never_arrived);
  const auto ended = subject.connector.expire(subject.on_ramp, collection);
  REQUIRE(ended);
  CHECK(ended->state == CollectionState::expired);
}

struct RefundCase {
  const char* account;
  PayoutState submitted;
  PayoutState later;  // 3 s on
  std::optional<FailureCode> failure;
};
inline const std::vector<RefundCase>& refund_cases() {
  using enum PayoutState;
  static const std::vector<RefundCase> all = {
      {"0123456789", succeeded, succeeded, {}},
      {"", succeeded, succeeded, {}},
      {"000001601", pending, pending, {}},
      {"000001602", in_review, succeeded, {}},
      {"000001603", failed, failed, FailureCode::account_closed},
      {"000001604", pending, failed, FailureCode::provider_error},
  };
  return all;
}

inline Refund refund_to(Subject& subject, const std::string& account) {
  Refund refund;
  refund.id = subject.random.id<RefundId>(subject.clock.now());
  refund.payment = subject.random.id<PaymentId>(subject.clock.now());
  refund.amount = amount_of("4000");
  refund.currency = "NGN";
  refund.decimals = 2;
  refund.payer = {"Ada Obi", account, {}};
  refund.reason = "Ordered twice";
  refund.first_sent_at = subject.clock.now();
  return refund;
}

/// Of a collection, or of a payment on a reference.
inline void check_refund(Subject& subject, const RefundCase& expected, bool on_reference) {
  INFO("refund to " << expected.account);
  Refund refund = refund_to(subject, expected.account);
  if (on_reference) {
    refund.reference = "REF1";
    refund.provider_payment_id = "PAY-1";
  }
  const auto first = subject.connector.refund(subject.on_ramp, refund);
  REQUIRE(first);
  CHECK(first->state == expected.submitted);
  if (expected.submitted == PayoutState::failed) CHECK(first->failure == expected.failure);
  const auto again = subject.connector.refund(subject.on_ramp, refund);
  REQUIRE(again);
  CHECK((again->state == first->state || again->state == expected.later));
  subject.clock.advance_ms(3'000);
  const auto later = subject.connector.refund_status(subject.on_ramp, refund);
  REQUIRE(later);
  CHECK(later->state == expected.later);
  CHECK(later->failure == expected.failure);
}

inline ReferenceAsk reference_ask(const std::string& customer) {
  return {"0190a5a0-0000-7000-8000-00000000000a", customer,
          "GAAZI4TCR3TY5OJHCTJC2A4QSY6CJWJH5IAJTGKIN2ER7LBNVKOCCWN7"};
}

inline void check_references(Subject& subject) {
  using Kind = ReferenceResponse::Kind;
  const auto issue = [&](const std::string& customer) {
    return subject.connector.issue_reference(subject.on_ramp, reference_ask(customer));
  };
  const auto usual = issue("customer-1");
  REQUIRE(usual);
  CHECK(usual->kind == Kind::issued);
  CHECK_FALSE(usual->issued.reference.empty());
  REQUIRE(usual->issued.metadata.has_value());
  CHECK_FALSE(usual->issued.metadata->empty());
  CHECK(usual->related.empty());
  CHECK(issue("customer-1").value().issued.reference == usual->issued.reference);
  CHECK(issue("customer-2").value().issued.reference != usual->issued.reference);

  const auto rebound = issue("customer-2001");
  REQUIRE(rebound);
  CHECK(rebound->kind == Kind::issued);
  CHECK_FALSE(rebound->issued.metadata.has_value());
  CHECK(issue("customer-2002").value().kind == Kind::customer_not_registered);
  CHECK(issue("customer-2003").value().kind == Kind::cannot_assign);
  CHECK(issue("customer-2004").value().related.size() == 2);
  for (const auto& [account, fault] : lost_cases()) {
    const auto lost = issue("customer-" + std::string(account));
    REQUIRE_FALSE(lost);
    CHECK(lost.error().slug == fault);
  }
}

/// Runs the whole suite.
inline void check_conformance(Subject subject) {
  check_quotes(subject);
  for (const PayoutCase& expected : payout_cases()) check_payout(subject, expected);
  for (const LostCase& expected : lost_cases()) check_lost_payout(subject, expected);
  for (const CollectionCase& expected : collection_cases()) check_collection(subject, expected);
  for (const LostCase& expected : lost_cases()) check_lost_collection(subject, expected);
  check_unpaid_collection(subject);
  for (const RefundCase& expected : refund_cases()) {
    for (const bool on_reference : {false, true}) check_refund(subject, expected, on_reference);
  }
  check_references(subject);
}

}  // namespace coffer::outbound::test
