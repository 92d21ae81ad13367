#include "store/schema.h"

#include <sqlite3.h>

#include <filesystem>

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
constexpr const char* kForeignKeyCheck = "PRAGMA foreign_key_check";

/// One step in one transaction; the version moves with it.
void apply(Connection& writer, std::string_view sql, int version) {
  writer.execute("BEGIN IMMEDIATE");
  try {
    writer.execute(std::string(sql));
    if (Query(writer, kForeignKeyCheck).step()) {
      throw SqlError("a row refers to none", SQLITE_CONSTRAINT, SQLITE_CONSTRAINT_FOREIGNKEY);
    }
    writer.execute("PRAGMA application_id=" + std::to_string(kApplicationId));
    writer.execute("PRAGMA user_version=" + std::to_string(version));
    writer.execute("COMMIT");
  } catch (...) {
    if (!writer.autocommit()) writer.execute("ROLLBACK");
    throw;
  }
}

/// Rows that an upgrade cannot cope with are a fault of the file; a full disk is none of it.
OpenError upgrade_fault(const std::string& path, int version, const SqlError& error) {
  if (error.primary_code != SQLITE_CONSTRAINT && error.primary_code != SQLITE_ERROR) throw error;
  return {
      OpenFault::corrupt,
      path + " could not be upgraded to schema " + std::to_string(version) + " (" + error.what() +
          ") and is as it was. Keep the version it was written with, and run its `coffer verify`."};
}

OpenError upgrade(Connection& writer, const std::string& path, int found) {
  if (found == schema_version()) return {};
  // A table that is rebuilt is dropped for a moment, which must not reach the rows that refer to
  // it.
  writer.execute("PRAGMA foreign_keys=OFF");
  OpenError fault;
  for (int version = found + 1; version <= schema_version() && fault.fault == OpenFault::none;
       ++version) {
    const embedded::File& step = embedded::upgrades()[static_cast<std::size_t>(version - 2)];
    log_info("store", "upgrading the schema", {{"file", step.path}, {"to", version}});
    try {
      apply(writer, step.content, version);
    } catch (const SqlError& error) {
      fault = upgrade_fault(path, version, error);
    }
  }
  writer.execute("PRAGMA foreign_keys=ON");
  return fault;
}

}  // namespace

int schema_version() { return 1 + static_cast<int>(embedded::upgrades().size()); }

bool holds_tables(const std::string& path) {
  try {
    Connection db(path, OpenMode::read_only);
    return pragma_value(db, kTableCount) > 0;
  } catch (const SqlError& error) {
    return error.primary_code != SQLITE_CANTOPEN || std::filesystem::exists(path);
  }
}

OpenError bring_schema_up_to_date(Connection& writer, const std::string& path) {
  if (pragma_value(writer, kTableCount) == 0) {
    apply(writer, embedded::schema_sql(), schema_version());
    return {};
  }
  if (pragma_value(writer, kApplicationIdPragma) != kApplicationId) {
    return {OpenFault::corrupt,
            path + " is a SQLite file of another program; choose another --db."};
  }
  const int found = pragma_value(writer, kUserVersion);
  if (found > schema_version()) {
    return {OpenFault::newer_schema,
            path + " was written by a newer coffer (schema " + std::to_string(found) +
                ", this one speaks " + std::to_string(schema_version()) +
                "). Install that version again, or restore the backup made before the upgrade."};
  }
  if (found < 1) {
    return {OpenFault::corrupt,
            path + " has no schema version. Restore it from a backup; never edit it."};
  }
  return upgrade(writer, path, found);
}

}  // namespace coffer::store
