#include "store/file/chain_keys.h"

#include <utility>

#include "store/file/connection.h"

namespace coffer::store {
namespace {

constexpr const char* kUnwritten =
    "SELECT (SELECT max(journal) FROM journal) IS NULL AND (SELECT max(entry) FROM audit_log)"
    " IS NULL AND (SELECT min(source) FROM row_macs) IS NULL";

struct Head {
  std::int64_t row = 0;
  std::string link = std::string(32, '\0');
};
constexpr const char* kJournalHead =
    "SELECT journal, link FROM journal ORDER BY journal DESC LIMIT 1";
constexpr const char* kAuditHead = "SELECT entry, link FROM audit_log ORDER BY entry DESC LIMIT 1";
constexpr const char* kJournalLink = "SELECT journal, link FROM journal WHERE journal = ?";
constexpr const char* kAuditLink = "SELECT entry, link FROM audit_log WHERE entry = ?";

Head head_of(Query&& query) {
  return query.step() ? Head{query.integer(0), query.blob(1)} : Head();
}

std::string mismatch(std::string_view chain, const Head& now, const Head& there, const Head& then) {
  if (then.row == 0) return {};
  const std::string had =
      "at the checkpoint, the " + std::string(chain) + " had " + std::to_string(then.row) + " rows";
  if (now.row < then.row) return had + ", and the file has " + std::to_string(now.row);
  return there.link == then.link ? "" : had + ", and their content differs from the file";
}

}  // namespace

void use_keys(Connection& db, std::unique_ptr<const ChainKeys> keys) { db.attach(std::move(keys)); }

const ChainKeys* keys_of(Connection& db) { return db.attached<const ChainKeys>(); }

ChainHeads chain_heads(Connection& db) {
  const Head journal = head_of(Query(db, kJournalHead));
  const Head audit = head_of(Query(db, kAuditHead));
  return {journal.row, journal.link, audit.row, audit.link};
}

std::string mismatch_with(Connection& db, const ChainHeads& heads) {
  const std::string journal = mismatch("journal", head_of(Query(db, kJournalHead)),
                                       head_of(Query(db, kJournalLink, heads.entry_sets)),
                                       {heads.entry_sets, heads.journal});
  if (!journal.empty()) return journal;
  return mismatch("audit log", head_of(Query(db, kAuditHead)),
                  head_of(Query(db, kAuditLink, heads.audit_entries)),
                  {heads.audit_entries, heads.audit});
}

bool is_unwritten(Connection& db) {
  Query query(db, kUnwritten);
  return query.step() && query.boolean(0);
}

}  // namespace coffer::store
