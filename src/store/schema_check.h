// Compares the schema of a file with the schema that this version creates. Guard triggers and
// unique indexes are part of the ledger's protection, and a foreign trigger can change any row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/file/connection.h"

namespace coffer::store {

/// One text per table, index, trigger or view that is missing, differs or does not belong, such as
/// `trigger planted does not belong`. Tables of Litestream and of ANALYZE belong. Empty if the
/// schema is that of this version. Only for a file with this version's schema number.
std::vector<std::string> schema_differences(Connection& db);
/// The same against another schema, for tests of the comparison.
std::vector<std::string> schema_differences(Connection& db, std::string_view schema);
/// Statements that remove the differences without a loss, if the only differences are tables,
/// indexes and views that another program has added; otherwise empty.
std::string schema_repair(Connection& db);
/// What to do about differences of the database at `path` with this repair: sentences.
std::string schema_remedy(const std::string& repair, const std::string& path);
/// All differences in one text; empty if the schemas are the same.
std::string schema_fault(Connection& db);

}  // namespace coffer::store
