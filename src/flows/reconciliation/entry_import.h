// Which entries of a statement file are stored already, and what the others add.
#pragma once

#include "flows/reconciliation/statement_import.h"

namespace coffer::flows {

/// Stores the entries of the file with this key, in several commits, and counts and notes them in
/// `out`. See import_statement().
Result<void> store_entries(const Context& context, const StatementToImport& file, std::int64_t key,
                           StatementFile&& read, StatementImport& out);

}  // namespace coffer::flows
