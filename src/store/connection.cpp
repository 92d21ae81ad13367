#include "store/connection.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/digest.h"
#include "base/files/folders.h"
#include "store/file/writer_vfs.h"
#include "store/webhooks/event_id.h"

namespace coffer::store {
namespace {

[[noreturn]] void fail(sqlite3* database) {
  const int code = sqlite3_extended_errcode(database);
  // SHMOPEN: the index of the log could not be created, before anything was written.
  const bool writes = code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMOPEN ||
                      (code & 0xff) == SQLITE_CANTOPEN;
  if (writes && coffer::is_full_disk(sqlite3_system_errno(database))) {
    throw SqlError("the disk or its quota is full", SQLITE_FULL, SQLITE_FULL);
  }
  throw SqlError(sqlite3_errmsg(database), code & 0xff, code);
}

void check(sqlite3_stmt* statement, int code) {
  if (code != SQLITE_OK) fail(sqlite3_db_handle(statement));
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

struct Opening {
  std::string name;
  int flags = 0;
  const char* vfs = nullptr;
};

Opening opening(const std::string& path, OpenMode mode) {
  constexpr const char* kWithoutLocks = "unix-none";
  switch (mode) {
    case OpenMode::read_write:
      return {path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
    case OpenMode::writer:
      return {path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, writer_vfs()};
    case OpenMode::read_only:
      return {path, SQLITE_OPEN_READONLY};
    case OpenMode::immutable:
      return {immutable_uri(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
    case OpenMode::with_left_log:
      return {path, SQLITE_OPEN_READONLY, kWithoutLocks};
  }
  throw InternalError("unknown open mode");
}

/// A flag that is true while this object exists.
class Raised {
 public:
  explicit Raised(bool& flag) : flag_(flag) { flag_ = true; }
  ~Raised() { flag_ = false; }
  Raised(const Raised&) = delete;
  Raised& operator=(const Raised&) = delete;

 private:
  bool& flag_;
};

}  // namespace

// SQLite reports an I/O error if there is no space for the index of the log.
bool is_full_disk(const SqlError& error) {
  return error.primary_code == SQLITE_FULL || error.extended_code == SQLITE_IOERR_SHMSIZE;
}

std::string sqlite_version() { return sqlite3_libversion(); }

void Connection::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

void Connection::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Connection::Connection(const std::string& path, OpenMode mode) {
  const Opening how = opening(path, mode);
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(how.name.c_str(), &database, how.flags, how.vfs);
  database_.reset(database);  // after most failures it contains the reason
  if (database == nullptr) throw SqlError(sqlite3_errstr(code), code & 0xff, code);
  sqlite3_extended_result_codes(database, 1);
  if (code != SQLITE_OK) fail(database);
  // Plans must not depend on bound values: with the partial indexes of the schema, SQLite would
  // otherwise parse a statement again whenever a compared value is bound.
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
  add_event_id(database);
  if (mode == OpenMode::with_left_log) {
    // The index of the log is then in memory instead of a file, and closing keeps the log.
    execute("PRAGMA locking_mode=EXCLUSIVE");
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
}

Connection::~Connection() { statements_.clear(); }

void Connection::execute(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail(handle());
}

const char* Connection::interned(std::string sql) {
  return interned_.insert(std::move(sql)).first->c_str();
}

std::vector<std::string> Connection::statement_texts() const {
  std::vector<std::string> out;
  for (const auto& [sql, statement] : statements_) out.emplace_back(sql);
  return out;
}

std::int64_t Connection::last_insert_key() const { return sqlite3_last_insert_rowid(handle()); }

int Connection::changes() const { return sqlite3_changes(handle()); }

std::int64_t Connection::total_changes() const { return sqlite3_total_changes64(handle()); }

bool Connection::autocommit() const { return sqlite3_get_autocommit(handle()) != 0; }

void Connection::interrupt() { sqlite3_interrupt(handle()); }

void Connection::write_before_use(std::vector<std::string> tables, std::function<void()> write) {
  statements_.clear();  // none of them has been checked
  write_before_ = std::move(tables);
  write_ = std::move(write);
  // SQLite calls this for every table that a statement uses, also through a view or a trigger.
  const auto note_use = [](void* self, int, const char* table, const char*, const char*,
                           const char*) {
    auto& connection = *static_cast<Connection*>(self);
    const auto& watched = connection.write_before_;
    if (table != nullptr && std::ranges::find(watched, table) != watched.end()) {
      connection.used_while_preparing_ = true;
    }
    return SQLITE_OK;
  };
  COFFER_CHECK(sqlite3_set_authorizer(handle(), note_use, this) == SQLITE_OK);
}

void Connection::prepare(const char* sql, Statement& out) {
  used_while_preparing_ = false;
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) !=
      SQLITE_OK) {
    fail(handle());
  }
  out.handle.reset(statement);
  out.needs_write = used_while_preparing_;
}

sqlite3_stmt* Connection::prepared(const char* sql) {
  Statement& statement = statements_[sql];
  if (!statement.handle) prepare(sql, statement);
  if (statement.needs_write && !is_writing_) {
    const Raised writing(is_writing_);
    write_();
  }
  return statement.handle.get();
}

Query::~Query() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

bool Query::step() {
  if (ended_) return false;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  ended_ = true;
  if (code != SQLITE_DONE) fail(sqlite3_db_handle(statement_));
  return false;
}

void Query::bind(int index, std::int64_t value) {
  check(statement_, sqlite3_bind_int64(statement_, index, value));
}
void Query::bind(int index, std::string_view value) {
  // A null pointer would bind NULL.
  check(statement_,
        sqlite3_bind_text64(statement_, index, value.empty() ? "" : value.data(), value.size(),
                            copies_ ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8));
}
void Query::bind(int index, Blob value) {
  check(statement_,
        sqlite3_bind_blob64(statement_, index, value.bytes.empty() ? "" : value.bytes.data(),
                            value.bytes.size(), copies_ ? SQLITE_TRANSIENT : SQLITE_STATIC));
}
void Query::bind(int index, const Uuid& value) { bind(index, Blob{as_text(value.bytes)}); }

bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}
std::int64_t Query::integer(int column) const { return sqlite3_column_int64(statement_, column); }
std::string_view Query::bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);  // before its length is read
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}
Uuid Query::uuid(int column) const {
  const std::string_view stored = bytes(column);
  Uuid id;
  COFFER_CHECK(stored.size() == id.bytes.size());
  std::memcpy(id.bytes.data(), stored.data(), stored.size());
  return id;
}
AssetCode Query::asset_code(int column) const {
  const auto code = AssetCode::parse(text(column));
  COFFER_CHECK(code.has_value());
  return *code;
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
}  // namespace coffer::store
