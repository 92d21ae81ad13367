// The audit log: what was done to coffer from the admin page or the command line. Rows are only
// ever added; triggers of the schema refuse everything else, and a chain shows it when somebody
// goes round.
//
// Chain: link(n) = SHA-256(link(n-1) || canonical text of row n), link(0) = 32 zero bytes. The
// canonical text is `act|at|outcome_of or -|outcome or -`, a line feed, then actor, command and
// detail, each with a line feed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/ledger/journal.h"
#include "store/lists/page.h"
#include "store/write_tx.h"

namespace coffer::store {

struct NewAuditEntry {
  std::string actor;
  std::string command;  // its path in the table of commands
  std::string detail;   // JSON on one line
  std::optional<std::int64_t> outcome_of;
  std::string outcome = {};  // with outcome_of
};

/// Returns its key.
std::int64_t append_audit_entry(WriteTx& tx, const NewAuditEntry& entry);

/// An act with what came of it.
struct AuditEntryView {
  std::int64_t entry = 0;
  Timestamp at;
  std::string actor;
  std::string command;
  std::string detail;
  std::optional<std::string> outcome;  // none: under way, or cut off by a crash
  std::optional<std::string> result;
};

struct AuditFilter {
  std::optional<std::string> actor;
  std::optional<std::string> command;
  std::optional<std::int64_t> before;  // acts older than this one
  int limit = 50;
};

/// Newest first.
RowPage<AuditEntryView> list_audit_entries(Connection& db, const AuditFilter& filter);

/// Follows the chain for at most `limit` rows, and moves the position.
ChainPiece follow_audit_log(Connection& db, ChainPosition& from, std::int64_t limit);
/// The whole chain; a sentence naming the first row that does not fit, or empty.
std::string verify_audit_log(Connection& db);

}  // namespace coffer::store
