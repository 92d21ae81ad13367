#include "store/rows/row_buffer.h"

#include <sqlite3.h>

#include "base/check.h"
#include "store/rows/canonical.h"

namespace coffer::store {
namespace {

/// The name under which SQLite reads the gathered rows of a table.
std::string source_of(const std::string& table) { return "new_" + table; }

}  // namespace

/// SQLite's interface to a buffer: a read-only virtual table that is scanned from its first row.
struct RowBuffer::Cells {
  struct Table : sqlite3_vtab {
    const RowBuffer* rows;
  };
  struct Cursor : sqlite3_vtab_cursor {
    std::size_t row = 0;
  };

  static const RowBuffer& rows_of(sqlite3_vtab_cursor* cursor) {
    return *static_cast<Table*>(cursor->pVtab)->rows;
  }
  static std::size_t& row_of(sqlite3_vtab_cursor* cursor) {
    return static_cast<Cursor*>(cursor)->row;
  }

  static int connect(sqlite3* db, void* rows, int, const char* const*, sqlite3_vtab** out, char**) {
    const auto& buffer = *static_cast<const RowBuffer*>(rows);
    std::string declaration = "CREATE TABLE rows (c0";
    for (std::size_t i = 1; i < buffer.columns_; ++i) declaration += ", c" + std::to_string(i);
    const int code = sqlite3_declare_vtab(db, (declaration + ")").c_str());
    if (code == SQLITE_OK) *out = new Table{{}, &buffer};
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
    const RowBuffer& rows = rows_of(cursor);
    const Cell& cell =
        rows.cells_[row_of(cursor) * rows.columns_ + static_cast<std::size_t>(column)];
    if (cell.kind == Kind::integer) sqlite3_result_int64(context, cell.value);
    if (cell.kind == Kind::blob) {
      sqlite3_result_blob(context, rows.bytes_.data() + cell.value, static_cast<int>(cell.length),
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

RowBuffer::RowBuffer(Connection& writer, const std::string& table, std::string_view columns)
    : writer_(writer),
      columns_(static_cast<std::size_t>(count_names(columns))),
      insert_("INSERT INTO " + table + " (" + std::string(columns) + ") SELECT * FROM " +
              source_of(table)) {
  COFFER_CHECK(sqlite3_create_module(writer.handle(), source_of(table).c_str(), &Cells::kModule,
                                     this) == SQLITE_OK);
}

void RowBuffer::append(Blob value) {
  cells_.push_back({Kind::blob, static_cast<std::uint32_t>(value.bytes.size()),
                    static_cast<std::int64_t>(bytes_.size())});
  bytes_ += value.bytes;
}

void RowBuffer::write() {
  if (cells_.empty()) return;
  writer_.run(insert_.c_str());
  clear();
}

void RowBuffer::clear() {
  cells_.clear();
  bytes_.clear();
}

}  // namespace coffer::store
