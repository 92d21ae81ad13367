// Creating and upgrading the schema. schema.sql is the whole present schema; upgrades/NNNN_*.sql
// lead an older file to it, one by one, each in its own transaction.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "store/connection.h"

namespace coffer::store {

struct OpenError;

/// Marks a file as coffer's (PRAGMA application_id): "cofr".
constexpr int kApplicationId = 0x636f6672;
/// The schema this build speaks: 1 plus the number of upgrade files.
int schema_version();

/// The row of `meta` that holds the fingerprint of the master key a file was made with.
inline constexpr std::string_view kKeyCheck = "master_key_check";

/// What a file that nobody has open says of itself. What is still in its log is not seen.
struct FileMarks {
  int application_id = 0;
  int schema_version = 0;
  std::optional<std::string> key_check;  // nullopt: no secret was ever sealed in it
};
/// Locks nothing and makes nothing beside the file. nullopt: it is no SQLite file, or not whole.
std::optional<FileMarks> read_file_marks(const std::string& path);

/// Whether there is anything in the file, with its log. Makes no database. A file that cannot be
/// read counts as one that has something: whoever opens it for good says what is wrong with it.
bool holds_tables(const std::string& path);

/// An empty file gets schema.sql; an older one its upgrades; a newer or foreign one is refused with
/// the way out. Nothing is half done: each step is one transaction.
OpenError bring_schema_up_to_date(Connection& writer, const std::string& path);

}  // namespace coffer::store
