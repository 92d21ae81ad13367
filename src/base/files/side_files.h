// The files that SQLite and coffer keep beside a database, by the ends of their names.
#pragma once

#include <array>

namespace coffer {

inline constexpr const char* kLogEnding = "-wal";
inline constexpr const char* kLogIndexEnding = "-shm";
inline constexpr const char* kJournalEnding = "-journal";
inline constexpr std::array kSqliteEndings{kLogEnding, kLogIndexEnding, kJournalEnding};

inline constexpr const char* kLockEnding = ".lock";
inline constexpr const char* kSocketEnding = ".sock";
inline constexpr const char* kLoggedEnding = ".logged";
inline constexpr const char* kDemoSecretsEnding = ".demo.json";
inline constexpr const char* kDemoBackupsEnding = ".backups";
/// In place of ".db" (store/requests/request_log_file.h).
inline constexpr const char* kRequestLogEnding = ".requests.db";
/// The folder of backups in the documentation and in the package.
inline constexpr const char* kBackupsFolder = "backups";
inline constexpr std::array kOwnEndings{kLockEnding, kSocketEnding, kLoggedEnding,
                                        kDemoSecretsEnding, kDemoBackupsEnding};

}  // namespace coffer
