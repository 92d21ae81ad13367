#include "support/writer_plans.h"

#include <algorithm>
#include <array>
#include <regex>
#include <set>

#include "base/mutex.h"

namespace coffer::test {
namespace {

/// Tables with rows that the operator registers, or with at most one row per active webhook.
constexpr std::array<std::string_view, 21> kSmall{"sqlite_master",
                                                  "sqlite_schema",
                                                  "meta",
                                                  "associations",
                                                  "tenants",
                                                  "applications",
                                                  "operators",
                                                  "operator_links",
                                                  "approvals",
                                                  "assets",
                                                  "rates",
                                                  "connectors",
                                                  "connector_endpoints",
                                                  "connector_requirements",
                                                  "connector_choices",
                                                  "fee_rows",
                                                  "webhook_types",
                                                  "webhook_recoveries",
                                                  "quota_use",
                                                  "quota_limits",
                                                  "payment_limits"};

/// The table of an alias in the statement, or the name itself.
std::string table_of(const std::string& sql, const std::string& name) {
  const std::regex named(R"((?:FROM|JOIN|,)\s+(\w+)\s+(?:AS\s+)?)" + name + R"(\b)");
  std::smatch found;
  return std::regex_search(sql, found, named) ? found[1].str() : name;
}

bool ends_at_first_row(const std::string& sql) { return sql.find("LIMIT 1") != std::string::npos; }

std::vector<std::string> scans_of(store::Connection& db, const std::string& sql) {
  std::vector<std::string> out;
  store::Query plan(db, db.interned("EXPLAIN QUERY PLAN " + sql));
  while (plan.step()) {
    const std::string step = plan.text(3);
    static const std::regex kScan(R"(^SCAN (\w+)( USING .*)?$)");
    std::smatch found;
    if (!std::regex_match(step, found, kScan)) continue;
    const std::string table = table_of(sql, found[1].str());
    const bool small = std::find(kSmall.begin(), kSmall.end(), table) != kSmall.end();
    if (!small && !ends_at_first_row(sql)) out.push_back(step + " in " + sql);
  }
  return out;
}

bool is_planned(const std::string& sql) {
  return sql.starts_with("SELECT") || sql.starts_with("INSERT") || sql.starts_with("UPDATE") ||
         sql.starts_with("DELETE") || sql.starts_with("WITH");
}

}  // namespace

std::vector<std::string> writer_scans(store::CommitQueue& queue) {
  // A plan depends only on the schema, so each statement is explained once per process.
  static Mutex mutex;
  static std::set<std::string> known;
  const Lock lock(mutex);
  std::vector<std::string> out;
  static_cast<void>(queue.run([&](store::WriteTx& tx) -> Result<void> {
    for (const std::string& sql : tx.db().statement_texts()) {
      if (!is_planned(sql) || !known.insert(sql).second) continue;
      const auto scans = scans_of(tx.db(), sql);
      out.insert(out.end(), scans.begin(), scans.end());
    }
    return {};
  }));
  return out;
}

}  // namespace coffer::test
