// Creating and upgrading the schema. schema.sql is the whole present schema; upgrades/NNNN_*.sql
// lead an older file to it, one by one, each in its own transaction.
#pragma once

#include <string>

#include "store/connection.h"

namespace coffer::store {

struct OpenError;

/// Marks a file as coffer's (PRAGMA application_id): "cofr".
constexpr int kApplicationId = 0x636f6672;
/// The schema this build speaks: 1 plus the number of upgrade files.
int schema_version();

/// An empty file gets schema.sql; an older one its upgrades; a newer or foreign one is refused with
/// the way out. Nothing is half done: each step is one transaction.
OpenError bring_schema_up_to_date(Connection& writer, const std::string& path);

}  // namespace coffer::store
