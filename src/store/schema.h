// Creates and upgrades the schema. schema.sql is the whole present schema. The files
// upgrades/NNNN_*.sql upgrade an older file step by step, each in its own transaction. Schemas
// before the first release cannot be upgraded.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "embedded/embedded.h"
#include "store/file/connection.h"

namespace coffer::store {

struct OpenError;

/// Marks a file as coffer's (PRAGMA application_id): "cofr".
constexpr int kApplicationId = 0x636f6672;
/// The schema of the first release. Files of earlier development builds have lower numbers and are
/// rejected. The first upgrade file has the number kFirstSchema + 1.
constexpr int kFirstSchema = 8;
/// The schema that this build reads and writes: kFirstSchema plus the number of upgrade files.
int schema_version();

/// A schema and the upgrades that lead to it from kFirstSchema, in order.
struct SchemaSource {
  std::string_view schema;
  std::span<const embedded::File> upgrades;

  int version() const { return kFirstSchema + static_cast<int>(upgrades.size()); }
};

/// The row of `meta` with the fingerprint of the master key.
inline constexpr std::string_view kKeyCheck = "master_key_check";

/// Identifying values of a file.
struct FileMarks {
  int application_id = 0;
  int schema_version = 0;
  std::optional<std::string> key_check;  // nullopt: no secret was ever sealed in the file
  std::string schema_fault;  // differences from this version's schema, if it has the same number
  std::string schema_drops = {};  // schema_repair() of store/schema_check.h
};
FileMarks read_marks(Connection& db);
/// Changes nothing. nullopt: not an SQLite file, or incomplete.
std::optional<FileMarks> read_file_marks(const std::string& path);
/// Why a version with this `schema` does not open the file with these marks. No fault for an older
/// schema that it upgrades.
OpenError marks_fault(const FileMarks& marks, int schema, const std::string& path);

/// Applies the schema to an empty file, and the upgrades to an older one. Rejects a newer file, a
/// file from before the first release and a file of another program, with instructions. Each step
/// is one transaction, so a failed step leaves the file unchanged. `source` is this build's own,
/// except in tests of the mechanism.
OpenError bring_schema_up_to_date(Connection& writer, const std::string& path);
OpenError bring_schema_up_to_date(Connection& writer, const std::string& path,
                                  const SchemaSource& source);

}  // namespace coffer::store
