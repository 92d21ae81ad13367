// Rows that a test writes directly into a served file, with the digests that coffer gives its own.
#pragma once

#include <cstdint>
#include <string>

#include "store/file/connection.h"
#include "support/test_app.h"

namespace coffer::test {

/// Another connection to the file of a running app. With the keys of the file, it gives digests to
/// the guarded rows that it changes. Foreign keys are off, and a commit is not synced.
///
/// The app does not know these rows, and the end of the ledger stays sealed without them. So remove
/// them before the app ends.
class SealedEdits {
 public:
  explicit SealedEdits(const TestApp& app);
  SealedEdits(const SealedEdits&) = delete;
  SealedEdits& operator=(const SealedEdits&) = delete;

  store::Connection& db() { return db_; }
  /// Runs `sql` in one commit. A DELETE needs a WHERE: without, SQLite reports no rows.
  void run(const std::string& sql);
  /// The same without the triggers of the schema (support/unguarded.h).
  void run_unguarded(const std::string& sql);
  /// Gives digests to the payments with a higher key, and to their provider parts.
  void seal_payments_after(std::int64_t last);

 private:
  template <class Change>
  void commit(const Change& change);

  store::Connection db_;
};

}  // namespace coffer::test
