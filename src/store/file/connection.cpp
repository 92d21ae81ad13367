#include "store/file/connection.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/digest.h"
#include "base/files/folders.h"
#include "store/file/writer_vfs.h"

namespace coffer::store {
namespace {

/// Throws the error of SQLiteCpp as a SqlError. `database` is null if there is no connection.
[[noreturn]] void fail(const SQLite::Exception& error, sqlite3* database) {
  const bool is_extended = error.getExtendedErrorCode() >= 0;  // the exceptions of Backup are not
  const int code = is_extended ? error.getExtendedErrorCode() : error.getErrorCode();
  // SHMOPEN: the index of the log could not be created, before anything was written.
  const bool writes = code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMOPEN ||
                      (code & 0xff) == SQLITE_CANTOPEN;
  const int cause = database != nullptr ? sqlite3_system_errno(database) : errno;
  if (writes && coffer::is_full_disk(cause)) {
    throw SqlError("the disk or its quota is full", SQLITE_FULL, SQLITE_FULL);
  }
  throw SqlError(error.what(), code & 0xff, code);
}

template <class Work>
decltype(auto) translated(sqlite3* database, const Work& work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    fail(error, database);
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

/// SQLite's interface to rows in memory: a read-only virtual table, scanned from its first row.
struct MemoryTable {
  struct Table : sqlite3_vtab {
    const MemoryRows* rows;
  };
  struct Cursor : sqlite3_vtab_cursor {
    std::size_t row = 0;
  };

  static const MemoryRows& rows_of(sqlite3_vtab_cursor* cursor) {
    return *static_cast<Table*>(cursor->pVtab)->rows;
  }
  static std::size_t& row_of(sqlite3_vtab_cursor* cursor) {
    return static_cast<Cursor*>(cursor)->row;
  }

  static int connect(sqlite3* db, void* of, int, const char* const*, sqlite3_vtab** out, char**) {
    const auto* rows = static_cast<const MemoryRows*>(of);
    std::string declaration = "CREATE TABLE rows (c0";
    for (std::size_t i = 1; i < rows->columns; ++i) declaration += ", c" + std::to_string(i);
    const int code = sqlite3_declare_vtab(db, (declaration + ")").c_str());
    if (code == SQLITE_OK) *out = new Table{{}, rows};
    return code;
  }
  static int disconnect(sqlite3_vtab* table) {
    delete static_cast<Table*>(table);
    return SQLITE_OK;
  }
  static int plan(sqlite3_vtab*, sqlite3_index_info*) { return SQLITE_OK; }
  static int open(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
    *out = new Cursor{};
    return SQLITE_OK;
  }
  static int close(sqlite3_vtab_cursor* cursor) {
    delete static_cast<Cursor*>(cursor);
    return SQLITE_OK;
  }
  static int start(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
    row_of(cursor) = 0;
    return SQLITE_OK;
  }
  static int next(sqlite3_vtab_cursor* cursor) {
    ++row_of(cursor);
    return SQLITE_OK;
  }
  static int at_end(sqlite3_vtab_cursor* cursor) {
    return row_of(cursor) >= rows_of(cursor).size() ? 1 : 0;
  }
  static int value(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
    const MemoryRows& rows = rows_of(cursor);
    const MemoryRows::Cell& cell =
        rows.cells[row_of(cursor) * rows.columns + static_cast<std::size_t>(column)];
    if (cell.kind == MemoryRows::Kind::integer) sqlite3_result_int64(context, cell.value);
    if (cell.kind == MemoryRows::Kind::blob) {
      sqlite3_result_blob(context, rows.bytes.data() + cell.value, static_cast<int>(cell.length),
                          SQLITE_STATIC);
    }
    return SQLITE_OK;
  }
  static int key(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
    *out = static_cast<sqlite3_int64>(row_of(cursor));
    return SQLITE_OK;
  }

  static constexpr sqlite3_module kModule = [] {
    sqlite3_module out{};
    out.xConnect = connect;  // without xCreate, the table exists under the name of the module
    out.xBestIndex = plan;
    out.xDisconnect = disconnect;
    out.xOpen = open;
    out.xClose = close;
    out.xFilter = start;
    out.xNext = next;
    out.xEof = at_end;
    out.xColumn = value;
    out.xRowid = key;
    return out;
  }();
};

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

std::string sqlite_version() { return SQLite::getLibVersion(); }

int sqlite_version_number() { return SQLite::getLibVersionNumber(); }

std::string_view SqlCall::blob(int argument) const {
  sqlite3_value* value = arguments_[argument];
  const void* bytes = sqlite3_value_blob(value);  // before its length is read
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

std::int64_t SqlCall::integer(int argument) const {
  return sqlite3_value_int64(arguments_[argument]);
}

void SqlCall::set_result(Blob value) {
  sqlite3_result_blob(context_, value.bytes.data(), static_cast<int>(value.bytes.size()),
                      SQLITE_TRANSIENT);
}

void SqlCall::set_result(std::int64_t value) { sqlite3_result_int64(context_, value); }

void SqlCall::fail(const char* why) { sqlite3_result_error(context_, why, -1); }

Connection::Connection(const std::string& path, OpenMode mode) {
  const Opening how = opening(path, mode);
  open(how.name.c_str(), how.flags, how.vfs);
  if (mode == OpenMode::with_left_log) {
    // The index of the log is then in memory instead of a file.
    execute("PRAGMA locking_mode=EXCLUSIVE");
    keep_log_on_close();
  }
}

Connection::Connection(const std::string& path, const char* vfs) {
  open(path.c_str(), SQLITE_OPEN_READWRITE, vfs);
}

void Connection::open(const char* name, int flags, const char* vfs) {
  database_ =
      translated(nullptr, [&] { return std::make_unique<SQLite::Database>(name, flags, 0, vfs); });
  sqlite3_extended_result_codes(handle(), 1);
  // Plans must not depend on bound values: with the partial indexes of the schema, SQLite would
  // otherwise parse a statement again whenever a compared value is bound.
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_ENABLE_QPSG, 1, nullptr);
  for (const SqlFunction& function : functions_of_every_connection()) add_function(function);
}

Connection::~Connection() = default;

sqlite3* Connection::handle() const { return database_->getHandle(); }

void Connection::execute(const std::string& sql) {
  translated(handle(), [&] { database_->exec(sql); });
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

int Connection::changes() const { return database_->getChanges(); }

std::int64_t Connection::total_changes() const { return sqlite3_total_changes64(handle()); }

bool Connection::autocommit() const { return sqlite3_get_autocommit(handle()) != 0; }

void Connection::interrupt() { sqlite3_interrupt(handle()); }

void Connection::set_busy_wait(int ms) {
  translated(handle(), [&] { database_->setBusyTimeout(ms); });
}

void Connection::keep_log_on_close() {
  sqlite3_db_config(handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

CheckpointedLog Connection::checkpoint(bool truncates) {
  const int mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  CheckpointedLog out;
  const int code = sqlite3_wal_checkpoint_v2(handle(), nullptr, mode, &out.frames, &out.copied);
  if (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_FULL) return out;
  throw SqlError(sqlite3_errmsg(handle()), code & 0xff, code);
}

void Connection::on_commit(std::function<void(int)> note) {
  note_commit_ = std::move(note);
  const auto call = [](void* self, sqlite3*, const char*, int frames) {
    static_cast<Connection*>(self)->note_commit_(frames);
    return SQLITE_OK;
  };
  sqlite3_wal_hook(handle(), note_commit_ ? +call : nullptr, this);
}

void Connection::on_change(NoteChange note) {
  note_change_ = std::move(note);
  const auto call = [](void* self, int operation, const char*, const char* table,
                       sqlite3_int64 row) {
    static_cast<Connection*>(self)->note_change_(operation == SQLITE_UPDATE, table, row);
  };
  sqlite3_update_hook(handle(), note_change_ ? +call : nullptr, this);
}

void Connection::add_function(const SqlFunction& function) {
  const auto call = [](sqlite3_context* context, int, sqlite3_value** arguments) {
    SqlCall running(context, arguments);
    static_cast<const SqlFunction*>(sqlite3_user_data(context))->run(running);
  };
  translated(handle(), [&] {
    database_->createFunction(function.name, function.arguments, true,
                              const_cast<SqlFunction*>(&function), call);
  });
}

void Connection::add_table(const std::string& name, const MemoryRows& rows) {
  COFFER_CHECK(sqlite3_create_module(handle(), name.c_str(), &MemoryTable::kModule,
                                     const_cast<MemoryRows*>(&rows)) == SQLITE_OK);
}

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
  out.compiled =
      translated(handle(), [&] { return std::make_unique<SQLite::Statement>(*database_, sql); });
  // SQLiteCpp does not show the handle. The list of a connection begins with its newest statement.
  out.handle = sqlite3_next_stmt(handle(), nullptr);
  COFFER_CHECK(std::strcmp(sqlite3_sql(out.handle), sql) == 0);
  out.needs_write = used_while_preparing_;
}

const Connection::Statement& Connection::prepared(const char* sql) {
  Statement& statement = statements_[sql];
  if (!statement.compiled) prepare(sql, statement);
  if (statement.needs_write && !is_writing_) {
    const Raised writing(is_writing_);
    write_();
  }
  return statement;
}

Transaction::Transaction(Connection& db, bool alters)
    : db_(db),
      changes_(alters ? -1 : db.total_changes()),
      transaction_(translated(db.handle(), [&] {
        return std::make_unique<SQLite::Transaction>(*db.database_,
                                                     SQLite::TransactionBehavior::IMMEDIATE);
      })) {}

Transaction::~Transaction() = default;

void Transaction::commit() {
  const auto commit = [this] { translated(db_.handle(), [&] { transaction_->commit(); }); };
  const bool is_watched = db_.around_commit_ && db_.total_changes() != changes_;
  is_watched ? db_.around_commit_(commit) : commit();
}

void Transaction::roll_back() {
  transaction_.reset();  // ignores an error, and also fails if SQLite has ended the transaction
  if (!db_.autocommit()) fail(SQLite::Exception(db_.handle()), db_.handle());
}

LiveBackup::LiveBackup(Connection& to, Connection& from)
    : to_(to), from_(from), backup_(translated(to.handle(), [&] {
        return std::make_unique<SQLite::Backup>(*to.database_, *from.database_);
      })) {
  ++from_.backups_;
}

LiveBackup::~LiveBackup() { --from_.backups_; }

bool LiveBackup::step(int pages) {
  const int code = translated(to_.handle(), [&] { return backup_->executeStep(pages); });
  if (code != SQLITE_OK && code != SQLITE_DONE) throw SqlError(sqlite3_errstr(code), code, code);
  return code == SQLITE_OK;
}

int LiveBackup::total() const { return backup_->getTotalPageCount(); }
int LiveBackup::remaining() const { return backup_->getRemainingPageCount(); }

Query::~Query() {
  statement_.compiled->tryReset();
  statement_.compiled->clearBindings();
}

bool Query::step() {
  if (ended_) return false;
  const int code = statement_.compiled->tryExecuteStep();
  if (code == SQLITE_ROW) return true;
  ended_ = true;
  if (code == SQLITE_DONE) return false;
  sqlite3* const database = connection_.handle();
  fail(SQLite::Exception(database, code), database);
}

void Query::bind(int index, std::int64_t value) {
  translated(connection_.handle(), [&] { statement_.compiled->bind(index, value); });
}
// Directly, because SQLiteCpp copies a text that has no terminator.
void Query::bind(int index, std::string_view value) {
  // A null pointer would bind NULL.
  const int code =
      sqlite3_bind_text64(statement_.handle, index, value.empty() ? "" : value.data(), value.size(),
                          copies_ ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
  sqlite3* const database = connection_.handle();
  if (code != SQLITE_OK) fail(SQLite::Exception(database, code), database);
}
void Query::bind(int index, Blob value) {
  const char* bytes = value.bytes.empty() ? "" : value.bytes.data();
  const auto size = static_cast<int>(value.bytes.size());
  translated(connection_.handle(), [&] {
    SQLite::Statement& to = *statement_.compiled;
    copies_ ? to.bind(index, bytes, size) : to.bindNoCopy(index, bytes, size);
  });
}
void Query::bind(int index, const Uuid& value) { bind(index, Blob{as_text(value.bytes)}); }
// Directly, because each SQLite::Column shares the ownership of the statement (measured with
// Columns: 7 % more processor time per payment).
bool Query::is_null(int column) const {
  return sqlite3_column_type(statement_.handle, column) == SQLITE_NULL;
}
std::int64_t Query::integer(int column) const {
  return sqlite3_column_int64(statement_.handle, column);
}
std::string_view Query::bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.handle, column);  // before its length is read
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.handle, column))};
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
}  // namespace coffer::store
