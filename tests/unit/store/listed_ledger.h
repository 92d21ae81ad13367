// A ledger with payments of several types, statuses and references, and their expected list.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "unit/store/ledger_fixture.h"

namespace coffer::store::test {

using Keys = std::vector<std::int64_t>;

class ListedLedger : public SmallLedger {
 public:
  using Fits = std::function<bool(const PaymentRecord&)>;

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
      if (i % 6 == 2) request.legs[0].refs.to_ref = "REF-T";
      if (i % 8 == 7) {
        request.type = PaymentType::p2p_own_multi;
        request.legs.push_back(transfer("", 7, true).legs[0]);
        request.legs.back().refs.to_ref = "REF-LEG";
      }
      keys.push_back(pay(request));
    }
    // In another order than accepted, and several in one commit.
    for (int last = 24; last >= 0; last -= 4) settle_some(std::max(0, last - 3), last);
    records = read([&](Connection& db) {
      std::vector<PaymentRecord> out;
      for (const std::int64_t key : keys) out.push_back(*find_payment_by_key(db, key));
      return out;
    });
  }

  /// The matches, newest first.
  Keys expected(const Fits& fits) const {
    Keys out;
    for (auto at = records.rbegin(); at != records.rend(); ++at) {
      if (fits(*at)) out.push_back(at->key);
    }
    return out;
  }
  /// The matches; those that changed last first.
  Keys expected_by_change(const Fits& fits) const {
    Keys out = expected(fits);
    std::ranges::stable_sort(out, std::greater<>(), [&](std::int64_t key) {
      const auto at = std::ranges::find(settled_, key);
      return at == settled_.end() ? -1 : at - settled_.begin();
    });
    return out;
  }

  Keys keys;
  std::vector<PaymentRecord> records;

 private:
  void settle_some(int first_number, int last_number) {
    clock.advance_ms(1'000);
    write([&](WriteTx& tx) -> Result<void> {
      for (int i = first_number; i <= last_number; ++i) {
        const std::int64_t key = keys[static_cast<std::size_t>(i)];
        settle(tx, key, i % 5 == 0 ? std::optional(FailureCode::expired) : std::nullopt);
        settled_.push_back(key);
      }
      return {};
    }).value();
  }

  Keys settled_;  // in the order of settlement
};

}  // namespace coffer::store::test
