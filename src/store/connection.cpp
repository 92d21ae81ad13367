#include "store/connection.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <cstring>

#include "base/check.h"

namespace coffer::store {
namespace {

[[noreturn]] void rethrow(const SQLite::Exception& error) {
  throw SqlError(error.what(), error.getErrorCode() & 0xff, error.getExtendedErrorCode());
}

template <class F>
auto translated(F&& action) -> decltype(action()) {
  try {
    return action();
  } catch (const SQLite::Exception& error) {
    rethrow(error);
  }
}

/// Encodes a path as a URI, in which `?` and `#` have a special meaning.
std::string immutable_uri(const std::string& path) {
  std::string out = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const bool special = c == '?' || c == '#' || c == '%';
    out += special ? (c == '?' ? "%3f" : c == '#' ? "%23" : "%25") : std::string(1, c);
  }
  return out + "?immutable=1";
}

std::unique_ptr<SQLite::Database> open(const std::string& path, OpenMode mode) {
  constexpr const char* kWithoutLocks = "unix-none";
  switch (mode) {
    case OpenMode::read_write:
      return std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    case OpenMode::read_only:
      return std::make_unique<SQLite::Database>(path, SQLite::OPEN_READONLY);
    case OpenMode::immutable:
      return std::make_unique<SQLite::Database>(immutable_uri(path),
                                                SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    case OpenMode::with_left_log: {
      auto out = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READONLY, 0, kWithoutLocks);
      // The index of the log is then in memory instead of a file, and closing keeps the log.
      out->exec("PRAGMA locking_mode=EXCLUSIVE");
      sqlite3_db_config(out->getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
      return out;
    }
  }
  throw InternalError("unknown open mode");
}

}  // namespace

std::string sqlite_version() { return sqlite3_libversion(); }

Connection::Connection(const std::string& path, OpenMode mode) {
  translated([&] {
    database_ = open(path, mode);
    sqlite3_extended_result_codes(database_->getHandle(), 1);
    // Plans must not depend on bound values: with the partial indexes of the schema, SQLite would
    // otherwise parse a statement again whenever a compared value is bound.
    sqlite3_db_config(database_->getHandle(), SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
  });
}

Connection::~Connection() { statements_.clear(); }

void Connection::execute(const std::string& sql) {
  translated([&] { database_->exec(sql); });
}

const char* Connection::interned(std::string sql) {
  return interned_.insert(std::move(sql)).first->c_str();
}

std::vector<std::string> Connection::statement_texts() const {
  std::vector<std::string> out;
  for (const auto& [sql, statement] : statements_) out.emplace_back(sql);
  return out;
}

std::int64_t Connection::last_insert_key() const { return database_->getLastInsertRowid(); }

int Connection::changes() const { return sqlite3_changes(database_->getHandle()); }

bool Connection::autocommit() const { return sqlite3_get_autocommit(database_->getHandle()) != 0; }

void Connection::interrupt() { sqlite3_interrupt(database_->getHandle()); }

void* Connection::handle() const { return database_->getHandle(); }

SQLite::Statement& Connection::prepared(const char* sql) {
  auto& slot = statements_[sql];
  if (!slot) {
    translated([&] { slot = std::make_unique<SQLite::Statement>(*database_, sql); });
  }
  return *slot;
}

Query::~Query() {
  statement_->tryReset();
  statement_->clearBindings();
}

bool Query::step() {
  return translated([&] { return statement_->executeStep(); });
}

void Query::bind(int index, std::int64_t value) {
  translated([&] { statement_->bind(index, static_cast<std::int64_t>(value)); });
}
void Query::bind(int index, std::string_view value) {
  translated([&] { statement_->bind(index, std::string(value)); });
}
void Query::bind(int index, Blob value) {
  translated(
      [&] { statement_->bind(index, value.bytes.data(), static_cast<int>(value.bytes.size())); });
}
void Query::bind(int index, const Uuid& value) {
  translated([&] { statement_->bind(index, value.bytes.data(), 16); });
}
void Query::bind_null(int index) {
  translated([&] { statement_->bind(index); });
}

bool Query::is_null(int column) const { return statement_->isColumnNull(column); }
std::int64_t Query::integer(int column) const { return statement_->getColumn(column).getInt64(); }
std::string Query::text(int column) const { return statement_->getColumn(column).getString(); }
std::string Query::blob(int column) const {
  const SQLite::Column value = statement_->getColumn(column);
  const void* bytes = value.getBlob();
  return bytes == nullptr ? std::string()
                          : std::string(static_cast<const char*>(bytes),
                                        static_cast<std::size_t>(value.getBytes()));
}
Uuid Query::uuid(int column) const {
  const SQLite::Column value = statement_->getColumn(column);
  Uuid id;
  COFFER_CHECK(value.getBytes() == 16);
  std::memcpy(id.bytes.data(), value.getBlob(), 16);
  return id;
}
std::optional<std::int64_t> Query::optional_integer(int column) const {
  return is_null(column) ? std::nullopt : std::optional(integer(column));
}
std::optional<std::string> Query::optional_text(int column) const {
  return is_null(column) ? std::nullopt : std::optional(text(column));
}
std::optional<Timestamp> Query::optional_time(int column) const {
  return is_null(column) ? std::nullopt : std::optional(time(column));
}
std::optional<Amount> Query::optional_amount(int column) const {
  return is_null(column) ? std::nullopt : std::optional(amount(column));
}

}  // namespace coffer::store
