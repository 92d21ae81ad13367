// Verifies the events of each tenant in order, across many snapshots.
//
// Sequences have no gaps, the first events of a tenant's payments are in the order of the payments,
// and a payment of version n has one event of each version up to n, with the final events that its
// status requires. Events never change, so their verified position is remembered, and so are
// payments that are not final yet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "store/file/connection.h"

namespace coffer::store {

/// For one thread.
class EventWalk {
 public:
  /// Called with the name of an invariant and its violation.
  using Report = std::function<void(std::string_view, std::string)>;
  /// Reads at most about `limit` rows on `db`, which is in a read transaction, and adds their
  /// number to `rows`. Returns false at the end of a round; the next call starts another.
  bool step(Connection& db, std::int64_t limit, std::int64_t& rows, const Report& report);

 private:
  struct Told {  // the events of one payment so far
    std::int64_t version = 0;
    int endings = 0;         // events that end the payment or its refund
    int failed_refunds = 0;  // endings that are failed refunds
  };
  struct Place {  // per tenant
    std::int64_t sequence = 0;
    std::int64_t payment = 0;           // the newest payment whose first event was read
    std::map<std::int64_t, Told> open;  // payments that are not final
  };
  struct Event;
  class Unseen;
  bool next_tenant(Connection& db);
  void judge(const Event& event, Unseen& unseen, Place& place, const Report& report);
  void judge_payment(const Event& event, Unseen& unseen, Place& place, const Report& report);
  bool compare_open(Connection& db, std::int64_t limit, Place& place, const Report& report);

  std::unordered_map<std::int64_t, Place> places_;  // by tenant
  std::int64_t tenant_ = 0;
  bool between_tenants_ = true;
  // The last of the tenant's open payments that was compared in this round.
  std::int64_t compared_ = 0;
};

}  // namespace coffer::store
