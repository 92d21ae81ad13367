// Pending work in the file, for /metrics and the overview.
//
// Every query is a lookup or a count that ends at kCountMax, so it takes milliseconds for any
// number of payments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/providers/connector.h"
#include "store/file/connection.h"
#include "store/operations/copies.h"

namespace coffer::store {

/// Larger counts are reported as this value.
constexpr std::int64_t kCountMax = 20'000;

struct Waiting {
  std::int64_t count = 0;
  std::optional<Timestamp> due;      // due time of the one that has been due for longest
  std::optional<Timestamp> created;  // of the oldest record among them, if known
};

/// The names by which people identify a connector.
struct ConnectorLabel {
  std::int64_t key = 0;
  ConnectorId id;
  std::string name;
  Environment environment = Environment::sandbox;
  DriverKind driver = DriverKind::sandbox;
  ConnectorStatus status = ConnectorStatus::active;

  bool is_paused() const { return status == ConnectorStatus::paused; }
};

struct Backlog {
  Waiting settlement;
  Waiting providers;
  Waiting deliveries;  // deliveries of active endpoints
  Waiting notifications;
  Waiting reviews;                            // wallet reviews
  std::optional<Timestamp> oldest_unsettled;  // accepted, but not in a final status
  std::int64_t notifications_failed = 0;
  std::int64_t dead_letters = 0;
  std::int64_t events_behind = 0;  // number of events that active endpoints have not processed yet
  std::int64_t endpoints = 0;      // active
  std::int64_t endpoints_failing = 0;   // active endpoints whose last attempt failed
  std::int64_t endpoints_disabled = 0;  // disabled because they responded that they are gone
  std::int64_t audit_records = 0;
  std::vector<ConnectorLabel> connectors;
  std::optional<BackupRecord> last_backup;
};
Backlog read_backlog(Connection& db);
/// Payments accepted before this time that have no final status, up to 10,000.
std::int64_t payments_in_progress_since(Connection& db, Timestamp before);

}  // namespace coffer::store
