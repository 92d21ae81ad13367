// Statement lines: the entries of one account in a period, for its owner.
#pragma once

#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ledger/statement.h"
#include "store/file/connection.h"
#include "store/ledger/journal.h"

namespace coffer::store {

/// The range of entry numbers that corresponds to a period. It is determined once and stays valid,
/// because times never decrease along the journal.
struct EntryRange {
  std::int64_t from = 0;  // inclusive
  std::int64_t to = 0;    // exclusive
};

EntryRange entries_between(Connection& db, Timestamp start, Timestamp end);
/// Balance after the last entry before `entry`; zero without earlier entries.
Amount balance_before(Connection& db, AccountKey account, std::int64_t entry);
/// Oldest first, at most `limit`. For the next page, set `from` to the entry of the last line + 1.
std::vector<StatementLine> statement_lines(Connection& db, const Tenant& tenant, AccountKey account,
                                           const EntryRange& range, int limit);
/// Newest first. For the next page, set `to` to the entry of the last line.
std::vector<StatementLine> newest_statement_lines(Connection& db, const Tenant& tenant,
                                                  AccountKey account, const EntryRange& range,
                                                  int limit);

}  // namespace coffer::store
