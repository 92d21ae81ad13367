// One SQLite connection with a cache of prepared statements, and typed access to its rows.
//
// Connection, statement, transaction and backup are those of SQLiteCpp
// (https://srombauts.github.io/SQLiteCpp), its exceptions become SqlError. What SQLiteCpp lacks is
// here as well, so no other file calls SQLite, except `file/writer_vfs`.
//
// A connection and everything created from it belong to one thread at a time. A failing statement
// throws SqlError. Expected errors are checked beforehand, so a violated constraint is a bug.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/ledger/money.h"

struct sqlite3;
struct sqlite3_context;
struct sqlite3_stmt;
struct sqlite3_value;

namespace SQLite {
class Backup;
class Database;
class Statement;
class Transaction;
}  // namespace SQLite

namespace coffer::store {

/// A statement failed. `primary_code` is the SQLITE_* result code without its extension.
class SqlError : public std::runtime_error {
 public:
  SqlError(const std::string& what, int primary, int extended)
      : std::runtime_error(what), primary_code(primary), extended_code(extended) {}
  int primary_code;
  int extended_code;
};

/// Whether a statement failed because the disk is full.
bool is_full_disk(const SqlError& error);

/// A value to bind as a blob; a string would be bound as text.
struct Blob {
  std::string_view bytes;
};

/// Version of the library, such as "3.54.1", and as a number, such as 3054001.
std::string sqlite_version();
int sqlite_version_number();

/// How long the writer waits for another program that holds the database. Beyond: `overloaded`.
inline constexpr int kBusyWaitMs = 5'000;

/// For a file that another process owns, read_foreign_file selects the mode.
enum class OpenMode {
  read_write,
  writer,         // the only writer of a ledger (store/file/writer_vfs.h)
  read_only,      // under SQLite's locks; creates the log and the shared memory if they are missing
  immutable,      // a closed file: without locks or a log, and without creating files next to it
  with_left_log,  // a closed file with the log that a killed process left; otherwise like immutable
};

/// A running call of a function that SQL calls. Arguments are numbered from 0.
class SqlCall {
 public:
  /// The bytes of a blob or text, valid until the function returns; empty for NULL.
  std::string_view blob(int argument) const;
  std::int64_t integer(int argument) const;
  void set_result(Blob value);
  void set_result(std::int64_t value);
  /// The statement fails with this text.
  void fail(const char* why);

 private:
  friend class Connection;
  SqlCall(sqlite3_context* context, sqlite3_value** arguments)
      : context_(context), arguments_(arguments) {}
  sqlite3_context* context_;
  sqlite3_value** arguments_;
};

/// A function for SQL, whose result depends only on its arguments.
struct SqlFunction {
  const char* name;
  int arguments;
  void (*run)(SqlCall& call);
};

/// Rows that a statement can read as a table (Connection::add_table).
struct MemoryRows {
  enum class Kind : std::uint8_t { null, integer, blob };
  struct Cell {
    Kind kind = Kind::null;
    std::uint32_t length = 0;  // of a blob
    std::int64_t value = 0;    // of a blob: its place in `bytes`
  };

  std::size_t size() const { return cells.size() / columns; }

  std::size_t columns = 1;
  std::vector<Cell> cells = {};  // row by row
  std::string bytes = {};
};

/// The write-ahead log after a checkpoint, in frames. Negative if another program is checkpointing.
struct CheckpointedLog {
  int frames = 0;
  int copied = 0;  // into the database
};

/// Of the SQL functions that every connection has; defined in store/webhooks/event_id.cpp.
std::span<const SqlFunction> functions_of_every_connection();

class Connection {
 public:
  Connection(const std::string& path, OpenMode mode);
  /// Reads and writes the file through this VFS (store/file/copy_file.h).
  Connection(const std::string& path, const char* vfs);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Runs statements that return no rows. The text may contain several.
  void execute(const std::string& sql);
  /// Runs a cached statement that returns no rows. `sql` is a named constant, as for Query. Texts
  /// and blobs are not copied.
  template <class... Args>
  void run(const char* sql, const Args&... args);
  /// Calls `write` before each statement that reads or changes one of these tables, except those
  /// that `write` runs.
  void write_before_use(std::vector<std::string> tables, std::function<void()> write);
  /// A permanent address for a statement text built at run time, for Query.
  const char* interned(std::string sql);
  /// All statements that have run so far, for tests of their query plans.
  std::vector<std::string> statement_texts() const;
  std::int64_t last_insert_key() const;
  /// Number of rows changed by the last statement.
  int changes() const;
  /// Number of rows changed since the connection was opened, including changes rolled back since.
  std::int64_t total_changes() const;
  /// True if no transaction is open, including when SQLite ended one itself.
  bool autocommit() const;
  /// Makes the running statement fail with SQLITE_INTERRUPT. May be called from another thread.
  void interrupt();
  /// How long a statement waits for another connection that holds a lock.
  void set_busy_wait(int ms);
  /// Closing the last connection then keeps the write-ahead log instead of copying it.
  void keep_log_on_close();
  /// Copies the write-ahead log into the database; with `truncates`, also empties the file of the
  /// log if no reader uses it. A lock of another connection and a full disk are no error.
  CheckpointedLog checkpoint(bool truncates);
  /// Calls `around` to commit a Transaction that has changed something. It calls its argument, and
  /// may write before that. An empty function ends this.
  using AroundCommit = std::function<void(const std::function<void()>& commit)>;
  void commit_through(AroundCommit around) { around_commit_ = std::move(around); }
  /// Calls `note` after each commit with the number of frames in the write-ahead log. An empty
  /// function ends this. `note` must not use the connection or throw, like that of on_change().
  void on_commit(std::function<void(int frames)> note);
  /// Calls `note` for each row that a statement inserts, updates or deletes.
  using NoteChange = std::function<void(bool is_update, std::string_view table, std::int64_t row)>;
  void on_change(NoteChange note);
  /// `function` must outlive the connection.
  void add_function(const SqlFunction& function);
  /// Statements read `rows` as the table `name`, whose columns are in the same order. `rows` must
  /// outlive the connection's use of the table.
  void add_table(const std::string& name, const MemoryRows& rows);
  /// Keeps an object with the connection, one of each type; nullptr removes it.
  template <class T>
  void attach(std::unique_ptr<T> object);
  /// The attached object of this type, or nullptr.
  template <class T>
  T* attached() const;
  /// Whether a LiveBackup of this connection exists. A rollback of changes starts it again.
  bool is_backed_up() const { return backups_ > 0; }
  /// SQLite's own connection, for tests that read its counters.
  sqlite3* handle() const;

 private:
  friend class LiveBackup;
  friend class Query;
  friend class Transaction;
  struct Statement {
    std::unique_ptr<SQLite::Statement> compiled;
    sqlite3_stmt* handle = nullptr;  // belongs to `compiled`
    bool needs_write = false;        // uses a table of write_before_use()
  };
  struct Attached {
    std::type_index type;
    std::unique_ptr<void, void (*)(void*)> object;
  };
  void open(const char* name, int flags, const char* vfs);
  const Statement& prepared(const char* sql);
  void prepare(const char* sql, Statement& out);

  std::unique_ptr<SQLite::Database> database_;
  // Keyed by address: every statement is a named constant, so its address identifies it.
  std::unordered_map<const char*, Statement> statements_;
  std::vector<std::string> write_before_;
  std::function<void()> write_;
  bool used_while_preparing_ = false;
  bool is_writing_ = false;
  std::unordered_set<std::string> interned_;
  AroundCommit around_commit_;
  std::function<void(int)> note_commit_;
  NoteChange note_change_;
  std::vector<Attached> attached_;
  int backups_ = 0;
};

template <class T>
void Connection::attach(std::unique_ptr<T> object) {
  std::erase_if(attached_, [](const Attached& one) { return one.type == typeid(T); });
  if (!object) return;
  attached_.push_back({typeid(T),
                       {const_cast<std::remove_const_t<T>*>(object.release()),
                        [](void* attached) { delete static_cast<T*>(attached); }}});
}

template <class T>
T* Connection::attached() const {
  for (const Attached& one : attached_) {
    if (one.type == typeid(T)) return static_cast<T*>(one.object.get());
  }
  return nullptr;
}

/// A transaction with the lock of the only writer. The destructor undoes one that has not ended.
class Transaction {
 public:
  /// `alters`: also changes tables, which Connection::total_changes() does not count.
  explicit Transaction(Connection& db, bool alters = false);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// After an error, the transaction can only be rolled back, which SQLite may have done already.
  void commit();
  /// Throws SqlError if the transaction is still open.
  void roll_back();

 private:
  Connection& db_;
  const std::int64_t changes_;  // negative: changes tables
  std::unique_ptr<SQLite::Transaction> transaction_;
};

/// A copy of the database of one connection into that of another, in steps. Between steps, each
/// commit of `from` also changes the pages that were copied already; a rollback starts the copy
/// again. For the thread of `from`, which uses both connections meanwhile.
class LiveBackup {
 public:
  /// Both must outlive this object. `to` has an empty file, with the same page size when it is
  /// complete.
  LiveBackup(Connection& to, Connection& from);
  ~LiveBackup();
  LiveBackup(const LiveBackup&) = delete;
  LiveBackup& operator=(const LiveBackup&) = delete;

  /// Copies at most `pages` pages, outside a transaction. Returns false if `to` is now equal to
  /// `from`. Throws SqlError; the backup then cannot continue.
  bool step(int pages);
  /// Pages of `from`, and those left to copy, after the last step.
  int total() const;
  int remaining() const;

 private:
  Connection& to_;
  Connection& from_;
  std::unique_ptr<SQLite::Backup> backup_;
};

/// The stored number of an enumerator. SQL that contains such a number has an assertion next to it,
/// `static_assert(stored(HoldState::open) == 0)`; tests/tidy checks this.
template <class Enum>
constexpr int stored(Enum value) {
  return static_cast<int>(value);
}

/// One execution of a cached statement. The destructor resets it and clears its bindings, so no
/// value reaches the next execution. One at a time per statement. Texts and blobs are copied.
class Query {
 public:
  template <class... Args>
  Query(Connection& connection, const char* sql, const Args&... args)
      : connection_(connection), statement_(connection.prepared(sql)) {
    int index = 0;
    (bind(++index, args), ...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// Moves to the next row. Returns false at the end and on every later call.
  bool step();
  /// For statements without rows.
  void run() {
    while (step()) {
    }
  }

  void bind(int index, std::int64_t value);
  void bind(int index, std::string_view value);
  void bind(int index, Blob value);
  void bind(int index, const Uuid& value);
  /// Every parameter is NULL until it is bound.
  template <class T>
  void bind(int index, const T& value) {
    if constexpr (requires { value.has_value(); }) {
      if (value) bind(index, *value);
    } else if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      bind(index, static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      bind(index, value.ms);
    } else if constexpr (std::is_same_v<T, Amount>) {
      bind(index, value.units());
    } else if constexpr (requires { value.uuid; }) {
      bind(index, value.uuid);
    } else {
      bind(index, std::string_view(value));
    }
  }

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  /// The bytes of a text or blob, or the digits of an integer; empty for NULL. Valid until the next
  /// step.
  std::string_view bytes(int column) const;
  std::string text(int column) const { return std::string(bytes(column)); }
  std::string blob(int column) const { return std::string(bytes(column)); }
  Uuid uuid(int column) const;
  bool boolean(int column) const { return integer(column) != 0; }
  Timestamp time(int column) const { return {integer(column)}; }
  Amount amount(int column) const { return Amount::from_units(integer(column)); }
  AssetCode asset_code(int column) const;  // throws InternalError if it is not a code
  template <class IdType>
  IdType id(int column) const {
    return IdType{uuid(column)};
  }
  template <class Enum>
  Enum enumeration(int column) const {
    return static_cast<Enum>(integer(column));
  }
  template <class IdType>
  std::optional<IdType> optional_id(int column) const {
    return is_null(column) ? std::nullopt : std::optional(id<IdType>(column));
  }
  std::optional<std::int64_t> optional_integer(int column) const {
    return is_null(column) ? std::nullopt : std::optional(integer(column));
  }
  std::optional<std::string> optional_text(int column) const {
    return is_null(column) ? std::nullopt : std::optional(text(column));
  }
  std::optional<Timestamp> optional_time(int column) const {
    return is_null(column) ? std::nullopt : std::optional(time(column));
  }

 private:
  friend class Connection;
  struct Borrowing {};
  /// For values that stay valid until the query ends; they are not copied.
  Query(Connection& connection, const char* sql, Borrowing)
      : connection_(connection), statement_(connection.prepared(sql)), copies_(false) {}

  Connection& connection_;
  const Connection::Statement& statement_;
  bool copies_ = true;
  bool ended_ = false;
};

template <class... Args>
void Connection::run(const char* sql, const Args&... args) {
  Query query(*this, sql, Query::Borrowing());
  int index = 0;
  (query.bind(++index, args), ...);
  query.run();
}

}  // namespace coffer::store
