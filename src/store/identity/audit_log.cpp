#include "store/identity/audit_log.h"

#include "base/check.h"
#include "store/file/chain_keys.h"
#include "store/rows/columns.h"
#include "store/rows/key_walk.h"
#include "store/rows/sealed_totals.h"

namespace coffer::store {
namespace {

constexpr const char* kLastEntry = "SELECT entry, link FROM audit_log ORDER BY entry DESC LIMIT 1";
constexpr const char* kInsertAuditEntry =
    "INSERT INTO audit_log (entry, at, actor, command, detail, outcome_of, outcome, link)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
/// An entry in the form that verification reads.
struct StoredEntry {
  std::int64_t entry = 0;
  Timestamp at;
  NewAuditEntry content;
  std::string link;
};
constexpr Column<StoredEntry> kStoredColumns[] = {
    joined<&StoredEntry::entry>("entry"),
    joined<&StoredEntry::at>("at"),
    joined<&StoredEntry::content, &NewAuditEntry::actor>("actor"),
    joined<&StoredEntry::content, &NewAuditEntry::command>("command"),
    joined<&StoredEntry::content, &NewAuditEntry::detail>("detail"),
    joined<&StoredEntry::content, &NewAuditEntry::outcome_of>("outcome_of"),
    joined<&StoredEntry::content, &NewAuditEntry::outcome>("outcome"),
    joined_blob<&StoredEntry::link>("link"),
};
const std::string kEntriesAfter =
    select(kStoredColumns) + " FROM audit_log WHERE entry > ? ORDER BY entry LIMIT ?";
constexpr KeyIndex kAuditLog = COFFER_KEY_INDEX("entry", "audit_log", "outcome_of IS NULL");
constexpr Column<AuditEntryView> kEntryColumns[] = {
    joined<&AuditEntryView::entry>("a.entry"),   joined<&AuditEntryView::at>("a.at"),
    joined<&AuditEntryView::actor>("a.actor"),   joined<&AuditEntryView::command>("a.command"),
    joined<&AuditEntryView::detail>("a.detail"), joined<&AuditEntryView::outcome>("o.outcome"),
    joined<&AuditEntryView::result>("o.detail"),
};
const std::string kView =
    select(kEntryColumns) +
    " FROM audit_log a LEFT JOIN audit_log o ON o.outcome_of = a.entry WHERE a.entry = ?";

std::string canonical(std::int64_t entry, Timestamp at, const NewAuditEntry& row) {
  std::string out = std::to_string(entry) + '|' + std::to_string(at.ms) + '|';
  out += (row.outcome_of ? std::to_string(*row.outcome_of) : "-") + '|';
  out += (row.outcome_of ? row.outcome : "-") + '\n';
  return out + row.actor + '\n' + row.command + '\n' + row.detail + '\n';
}

}  // namespace

std::int64_t append_audit_entry(WriteTx& tx, const NewAuditEntry& row) {
  std::int64_t entry = 1;
  std::string link = genesis_link();
  if (Query last(tx.db(), kLastEntry); last.step()) {
    entry = last.integer(0) + 1;
    link = last.blob(1);
  }
  const ChainKeys* keys = keys_of(tx.db());
  COFFER_CHECK(keys != nullptr);
  // The total of the log is its last entry and that entry's link. After a change by another
  // program, the total is not updated, so that verification finds the change.
  const bool continues = total_to_change(tx.db(), kAuditTotal) == SealedTotal{entry - 1, link};
  link = as_text(keys->audit.of(link, canonical(entry, tx.now(), row)));
  tx.db().run(kInsertAuditEntry, entry, tx.now(), row.actor, row.command, row.detail,
              row.outcome_of, row.outcome_of ? std::optional(row.outcome) : std::nullopt,
              Blob{link});
  if (continues) write_total(tx.db(), kAuditTotal, {entry, link});
  return entry;
}

RowPage<AuditEntryView> list_audit_entries(Connection& db, const AuditFilter& filter,
                                           const PageAt& page) {
  KeyWalk walk(db, page);
  const auto fits = [&](std::int64_t entry) {
    Query q(db, "SELECT actor, command FROM audit_log WHERE entry = ?", entry);
    COFFER_CHECK(q.step());
    return (!filter.actor || *filter.actor == q.text(0)) &&
           (!filter.command || *filter.command == q.text(1));
  };
  return walk.rows({{walk.along(kAuditLog)}}, fits, [&](std::int64_t entry) {
    return only_row<AuditEntryView>(db, kView, kEntryColumns, entry);
  });
}

ChainPiece follow_audit_log(Connection& db, ChainPosition& from, std::int64_t limit) {
  ChainPiece out;
  const ChainKeys* keys = keys_of(db);
  Query query(db, kEntriesAfter.c_str(), from.row == 0 ? INT64_MIN : from.row, limit);
  for (; query.step(); ++out.rows) {
    const auto [entry, at, content, stored] = read_row<StoredEntry>(query, kStoredColumns);
    if (entry != from.row + 1) {
      out.fault = "audit entry " + std::to_string(from.row + 1) + " is missing";
      return out;
    }
    const std::string text = canonical(entry, at, content);
    from = {entry, keys ? std::string(as_text(keys->audit.of(from.link, text))) : stored};
    if (from.link == stored) continue;
    out.fault = "audit entry " + std::to_string(entry) + " does not continue the chain";
    return out;
  }
  out.end = out.rows < limit;
  if (!out.end) return out;
  const std::int64_t newest = first_integer(db, kLastEntry).value_or(0);
  out.fault = newest == from.row ? total_fault(db, kAuditTotal, {from.row, from.link})
                                 : "audit entry " + std::to_string(newest + 1) + " is missing";
  return out;
}

std::string verify_audit_log(Connection& db) {
  ChainPosition from;
  return follow_audit_log(db, from, INT64_MAX).fault;
}

}  // namespace coffer::store
