#include "domain/payments/payment.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "domain/payments/refund.h"

using namespace coffer;

namespace {

constexpr int kStatusCount = 8;
using Names = std::vector<std::string>;

WalletId wallet(std::uint8_t number) {
  WalletId id;
  id.uuid.bytes[15] = number;
  return id;
}

TransferLeg leg(std::uint8_t from, std::uint8_t to, std::int64_t amount) {
  TransferLeg out;
  out.source_wallet = wallet(from);
  out.destination_wallet = wallet(to);
  out.sending_asset = *AssetCode::parse("USDC");
  out.amount = Amount::from_units(amount);
  return out;
}

PaymentRequest request(PaymentType type = PaymentType::p2p_own) {
  PaymentRequest out;
  out.type = type;
  out.transaction_id = "t-1";
  out.legs = {leg(1, 2, 100)};
  if (type == PaymentType::swap_own) out.receiving_asset = AssetCode::parse("EURC");
  if (type == PaymentType::p2p_own_multi) out.legs.push_back(leg(2, 3, 50));
  return out;
}

/// The differing fields after `change` on a copy.
Names differing(const PaymentRequest& first, const std::function<void(PaymentRequest&)>& change) {
  PaymentRequest second = first;
  change(second);
  CHECK(differing_fields(first, second) == differing_fields(second, first));
  return differing_fields(first, second);
}

Names rejected_fields(const PaymentRequest& request) {
  const auto checked = check_request(request);
  REQUIRE_FALSE(checked);
  auto problem = Result<void>(checked).error();
  CHECK(problem.slug == Slug::validation_failed);
  Names out;
  for (const FieldError& error : problem.fields) out.push_back(error.field);
  return out;
}

}  // namespace

TEST_CASE("payment: the transition table equals the list in the contract") {
  using enum PaymentStatus;
  const std::set<std::pair<PaymentStatus, PaymentStatus>> allowed{{initiated, processing},
                                                                  {initiated, failed},
                                                                  {initiated, expired},
                                                                  {processing, succeeded},
                                                                  {processing, failed},
                                                                  {processing, expired},
                                                                  {failed, refund_pending},
                                                                  {refund_pending, refunded},
                                                                  {refund_pending, refund_failed},
                                                                  {refund_failed, refunded},
                                                                  // After success.
                                                                  {succeeded, refund_pending},
                                                                  {refunded, refunded},
                                                                  {refunded, refund_pending},
                                                                  {refund_failed, refund_pending},
                                                                  // Corrections.
                                                                  {failed, succeeded},
                                                                  {expired, succeeded},
                                                                  {refunded, succeeded},
                                                                  {refund_failed, succeeded},
                                                                  {succeeded, failed}};
  for (int from = 0; from < kStatusCount; ++from) {
    for (int to = 0; to < kStatusCount; ++to) {
      const auto a = static_cast<PaymentStatus>(from);
      const auto b = static_cast<PaymentStatus>(to);
      INFO(name(a) << " -> " << name(b));
      CHECK(may_change(a, b) == allowed.contains({a, b}));
    }
  }
  CHECK(payment_transitions().size() == allowed.size());
}

TEST_CASE("payment: what was given back does not count towards limits") {
  using enum PaymentStatus;
  const auto units = [](std::int64_t n) { return Amount::from_units(n); };
  for (const PaymentStatus status : {initiated, processing, succeeded}) {
    CHECK(counted_by_limits(status, units(5), std::nullopt) == units(5));
  }
  for (const PaymentStatus status : {failed, expired, refund_pending, refunded, refund_failed}) {
    CHECK(counted_by_limits(status, units(5), std::nullopt) == units(0));
  }
  CHECK(counted_by_limits(refunded, units(5), units(2)) == units(3));
  CHECK(counted_by_limits(refunded, units(5), units(5)) == units(0));
  CHECK(counted_by_limits(refunded, units(5), units(6)) == units(0));  // with the fee
}

TEST_CASE("payment: parts that come back add up to the debited amount") {
  const auto units = [](std::int64_t n) { return Amount::from_units(n); };
  // 10 units of 7 places for 3 of the other side.
  CHECK(credit_for(units(10), units(1), units(3), 7) == units(3));
  CHECK(credit_for(units(10), units(2), units(3), 7) == units(6));
  CHECK(credit_for(units(10), units(3), units(3), 7) == units(10));
  CHECK(credit_for(units(10'000'000), units(2), units(3), 2) == units(6'600'000));
  const Amount most = units(std::numeric_limits<std::int64_t>::max());
  CHECK(credit_for(most, most, most, 7) == most);
  CHECK(credit_for(units(1), units(1), most, 7) == units(0));
}

TEST_CASE("payment: the wallet of an on-ramp gives back a share that is rounded up, once in full") {
  const auto units = [](std::int64_t n) { return Amount::from_units(n); };
  struct Case {
    int credited, refunded, collected, decimals, debit;
  };
  for (const auto& [credited, refunded, collected, decimals, debit] :
       std::vector<Case>{{100, 50, 100, 7, 50},
                         {100, 100, 100, 7, 100},
                         {100, 1, 3, 7, 34},
                         {100, 2, 3, 7, 67},
                         {1, 1, 100, 7, 1},
                         {1'000'000, 1, 3, 2, 400'000},
                         {1'000'000, 3, 3, 2, 1'000'000}}) {
    CHECK(debit_for(units(credited), units(refunded), units(collected), decimals) == units(debit));
  }
  const Amount most = units(std::numeric_limits<std::int64_t>::max());
  CHECK(debit_for(most, most, most, 7) == most);
  CHECK(debit_for(most, most - units(1), most, 7) == most - units(1));
}

TEST_CASE("payment: only a correction or a refund leaves a final status, and each is reached") {
  using enum PaymentStatus;
  const std::map<PaymentStatus, std::set<PaymentStatus>> next{
      {succeeded, {failed, refund_pending}},
      {refunded, {succeeded, refunded, refund_pending}},
      {expired, {succeeded}}};
  for (const auto& [final, following] : next) {
    for (int to = 0; to < kStatusCount; ++to) {
      const auto status = static_cast<PaymentStatus>(to);
      CHECK(may_change(final, status) == following.contains(status));
    }
  }
  std::set<PaymentStatus> reached{initiated};
  for (int i = 0; i < kStatusCount; ++i) {
    for (const Transition& t : payment_transitions()) {
      if (reached.contains(t.from)) reached.insert(t.to);
    }
  }
  CHECK(reached.size() == kStatusCount);
  CHECK_FALSE(is_settled(initiated));
  CHECK_FALSE(is_settled(processing));
  for (const PaymentStatus status :
       {succeeded, failed, refund_pending, refunded, refund_failed, expired}) {
    CHECK(is_settled(status));
  }
}

TEST_CASE("payment: exactly the known names are parsed") {
  for (std::size_t i = 0; i < terms<PaymentType>().size(); ++i) {
    const auto type = static_cast<PaymentType>(i);
    CHECK(parse_term<PaymentType>(name(type)) == type);
    CHECK_FALSE(terms<PaymentType>()[i].label.empty());
  }
  for (std::size_t i = 0; i < terms<PaymentStatus>().size(); ++i) {
    const auto status = static_cast<PaymentStatus>(i);
    CHECK(parse_term<PaymentStatus>(name(status)) == status);
    CHECK_FALSE(terms<PaymentStatus>()[i].label.empty());
  }
  CHECK(terms<PaymentType>().size() == 8);
  CHECK(terms<PaymentStatus>().size() == kStatusCount);
  for (const char* text : {"", "P2P_OWN", "p2p_own ", "succeed", "unknown"}) {
    CHECK_FALSE(parse_term<PaymentType>(text));
    CHECK_FALSE(parse_term<PaymentStatus>(text));
  }
}

TEST_CASE("payment: every failure code has a row") {
  std::set<std::string_view> names;
  for (const FailureInfo& row : failure_table()) {
    CHECK(&info(row.code) == &row);
    CHECK(names.insert(row.name).second);
    CHECK_FALSE(row.label.empty());
    CHECK_FALSE(row.message.empty());
  }
}

TEST_CASE("payment: references and transaction ids") {
  CHECK(is_reference("A"));
  CHECK(is_reference("INV-2026-00001-x"));  // 16
  CHECK_FALSE(is_reference(""));
  CHECK_FALSE(is_reference("INV-2026-00001-xy"));
  for (const char* text : {"a_b", "a.b", "a b", "ä", "a:b", "a\n"}) CHECK_FALSE(is_reference(text));
  CHECK(is_transaction_id("Az09._:-"));
  CHECK(is_transaction_id(std::string(64, 'x')));
  CHECK_FALSE(is_transaction_id(std::string(65, 'x')));
  for (const char* text : {"", "a b", "a/b", "a\n", "é", "a#", "a,b"}) {
    CHECK_FALSE(is_transaction_id(text));
  }
  CHECK_FALSE(is_transaction_id(std::string_view("a\0b", 3)));
}

TEST_CASE("payment: a replay differs in nothing") {
  for (const PaymentType type :
       {PaymentType::p2p_own, PaymentType::swap_own, PaymentType::p2p_own_multi}) {
    CHECK(differing(request(type), [](PaymentRequest&) {}).empty());
  }
  // Both have the same ID, so it is not compared.
  CHECK(differing(request(), [](PaymentRequest& r) { r.transaction_id = "other"; }).empty());
}

TEST_CASE("payment: each differing field is named") {
  const auto swap = request(PaymentType::swap_own);
  const std::vector<std::pair<const char*, std::function<void(PaymentRequest&)>>> changes{
      {"sourceWalletId", [](PaymentRequest& r) { r.legs[0].source_wallet = wallet(9); }},
      {"destinationWalletId", [](PaymentRequest& r) { r.legs[0].destination_wallet = wallet(9); }},
      {"sendingAssetCode",
       [](PaymentRequest& r) { r.legs[0].sending_asset = *AssetCode::parse("GBPC"); }},
      {"amount", [](PaymentRequest& r) { r.legs[0].amount = Amount::from_units(101); }},
      {"fromRef", [](PaymentRequest& r) { r.legs[0].refs.from_ref = "a"; }},
      {"toRef", [](PaymentRequest& r) { r.legs[0].refs.to_ref = "a"; }},
      {"description", [](PaymentRequest& r) { r.legs[0].description = "a"; }},
      {"receivingAssetCode",
       [](PaymentRequest& r) { r.receiving_asset = AssetCode::parse("GBPC"); }},
      {"minReceivingAmount", [](PaymentRequest& r) { r.min_receiving = Amount::from_units(1); }},
      {"memo", [](PaymentRequest& r) { r.memo = "a"; }},
      {"notifyEmail", [](PaymentRequest& r) { r.notify_email = true; }},
      {"notifyWhatsApp", [](PaymentRequest& r) { r.notify_whatsapp = true; }},
  };
  for (const auto& [field, change] : changes) CHECK(differing(swap, change) == Names{field});
  CHECK(differing(swap, [&](PaymentRequest& r) {
          for (const auto& change : changes) change.second(r);
        }).size() == changes.size());
}

TEST_CASE("payment: legs are compared one by one and named by index") {
  const auto multi = request(PaymentType::p2p_own_multi);
  CHECK(differing(multi, [](PaymentRequest& r) { r.legs[1].amount = Amount::from_units(1); }) ==
        Names{"transfers[1].amount"});
  CHECK(differing(multi, [](PaymentRequest& r) { r.legs.pop_back(); }) == Names{"transfers"});
  CHECK(differing(multi, [](PaymentRequest& r) { std::swap(r.legs[0], r.legs[1]); }).size() == 6);
  // Another kind of payment with the same ID: the ID itself is the conflict.
  CHECK(differing(multi, [](PaymentRequest& r) { r.type = PaymentType::p2p_own; }) ==
        Names{"transactionId"});
}

TEST_CASE("payment: an empty text differs from an absent one") {
  CHECK(differing(request(), [](PaymentRequest& r) { r.memo = ""; }) == Names{"memo"});
}

TEST_CASE("payment: violated rules across fields are reported together") {
  CHECK(check_request(request()));
  CHECK(check_request(request(PaymentType::swap_own)));
  CHECK(check_request(request(PaymentType::p2p_own_multi)));
  auto same_wallet = request();
  same_wallet.legs[0].destination_wallet = same_wallet.legs[0].source_wallet;
  CHECK(rejected_fields(same_wallet) == Names{"destinationWalletId"});
  auto legs = request(PaymentType::p2p_own_multi);
  legs.legs[1].destination_wallet = legs.legs[1].source_wallet;
  CHECK(rejected_fields(legs) == Names{"transfers[1].destinationWalletId"});
  // A swap within one wallet is valid, but not into the same asset.
  auto swap = request(PaymentType::swap_own);
  swap.legs[0].destination_wallet = swap.legs[0].source_wallet;
  CHECK(check_request(swap));
  swap.receiving_asset = swap.legs[0].sending_asset;
  swap.notify_email = swap.notify_whatsapp = true;
  CHECK(rejected_fields(swap) == Names{"receivingAssetCode", "notifyEmail", "notifyWhatsApp"});
}
