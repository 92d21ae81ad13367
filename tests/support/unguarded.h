// Edits of a file that its guard triggers reject, as another program could make them.
#pragma once

#include <string>
#include <vector>

#include "store/file/connection.h"

namespace coffer::test {

/// Runs `sql` without the triggers of the schema, foreign keys and checks. Afterwards, the schema
/// is the same as before.
inline void change_unguarded(store::Connection& db, const std::string& sql) {
  std::vector<std::string> dropped;
  std::string create;
  {
    store::Query triggers(db, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
    while (triggers.step()) {
      dropped.push_back("DROP TRIGGER " + triggers.text(0));
      create += triggers.text(1) + ";";
    }
  }
  db.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON");
  for (const std::string& drop : dropped) db.execute(drop);
  db.execute(sql);
  db.execute(create + "PRAGMA ignore_check_constraints = OFF");
}

}  // namespace coffer::test
