// Alerts to the operator. messages.h has the messages about them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "domain/operations/alert.h"
#include "store/commits/write_tx.h"
#include "store/rows/page.h"

namespace coffer::store {

struct AlertRow {
  std::int64_t key = 0;
  Uuid id;
  std::int64_t count = 0;  // at the last message
  Timestamp began_at;
  AlertState state;
};

/// The newest alert of each condition.
std::vector<AlertState> newest_alert_states(Connection& db);
/// `watch` inserts a row with this ID. Other steps change the row that is not closed. Creates no
/// messages.
void apply_alert_change(WriteTx& tx, const AlertChange& change, const Uuid& id);
/// Deletes closed alerts with their messages.
void drop_alerts(WriteTx& tx, Timestamp closed_before);
std::int64_t count_open_alerts(Connection& db);

/// Alerts that have opened. `open`: only those that are open, or only those that have ended.
RowPage<AlertRow> newest_alerts(Connection& db, std::optional<bool> open, const PageAt& page);

AlertRow alert_of(Connection& db, std::int64_t key);

}  // namespace coffer::store
