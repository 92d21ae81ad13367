// One SQLite connection with a cache of prepared statements, and typed access to its rows.
//
// A connection and everything made from it belong to one thread at a time. A failing statement
// throws SqlError: expected trouble is checked before, so a constraint that fires is a bug.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/uuid.h"
#include "domain/ledger/money.h"

struct sqlite3;
struct sqlite3_stmt;

namespace coffer::store {

/// SQLite said no. `primary_code` is the SQLITE_* result code without its extension.
class SqlError : public std::runtime_error {
 public:
  SqlError(const std::string& what, int primary, int extended)
      : std::runtime_error(what), primary_code(primary), extended_code(extended) {}
  int primary_code;
  int extended_code;
};

/// A blob to bind where a bare string would be bound as text.
struct Blob {
  std::string_view bytes;
};

/// Of the library inside, as in "3.54.1".
std::string sqlite_version();

/// For a file that this process does not own, read_foreign_file chooses.
enum class OpenMode {
  read_write,
  read_only,  // under SQLite's locks; makes the log and the shared memory where they are missing
  immutable,  // a file that is closed: without a lock, a log or anything made beside it
  with_left_log,  // a closed file with the log that a killed process left; as immutable
};

class Connection {
 public:
  Connection(const std::string& path, OpenMode mode);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Runs statements that return nothing; several may stand in one text.
  void execute(const std::string& sql);
  /// Runs a cached statement that returns nothing. `sql` is a named constant, as for Query; the
  /// arguments are read where they are, without a copy.
  template <class... Args>
  void run(const char* sql, const Args&... args);
  /// A lasting address for a statement text put together at run time, for Query.
  const char* interned(std::string sql);
  /// Every statement that was run so far, for checks of how they are planned.
  std::vector<std::string> statement_texts() const;
  std::int64_t last_insert_key() const;
  /// Rows changed by the last statement.
  int changes() const;
  /// Rows changed since the connection was opened; also by what was rolled back.
  std::int64_t total_changes() const;
  /// True when no transaction is open, also when SQLite ended one by itself.
  bool autocommit() const;
  /// Makes the running statement fail with SQLITE_INTERRUPT. Safe from another thread.
  void interrupt();
  /// The library's own handle, for the few calls that have no wrapper (WAL hook, checkpoint).
  sqlite3* handle() const { return database_.get(); }

 private:
  friend class Query;
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3_stmt* prepared(const char* sql);

  std::unique_ptr<sqlite3, Close> database_;
  // Keyed by address: every statement is a named constant, so its address is its identity.
  std::unordered_map<const char*, std::unique_ptr<sqlite3_stmt, Finalize>> statements_;
  std::unordered_set<std::string> interned_;
};

/// The number that an enumerator is stored as. SQL that spells such a number has a static_assert
/// beside it, `static_assert(stored(HoldState::open) == 0)`; tests/tidy looks for it.
template <class Enum>
constexpr int stored(Enum value) {
  return static_cast<int>(value);
}

/// One execution of a cached statement. Reset and stripped of its bindings when it ends, so no
/// value of one execution can reach the next. One at a time per statement. Texts and blobs are
/// copied.
class Query {
 public:
  template <class... Args>
  Query(Connection& connection, const char* sql, const Args&... args)
      : statement_(connection.prepared(sql)) {
    int index = 0;
    (bind(++index, args), ...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  /// Moves to the next row; false at the end, and from then on.
  bool step();
  /// For statements without rows.
  void run() {
    while (step()) {
    }
  }

  void bind(int index, std::int64_t value);
  void bind(int index, std::string_view value);
  void bind(int index, Blob value);
  void bind_null(int index);
  void bind(int index, int value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, bool value) { bind(index, static_cast<std::int64_t>(value)); }
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, const char* value) { bind(index, std::string_view(value)); }
  void bind(int index, const Uuid& value);
  void bind(int index, Timestamp value) { bind(index, value.ms); }
  void bind(int index, Amount value) { bind(index, value.units()); }
  template <class Tag>
  void bind(int index, const Id<Tag>& value) {
    bind(index, value.uuid);
  }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void bind(int index, Enum value) { bind(index, static_cast<std::int64_t>(value)); }
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    value ? bind(index, *value) : bind_null(index);
  }

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  std::string text(int column) const;
  std::string blob(int column) const;
  Uuid uuid(int column) const;
  bool boolean(int column) const { return integer(column) != 0; }
  Timestamp time(int column) const { return {integer(column)}; }
  Amount amount(int column) const { return Amount::from_units(integer(column)); }
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
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<std::string> optional_text(int column) const;
  std::optional<Timestamp> optional_time(int column) const;
  std::optional<Amount> optional_amount(int column) const;

 private:
  friend class Connection;
  struct Borrowing {};
  /// The caller keeps what it binds until the query ends.
  Query(Connection& connection, const char* sql, Borrowing)
      : statement_(connection.prepared(sql)), copies_(false) {}

  sqlite3_stmt* statement_;
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
