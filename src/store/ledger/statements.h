// Statement lines: the entries of one account over a range of time, as its owner reads them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "domain/identity/tenant.h"
#include "domain/ledger/statement.h"
#include "store/connection.h"
#include "store/ledger/journal.h"

namespace coffer::store {

/// A range of entry numbers: the range of time it stands for, found once and then stable, because
/// times never go back along the journal.
struct EntryRange {
  std::int64_t from = 0;  // inclusive
  std::int64_t to = 0;    // exclusive
};

EntryRange entries_between(Connection& db, Timestamp start, Timestamp end);
/// Balance after the last entry before `entry`; zero when there is none.
Amount balance_before(Connection& db, AccountKey account, std::int64_t entry);
/// Oldest first, at most `limit`. A page continues with `from` = entry of the last line + 1.
std::vector<StatementLine> statement_lines(Connection& db, const Tenant& tenant, AccountKey account,
                                           const EntryRange& range, int limit);
/// Newest first. A page continues with `to` = entry of the last line.
std::vector<StatementLine> newest_statement_lines(Connection& db, const Tenant& tenant,
                                                  AccountKey account, const EntryRange& range,
                                                  int limit);

}  // namespace coffer::store
