#include "store/schema.h"

#include <sqlite3.h>

#include <filesystem>

#include "base/telemetry/log.h"
#include "store/database.h"
#include "store/file/foreign_file.h"
#include "store/ledger/catalog.h"
#include "store/schema_check.h"

namespace coffer::store {
namespace {

int pragma_value(Connection& db, const char* sql) {
  Query query(db, sql);
  return query.step() ? static_cast<int>(query.integer(0)) : 0;
}

constexpr const char* kUserVersion = "PRAGMA user_version";
constexpr const char* kApplicationIdPragma = "PRAGMA application_id";
// SQLite counts the changes of tables; unlike their number, reading this does not load the schema.
constexpr const char* kTableChanges = "PRAGMA schema_version";
constexpr const char* kCheckReferences = "PRAGMA foreign_key_check";

/// Applies one step with its version number in one transaction.
void apply(Connection& writer, std::string_view sql, int version) {
  Transaction transaction(writer, true);
  writer.execute(std::string(sql));
  if (Query(writer, kCheckReferences).step()) {
    throw SqlError("a row refers to a row that does not exist", SQLITE_CONSTRAINT,
                   SQLITE_CONSTRAINT_FOREIGNKEY);
  }
  writer.execute("PRAGMA application_id=" + std::to_string(kApplicationId));
  writer.execute("PRAGMA user_version=" + std::to_string(version));
  transaction.commit();
}

/// Rows that violate the conditions of an upgrade are an error in the file; a full disk is not.
OpenError upgrade_fault(const std::string& path, int version, const SqlError& error) {
  if (error.primary_code != SQLITE_CONSTRAINT && error.primary_code != SQLITE_ERROR) throw error;
  return {
      OpenFault::corrupt,
      path + " could not be upgraded to schema " + std::to_string(version) + " (" + error.what() +
          ") and was not changed. Use the version that wrote it, and run `coffer verify` with that "
          "version."};
}

OpenError upgrade(Connection& writer, const std::string& path, int found,
                  const SchemaSource& source) {
  if (found == source.version()) return {};
  // Rebuilding a table temporarily drops it, which must not affect rows that refer to it.
  writer.execute("PRAGMA foreign_keys=OFF");
  OpenError fault;
  for (int version = found + 1; version <= source.version() && fault.fault == OpenFault::none;
       ++version) {
    const auto& step = source.upgrades[static_cast<std::size_t>(version - kFirstSchema - 1)];
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

SchemaSource own_source() { return {embedded::schema_sql(), embedded::upgrades()}; }

}  // namespace

int schema_version() { return own_source().version(); }

FileMarks read_marks(Connection& db) {
  FileMarks out{pragma_value(db, kApplicationIdPragma), pragma_value(db, kUserVersion), {}};
  if (out.application_id != kApplicationId) return out;
  if (out.schema_version == schema_version()) out.schema_fault = schema_fault(db);
  if (!out.schema_fault.empty()) {
    out.schema_drops = schema_repair(db);
  } else if (out.schema_version > 0) {
    out.key_check = read_meta(db, kKeyCheck);
  }
  return out;
}

std::optional<FileMarks> read_file_marks(const std::string& path) {
  FileMarks out;
  try {
    read_foreign_file(path, [&](Connection& db) { out = read_marks(db); });
  } catch (const SqlError&) {
    return std::nullopt;
  }
  return out;
}

OpenError marks_fault(const FileMarks& marks, int schema, const std::string& path) {
  if (marks.application_id != kApplicationId) {
    return {OpenFault::corrupt,
            path + " is an SQLite file of another program. Choose another file with --db."};
  }
  const int found = marks.schema_version;
  if (found > schema) {
    return {OpenFault::newer_schema,
            path + " was written by a newer coffer (schema " + std::to_string(found) +
                "; this version reads schema " + std::to_string(schema) +
                "). Install that version again, or restore the backup made before the upgrade."};
  }
  if (found < 1) {
    return {OpenFault::corrupt,
            path + " has no schema version. Restore it from a backup; never edit it."};
  }
  if (found < kFirstSchema) {
    return {OpenFault::corrupt,
            path +
                " was written by a development build before the first release"
                " (schema " +
                std::to_string(found) +
                "), which cannot be upgraded. Create a new file with another --db."};
  }
  if (marks.schema_fault.empty()) return {};
  return {OpenFault::corrupt,
          path + " does not have the schema that this version creates: " + marks.schema_fault +
              ". " + schema_remedy(marks.schema_drops, path)};
}

OpenError bring_schema_up_to_date(Connection& writer, const std::string& path) {
  return bring_schema_up_to_date(writer, path, own_source());
}

OpenError bring_schema_up_to_date(Connection& writer, const std::string& path,
                                  const SchemaSource& source) {
  if (pragma_value(writer, kTableChanges) == 0) {
    apply(writer, source.schema, source.version());
    return {};
  }
  const FileMarks marks{
      pragma_value(writer, kApplicationIdPragma), pragma_value(writer, kUserVersion), {}};
  OpenError fault = marks_fault(marks, source.version(), path);
  if (fault.fault != OpenFault::none) return fault;
  return upgrade(writer, path, marks.schema_version, source);
}

}  // namespace coffer::store
