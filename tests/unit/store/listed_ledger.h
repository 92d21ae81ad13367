// A ledger with payments of several types, statuses and references, and their expected list.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "unit/store/ledger_fixture.h"

namespace coffer::store::test {

using Keys = std::vector<std::int64_t>;

class ListedLedger : public SmallLedger {
 public:
  /// Adds transfers in one commit.
  void pay_many(int count) {
    write([&](WriteTx& tx) -> Result<void> {
      for (int i = 0; i < count; ++i) accept(tx, transfer("u" + std::to_string(i), 1));
      return {};
    }).value();
  }

  ListedLedger() {
    for (int i = 0; i < 30; ++i) {
      clock.advance_ms(60'000);
      PaymentRequest request = transfer("t" + std::to_string(i), 100 + i, i % 3 == 0);
      if (i % 4 == 1) request.legs[0].refs.from_ref = "REF-F";
      if (i % 8 == 7) {
        request.type = PaymentType::p2p_own_multi;
        request.legs.push_back(transfer("", 7, true).legs[0]);
        request.legs.back().refs.to_ref = "REF-LEG";
      }
      keys.push_back(pay(request));
    }
    for (int i = 0; i < 25; ++i) {
      clock.advance_ms(1'000);
      write([&](WriteTx& tx) -> Result<void> {
        settle(tx, keys[static_cast<std::size_t>(i)],
               i % 5 == 0 ? std::optional(FailureCode::expired) : std::nullopt);
        return {};
      }).value();
    }
    records = read([&](Connection& db) {
      std::vector<PaymentRecord> out;
      for (const std::int64_t key : keys) out.push_back(*find_payment_by_key(db, key));
      return out;
    });
  }

  Keys expected(const std::function<bool(const PaymentRecord&)>& fits) const {
    Keys out;
    for (auto at = records.rbegin(); at != records.rend(); ++at) {
      if (fits(*at)) out.push_back(at->key);
    }
    return out;
  }

  Keys keys;
  std::vector<PaymentRecord> records;
};

}  // namespace coffer::store::test
