// Restores a database from a backup. Works on files without a running server; needs no key.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "flows/operations/backups.h"

namespace coffer::flows {

struct Restored {
  std::int64_t bytes = 0;
  bool checksum = false;       // there was one, and it is right
  int schema_before = 0;       // of the backup; an older one was brought up to date
  store::FileVerdict verdict;  // with violations nothing was restored
};

/// Copies `backup` to `target`, proves the copy and only then gives it its name. `conflict` when
/// anything is at `target` or belongs to a file that was there (its log), or for a newer schema;
/// `overloaded` while a server has it.
Result<Restored> restore_backup(const std::string& backup, const std::string& target,
                                const ProgressFunction& progress);

/// Compares a file with the checksum beside it. False without a checksum file. A violation if they
/// differ.
Result<bool> check_checksum(const std::string& path, const ProgressFunction& progress,
                            std::vector<store::Violation>& violations);

/// All checks of a file without a running server, including its checksum.
Result<Restored> judge_file(const std::string& path, const ProgressFunction& progress);

}  // namespace coffer::flows
