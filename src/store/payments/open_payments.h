// The payments in progress, in the memory of the writer.
//
// A payment in progress is executed only if it is in this list with its version, so an older
// version of a payment that has ended, or made progress, is not executed again. The list is read
// from the file at the start, and compared with the seal of the ledger
// (store/payments/payment_seal.h).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/connection.h"

namespace coffer::store {

class OpenPayments {
 public:
  /// Replaces the content with that of the file.
  void load(Connection& writer);
  /// `version`: of the payment, and the revision of its provider part.
  void set(std::int64_t payment, std::int64_t version);
  void remove(std::int64_t payment);
  bool contains(std::int64_t payment) const { return versions_.contains(payment); }
  bool contains(std::int64_t payment, std::int64_t version) const;
  /// Adds to the version of a payment, if it is in the list.
  void advance(std::int64_t payment, std::int64_t by);
  void clear();

  std::int64_t count() const { return static_cast<std::int64_t>(versions_.size()); }
  std::int64_t versions() const { return sum_; }

  void begin_command() { undo_.clear(); }
  void roll_back_command();

 private:
  void put(std::int64_t payment, std::int64_t version);  // 0: removes it

  std::unordered_map<std::int64_t, std::int64_t> versions_;
  std::int64_t sum_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> undo_;  // payment and its version before, or 0
};

}  // namespace coffer::store
