// Earlier versions of a record: an event shows nothing that happened after it.
#include "flows/payments/record_json.h"

#include <catch2/catch.hpp>

using namespace coffer;
using namespace coffer::flows;

namespace {

/// An off-ramp that was refunded, or an earlier state of it.
store::PaymentRecord refunded() {
  store::PaymentRecord record;
  record.request.type = PaymentType::offramp;
  record.request.transaction_id = "t";
  record.request.legs.resize(1);
  record.request.legs.front().sending_asset = *AssetCode::parse("USDC");
  record.sending_asset = record.request.legs.front().sending_asset;
  record.sending_amount = Amount::from_units(100'000'000);
  record.status = PaymentStatus::refunded;
  record.version = 5;
  record.failure = FailureCode::account_closed;
  record.ledger_hash = std::string(32, 'h');
  store::ProviderPart part;
  part.currency = "KES";
  part.in_review = true;
  part.state = ProviderState::over;
  record.provider = part;
  record.created_at = {1'000};
  record.processing_at = Timestamp{2'000};
  record.completed_at = Timestamp{3'000};
  record.refund_pending_at = Timestamp{4'000};
  record.refund_closed_at = Timestamp{5'000};
  record.updated_at = {5'000};
  return record;
}

Json shown(int version) { return record_json(as_of(refunded(), version), Environment::sandbox); }

}  // namespace

TEST_CASE("the record at each of its versions") {
  const char* const statuses[] = {"initiated", "processing", "failed", "refund_pending",
                                  "refunded"};
  for (int version = 1; version <= 5; ++version) {
    const Json json = shown(version);
    INFO(json.dump());
    CHECK(json.at("status") == statuses[version - 1]);
    CHECK(json.at("version") == version);
    CHECK(json.at("statusHistory").size() == static_cast<std::size_t>(version));
    CHECK(json.at("statusHistory").back().at("status") == statuses[version - 1]);
    CHECK(json.at("updatedAt") == Timestamp{version * 1'000}.to_string());
    CHECK(json.contains("statusReason") == (version >= 3));
    CHECK(json.contains("completedAt") == (version >= 3));
    CHECK(json.contains("ledgerTransactionHash") == (version >= 3));
    CHECK(json.contains("refund") == (version >= 4));
    CHECK_FALSE(json.contains("substatus"));
  }
  CHECK(shown(4).at("refund").at("status") == "pending");
  CHECK(shown(5).at("refund").at("status") == "refunded");
}

TEST_CASE("the record at each of its versions, with what was given back after success") {
  store::PaymentRecord record = refunded();
  record.failure.reset();
  record.refund_pending_at.reset();
  record.refund_closed_at.reset();
  record.sending_decimals = 7;
  record.version = 6;
  const auto units = [](std::int64_t n) { return Amount::from_units(n * 10'000'000); };
  record.refunds = {{units(4), {4'000}, "first"}, {units(3), {5'000}, "second"}};
  const char* const statuses[] = {"initiated",      "processing", "succeeded",
                                  "refund_pending", "refunded",   "refunded"};
  const char* const amounts[] = {"", "", "", "4.00", "4.00", "7.00"};
  const int times[] = {1'000, 2'000, 3'000, 4'000, 4'000, 5'000};
  for (std::size_t version = 1; version <= 6; ++version) {
    const Json json = record_json(as_of(record, static_cast<int>(version)), Environment::sandbox);
    INFO(json.dump());
    CHECK(json.at("status") == statuses[version - 1]);
    CHECK(json.at("version") == version);
    REQUIRE(json.at("statusHistory").size() == version);
    for (std::size_t i = 0; i < version; ++i) {
      CHECK(json.at("statusHistory")[i].at("status") == statuses[i]);
      CHECK(json.at("statusHistory")[i].at("at") == Timestamp{times[i]}.to_string());
    }
    CHECK(json.at("updatedAt") == Timestamp{times[version - 1]}.to_string());
    CHECK_FALSE(json.contains("statusReason"));
    REQUIRE(json.contains("refund") == (version >= 4));
    if (version < 4) continue;
    CHECK(json.at("refund").at("status") == (version == 4 ? "pending" : "refunded"));
    CHECK(json.at("refund").at("amount") == amounts[version - 1]);
    CHECK(json.at("refund").at("reason") == (version == 6 ? "second" : "first"));
  }
}

TEST_CASE("a future version gives the current record") {
  CHECK(shown(6) == shown(5));
  CHECK(shown(0) == shown(5));
}

TEST_CASE("the proceeds of a swap are known at settlement") {
  store::PaymentRecord record;
  record.request.type = PaymentType::swap_own;
  record.request.transaction_id = "t";
  record.request.legs.resize(1);
  record.request.receiving_asset = *AssetCode::parse("EURC");
  record.receiving_amount = Amount::from_units(90'000'000);
  record.receiving_decimals = 7;
  record.path = "USDC EURC";
  record.status = PaymentStatus::succeeded;
  record.version = 3;
  record.processing_at = Timestamp{1};
  record.completed_at = Timestamp{2};
  const Json before = record_json(as_of(record, 2), Environment::sandbox);
  CHECK(before.at("receivingAssetCode") == "EURC");
  CHECK_FALSE(before.contains("receivingAmount"));
  CHECK_FALSE(before.contains("path"));
  CHECK(record_json(as_of(record, 3), Environment::sandbox).at("receivingAmount") == "9.00");
}

TEST_CASE("an unpaid on-ramp expires without a failure") {
  store::PaymentRecord record;
  record.request.type = PaymentType::onramp;
  record.request.legs.resize(1);
  record.status = PaymentStatus::expired;
  record.version = 3;
  record.processing_at = Timestamp{1};
  record.completed_at = Timestamp{2};
  const Json expired = record_json(record, Environment::sandbox);
  CHECK(expired.at("statusHistory").back().at("status") == "expired");
  CHECK(record_json(as_of(record, 2), Environment::sandbox).at("status") == "processing");
}
