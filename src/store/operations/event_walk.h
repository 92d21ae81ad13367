// The events of each tenant, followed in their order across many snapshots.
//
// Sequences have no gap, the first events of a tenant's payments are in the order of the payments,
// and a payment of version n has one event of each version up to n, with the endings that its
// status says. Events never change, so what was followed is remembered; so are payments that are
// not final yet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "store/connection.h"

namespace coffer::store {

/// One thread.
class EventWalk {
 public:
  /// Called with the name of an invariant and what breaks it.
  using Report = std::function<void(std::string_view, std::string)>;
  /// At most about `limit` rows on `db`, which is inside a read transaction; adds their number to
  /// `rows`. False: the round is over, and the next call begins another.
  bool step(Connection& db, std::int64_t limit, std::int64_t& rows, const Report& report);

 private:
  struct Told {  // the events of one payment so far
    std::int64_t version = 0;
    int endings = 0;         // those that end the payment or its refund
    int failed_refunds = 0;  // of these
  };
  struct Place {  // of one tenant
    std::int64_t sequence = 0;
    std::int64_t payment = 0;           // the newest whose first event was seen
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
  std::int64_t compared_ = 0;  // open payments of the tenant up to this one, in this round
};

}  // namespace coffer::store
