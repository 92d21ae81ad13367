// Every API test ends with a check of the plans of the writer's statements. This is its control:
// the check must detect a scan.
#include "support/writer_plans.h"

#include <catch2/catch.hpp>

#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

TEST_CASE("a writer statement that scans a growing table is detected") {
  TestApp app;
  const auto ran = [&](const char* sql) {
    app.core()
        .queue()
        .run([&](store::WriteTx& tx) -> Result<void> {
          store::Query(tx.db(), tx.db().interned(sql)).run();
          return {};
        })
        .value();
    return writer_scans(app.core().queue());
  };
  CHECK(ran("SELECT count(*) FROM payments p WHERE p.memo = 'x'").size() == 1);
  CHECK(ran("SELECT count(*) FROM webhooks w JOIN events e ON e.at > w.created_at").size() == 2);
  CHECK(ran("UPDATE destinations SET label = 'x' WHERE archived_at = 5").size() == 1);
  CHECK(ran("SELECT name FROM assets").empty());
  CHECK(ran("SELECT id FROM payments WHERE payment = 1").empty());
  CHECK(ran("SELECT at FROM journal ORDER BY journal DESC LIMIT 1").empty());
}
