// What waits to be done, as the file says: for /metrics and the overview.
//
// Every query is a seek or a count that ends at kCountMax: it costs milliseconds, however many
// payments there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/connection.h"
#include "store/operations/copies.h"

namespace coffer::store {

/// Counts beyond it show as it.
constexpr std::int64_t kCountMax = 20'000;

struct Waiting {
  std::int64_t count = 0;
  std::optional<Timestamp> due;      // of the one that has waited longest for its turn
  std::optional<Timestamp> created;  // of the oldest record among them, where that is known
};

/// A connector by the names that people know it by.
struct ConnectorLabel {
  std::int64_t key = 0;
  std::string id;
  std::string name;
  bool production = false;
  bool calls_out = false;
  bool paused = false;
};

struct Backlog {
  Waiting settlement;
  Waiting providers;
  Waiting deliveries;  // of active endpoints
  Waiting notifications;
  Waiting reviews;                            // of wallets
  std::optional<Timestamp> oldest_unsettled;  // accepted, and not at an end
  std::int64_t notifications_failed = 0;
  std::int64_t dead_letters = 0;
  std::int64_t events_behind = 0;       // sum over active endpoints of events not looked at yet
  std::int64_t endpoints = 0;           // active
  std::int64_t endpoints_failing = 0;   // active, and their last attempt failed
  std::int64_t endpoints_disabled = 0;  // because they said that they are gone
  std::int64_t audit_records = 0;
  std::vector<ConnectorLabel> connectors;
  std::optional<BackupRecord> last_backup;
};
Backlog read_backlog(Connection& db);

}  // namespace coffer::store
