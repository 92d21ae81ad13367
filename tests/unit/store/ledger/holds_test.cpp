// Holds: stored as rows for a multi-transfer, and derived from the record for any other payment.
#include "base/check.h"
#include "store/ledger/journal.h"
#include "store/payments/payments.h"
#include "unit/store/ledger_fixture.h"

using namespace coffer;
using namespace coffer::store;
using namespace coffer::store::test;

namespace {

/// 30 there and 10 back, so 30 are held.
PaymentRequest there_and_back(const SmallLedger& ledger, const std::string& transaction_id) {
  PaymentRequest out = ledger.transfer(transaction_id, 30);
  out.type = PaymentType::p2p_own_multi;
  out.legs.push_back(ledger.transfer(transaction_id, 10, true).legs.front());
  return out;
}

void settle(SmallLedger& ledger, std::int64_t payment,
            std::optional<FailureCode> failure = std::nullopt) {
  REQUIRE(ledger.write([&](WriteTx& tx) -> Result<void> {
    ledger.settle(tx, payment, failure);
    return {};
  }));
}

Result<void> close(SmallLedger& ledger, std::int64_t payment, HoldState state) {
  return ledger.write([&](WriteTx& tx) -> Result<void> {
    close_holds(tx, settlement_view(tx.db(), payment), state);
    return {};
  });
}

std::string holds(SmallLedger& ledger) {
  return ledger.value(
      "SELECT group_concat(payment || ' ' || amount || ' ' || state, ', ') FROM"
      " (SELECT * FROM payment_holds ORDER BY payment)");
}

}  // namespace

TEST_CASE("holds: only a multi-transfer stores a row, and the view shows all holds alike") {
  SmallLedger ledger;
  ledger.pay(ledger.transfer("one leg", 7));
  ledger.pay(there_and_back(ledger, "two legs"));
  CHECK(ledger.value("SELECT group_concat(payment || ' ' || amount) FROM holds") == "2 30");
  CHECK(holds(ledger) == "1 7 0, 2 30 0");
  CHECK(ledger.value("SELECT count(DISTINCT account) FROM payment_holds") == "1");
  CHECK(ledger.balance(ledger.first, "held") == 37);
  CHECK(ledger.verify().empty());
  settle(ledger, 1);
  CHECK(holds(ledger) == "1 7 1, 2 30 0");
  CHECK(ledger.balance(ledger.first, "held") == 30);
  CHECK(ledger.verify().empty());
  settle(ledger, 2, FailureCode::compliance_rejected);
  CHECK(holds(ledger) == "1 7 1, 2 30 2");
  CHECK(ledger.balance(ledger.first, "held") == 0);
  CHECK(ledger.balance(ledger.first) == 10'000'000'000 - 7);
  CHECK(ledger.verify().empty());
}

TEST_CASE("holds: each is closed once") {
  SmallLedger ledger;
  const std::int64_t settled = ledger.pay_and_settle(ledger.transfer("settled", 5));
  const std::int64_t failed = ledger.pay(ledger.transfer("failed", 5));
  settle(ledger, failed, FailureCode::compliance_rejected);
  const std::int64_t legs = ledger.pay_and_settle(there_and_back(ledger, "legs"));
  // Another open hold on the account, which must not be released in their place.
  const std::int64_t open = ledger.pay(ledger.transfer("open", 100));
  for (const std::int64_t payment : {settled, failed, legs}) {
    CHECK_FALSE(close(ledger, payment, HoldState::posted));
    CHECK_FALSE(close(ledger, payment, HoldState::voided));
  }
  CHECK_FALSE(close(ledger, open, HoldState::open));
  CHECK_FALSE(close(ledger, 999, HoldState::posted));
  CHECK(ledger.balance(ledger.first, "held") == 100);
  CHECK(ledger.verify().empty());
}
