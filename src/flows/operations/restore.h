// Restores a database from a backup. Works on files without a running server, and needs no key.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "flows/operations/backups.h"

namespace coffer::flows {

struct Restored {
  std::int64_t bytes = 0;
  bool checksum = false;       // a checksum exists and matches
  int schema_before = 0;       // of the backup; an older schema was upgraded
  store::FileVerdict verdict;  // with violations, nothing was restored
};

/// Copies `backup` to `target` and verifies the copy before it gets its name. `conflict` if
/// `target` or its log exists, or if the schema is newer; `overloaded` while a server has it open.
Result<Restored> restore_backup(const std::string& backup, const std::string& target,
                                const ProgressFunction& progress);

/// Compares a file with the checksum next to it. Returns false without a checksum file. A mismatch
/// is a violation.
Result<bool> check_checksum(const std::string& path, const ProgressFunction& progress,
                            std::vector<store::Violation>& violations);

/// Performs all checks of a file without a running server, including its checksum.
Result<Restored> judge_file(const std::string& path, const ProgressFunction& progress);

}  // namespace coffer::flows
