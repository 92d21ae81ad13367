// What a database says of itself while it stays closed.
#include <sqlite3.h>

#include <array>
#include <memory>

#include "store/schema.h"

namespace coffer::store {
namespace {

constexpr const char* kApplicationIdOf = "PRAGMA application_id";
constexpr const char* kVersionOf = "PRAGMA user_version";
constexpr const char* kMetaOf = "SELECT value FROM meta WHERE name = ?1";

using Database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;
using Statement = std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_finalize)>;

/// As a URI in which `?` and `#` have another meaning than in a path.
std::string uri_of(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    const bool special = c == '?' || c == '#' || c == '%';
    out += special ? (c == '?' ? "%3f" : c == '#' ? "%23" : "%25") : std::string(1, c);
  }
  // Nothing changes it while we look: so SQLite needs no lock, no log and no shared memory.
  return out + "?immutable=1";
}

/// The first column of the first row; nullopt without one, and when the file is not whole.
std::optional<std::string> first_text(sqlite3* database, const char* sql,
                                      std::string_view parameter) {
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(database, sql, -1, &raw, nullptr) != SQLITE_OK) return std::nullopt;
  const Statement statement(raw, sqlite3_finalize);
  if (!parameter.empty()) {
    sqlite3_bind_text(raw, 1, parameter.data(), static_cast<int>(parameter.size()), SQLITE_STATIC);
  }
  if (sqlite3_step(raw) != SQLITE_ROW) return std::nullopt;
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(raw, 0));
  if (text == nullptr) return std::nullopt;
  return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(raw, 0)));
}

}  // namespace

std::optional<FileMarks> read_file_marks(const std::string& path) {
  sqlite3* raw = nullptr;
  const int opened =
      sqlite3_open_v2(uri_of(path).c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  const Database database(raw, sqlite3_close);
  if (opened != SQLITE_OK) return std::nullopt;
  const auto application = first_text(raw, kApplicationIdOf, {});
  const auto version = first_text(raw, kVersionOf, {});
  if (!application || !version) return std::nullopt;
  return FileMarks{std::stoi(*application), std::stoi(*version),
                   first_text(raw, kMetaOf, kKeyCheck)};
}

}  // namespace coffer::store
