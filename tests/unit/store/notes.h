// The smallest change: a row of `meta`, which is neither an entry nor an event.
#pragma once

#include <string>

#include "store/ledger/catalog.h"
#include "unit/store/ledger_fixture.h"

namespace coffer::store::test {

inline CommitQueue::Command note(const std::string& name) {
  return [name](WriteTx& tx) -> Result<void> {
    write_meta(tx, name, "x");
    return {};
  };
}

/// Number of stored notes, whose names begin with `note`.
inline std::int64_t notes(OpenedFile& file) {
  return file.read([](Connection& db) {
    return number(db, "SELECT count(*) FROM meta WHERE name LIKE 'note%'");
  });
}

}  // namespace coffer::store::test
