#include "support/query_watch.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "base/mutex.h"

namespace coffer::test {
namespace {

Mutex mutex;
std::map<std::string, std::int64_t> statements COFFER_GUARDED_BY(mutex);

int on_end(unsigned, void*, void* statement, void*) {
  auto* const handle = static_cast<sqlite3_stmt*>(statement);
  const Lock lock(mutex);
  statements[sqlite3_sql(handle)] += sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 1);
  return 0;
}

int on_open(sqlite3* handle, char**, const void*) {
  return sqlite3_trace_v2(handle, SQLITE_TRACE_PROFILE, on_end, nullptr);
}

using Extension = void (*)();

}  // namespace

QueryWatch::QueryWatch() { sqlite3_auto_extension(reinterpret_cast<Extension>(on_open)); }

QueryWatch::~QueryWatch() { sqlite3_cancel_auto_extension(reinterpret_cast<Extension>(on_open)); }

std::map<std::string, std::int64_t> QueryWatch::take() {
  const Lock lock(mutex);
  return std::exchange(statements, {});
}

std::int64_t steps_of(const std::map<std::string, std::int64_t>& all) {
  std::int64_t out = 0;
  for (const auto& [sql, steps] : all) out += steps;
  return out;
}

std::vector<std::string> plan_faults(store::Connection& db, const std::string& sql,
                                     const std::vector<std::string>& small) {
  std::vector<std::string> out;
  if (!sql.starts_with("SELECT") && !sql.starts_with("WITH")) return out;
  store::Query plan(db, db.interned("EXPLAIN QUERY PLAN " + sql));
  while (plan.step()) {
    const std::string step = plan.text(3);
    if (step.find("TEMP B-TREE") != std::string::npos) out.push_back(step);
    if (!step.starts_with("SCAN ") || step.starts_with("SCAN CONSTANT")) continue;
    const std::string what = step.substr(5, step.find(' ', 5) - 5);
    if (std::find(small.begin(), small.end(), what) == small.end()) out.push_back(step);
  }
  return out;
}

}  // namespace coffer::test
