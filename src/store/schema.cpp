#include "store/schema.h"

#include "base/log.h"
#include "embedded/embedded.h"
#include "store/database.h"

namespace coffer::store {
namespace {

int pragma_value(Connection& db, const char* sql) {
  Query query(db, sql);
  return query.step() ? static_cast<int>(query.integer(0)) : 0;
}

constexpr const char* kUserVersion = "PRAGMA user_version";
constexpr const char* kApplicationIdPragma = "PRAGMA application_id";
constexpr const char* kTableCount = "SELECT count(*) FROM sqlite_schema";

/// One step in one transaction; the version moves with it.
void apply(Connection& writer, std::string_view sql, int version) {
  writer.execute("BEGIN IMMEDIATE");
  try {
    writer.execute(std::string(sql));
    writer.execute("PRAGMA application_id=" + std::to_string(kApplicationId));
    writer.execute("PRAGMA user_version=" + std::to_string(version));
    writer.execute("COMMIT");
  } catch (...) {
    if (!writer.autocommit()) writer.execute("ROLLBACK");
    throw;
  }
}

}  // namespace

int schema_version() { return 1 + static_cast<int>(embedded::upgrades().size()); }

OpenError bring_schema_up_to_date(Connection& writer, const std::string& path) {
  if (pragma_value(writer, kTableCount) == 0) {
    apply(writer, embedded::schema_sql(), schema_version());
    return {};
  }
  if (pragma_value(writer, kApplicationIdPragma) != kApplicationId) {
    return {OpenFault::corrupt, path + " is a SQLite file of another program; choose another --db."};
  }
  const int found = pragma_value(writer, kUserVersion);
  if (found > schema_version()) {
    return {OpenFault::newer_schema,
            path + " was written by a newer coffer (schema " + std::to_string(found) + ", this one speaks " +
                std::to_string(schema_version()) +
                "). Install that version again, or restore the backup made before the upgrade."};
  }
  for (int version = found; version < schema_version(); ++version) {
    const embedded::File& step = embedded::upgrades()[static_cast<std::size_t>(version - 1)];
    log_info("store", "upgrading the schema", {{"file", step.path}, {"to", version + 1}});
    apply(writer, step.content, version + 1);
  }
  return {};
}

}  // namespace coffer::store
