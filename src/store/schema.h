// Creating and upgrading the schema. schema.sql is the whole present schema; upgrades/NNNN_*.sql
// lead an older file to it, one by one, each in its own transaction. There is no upgrade before the
// first release.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "embedded/embedded.h"
#include "store/connection.h"

namespace coffer::store {

struct OpenError;

/// Marks a file as coffer's (PRAGMA application_id): "cofr".
constexpr int kApplicationId = 0x636f6672;
/// The schema of the first release. Files of the development builds before it have lower numbers
/// and are refused. The first upgrade file is number kFirstSchema + 1.
constexpr int kFirstSchema = 8;
/// The schema this build reads and writes: kFirstSchema plus the number of upgrade files.
int schema_version();

/// A schema and the upgrades that lead to it from kFirstSchema, in order.
struct SchemaSource {
  std::string_view schema;
  std::span<const embedded::File> upgrades;

  int version() const { return kFirstSchema + static_cast<int>(upgrades.size()); }
};

/// The row of `meta` that holds the fingerprint of the master key a file was made with.
inline constexpr std::string_view kKeyCheck = "master_key_check";

/// What a file says of itself.
struct FileMarks {
  int application_id = 0;
  int schema_version = 0;
  std::optional<std::string> key_check;  // nullopt: no secret was ever sealed in it
};
/// Changes nothing. nullopt: it is no SQLite file, or not whole.
std::optional<FileMarks> read_file_marks(const std::string& path);

/// Whether there is anything in the file, with its log. Makes no database. A file that cannot be
/// read counts as one that has something: whoever opens it for good says what is wrong with it.
bool holds_tables(const std::string& path);

/// Gives an empty file the schema and an older file its upgrades. Refuses a newer file, a file from
/// before the first release and a file of another program, and says what to do. Each step is one
/// transaction, so a step that fails leaves the file as it was. `source`: this build's own, except
/// in tests of the mechanism.
OpenError bring_schema_up_to_date(Connection& writer, const std::string& path);
OpenError bring_schema_up_to_date(Connection& writer, const std::string& path,
                                  const SchemaSource& source);

}  // namespace coffer::store
