// The payments in progress, in the memory of the writer.
//
// A payment in progress is executed only if it is in this list with its version, so an older
// version of a payment that has ended, or made progress, is not executed again. The list is read
// from the file at the start, and compared with the seal of the ledger
// (store/payments/payment_seal.h).
//
// Of the payments that this process accepted last, it also has all that settlement needs, so
// settlement does not read them from the file and check their digests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/file/connection.h"
#include "store/payments/payment_seal.h"

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

  /// Keeps a payment that was just accepted until it changes. Call it after set().
  void remember(SettlementView payment);
  /// Removes and returns it, if it is to be settled at this time; nullopt: read it from the file.
  std::optional<SettlementView> take(const SettlementJob& job);

  std::int64_t count() const { return static_cast<std::int64_t>(versions_.size()); }
  std::int64_t versions() const { return sum_; }

  void begin_command() { undo_.clear(); }
  void roll_back_command();

 private:
  static constexpr std::size_t kRememberedMax = 4096;

  void put(std::int64_t payment, std::int64_t version);  // 0: removes it

  std::unordered_map<std::int64_t, SettlementView> accepted_;
  std::unordered_map<std::int64_t, std::int64_t> versions_;
  std::int64_t sum_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> undo_;  // payment and its version before, or 0
};

}  // namespace coffer::store
