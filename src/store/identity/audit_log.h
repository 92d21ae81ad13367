// The audit log of actions on the admin page and the command line. Rows are only appended. Triggers
// of the schema reject other changes, and a hash chain reveals changes that bypass the triggers.
//
// Chain: link(n) = HMAC-SHA256(audit key, link(n-1) || canonical text of row n), link(0) = 32 zero
// bytes; on a connection without keys (store/file/chain_keys.h), links are not compared. The
// canonical text is `act|at|outcome_of or -|outcome or -` and a line feed, followed by actor,
// command and detail, each with a line feed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "store/commits/write_tx.h"
#include "store/rows/page.h"
#include "store/rows/sealed_totals.h"

namespace coffer::store {

struct NewAuditEntry {
  std::string actor;
  std::string command;  // path in the table of commands
  std::string detail;   // JSON on one line
  std::optional<std::int64_t> outcome_of;
  std::string outcome = {};  // set together with outcome_of
};

/// Returns the row key.
std::int64_t append_audit_entry(WriteTx& tx, const NewAuditEntry& entry);

/// An audit entry with its result.
struct AuditEntryView {
  std::int64_t entry = 0;
  Timestamp at;
  std::string actor;
  std::string command;
  std::string detail;
  std::optional<std::string> outcome;  // empty: in progress, or interrupted by a crash
  std::optional<std::string> result;
};

struct AuditFilter {
  std::optional<std::string> actor;
  std::optional<std::string> command;
};

/// Newest first.
RowPage<AuditEntryView> list_audit_entries(Connection& db, const AuditFilter& filter,
                                           const PageAt& page);

/// Verifies at most `limit` rows of the chain from this position, and advances it.
ChainPiece follow_audit_log(Connection& db, ChainPosition& from, std::int64_t limit);
/// Verifies the whole chain; returns a sentence about the first invalid row, or an empty text.
std::string verify_audit_log(Connection& db);

}  // namespace coffer::store
