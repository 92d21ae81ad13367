// A row as a struct. Each column is written once, next to its member; column positions are
// computed.
//
//   constexpr Column<AssetRow> kColumns[] = {column<&AssetRow::id>("id"), ...};
//   const std::string kFind = select(kColumns) + " FROM assets WHERE id = ?";
//   std::optional<AssetRow> row = first_row<AssetRow>(db, kFind, kColumns, id);
//
// An INSERT writes each `column`, and an UPDATE each `changing(column)`; a `joined` one is only
// read. NULL leaves a member at its default. A member of an empty optional is written as NULL.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/digest.h"
#include "domain/tables/text_field.h"
#include "store/file/connection.h"

namespace coffer::store {

template <class Row>
struct Column {
  std::string_view sql;                                // "name", or "w.name" in a join
  void (*read)(const Query& query, int at, Row& row);  // not called for NULL
  // Nullptr: a column of another table.
  void (*bind)(Query& query, int at, const Row& row) = nullptr;
  bool changes = false;
};

/// A column that an UPDATE of the row also writes.
template <class Row>
constexpr Column<Row> changing(Column<Row> column) {
  column.changes = true;
  return column;
}

namespace columns {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

inline void read(const Query& q, int at, std::int64_t& out) { out = q.integer(at); }
inline void read(const Query& q, int at, int& out) { out = static_cast<int>(q.integer(at)); }
inline void read(const Query& q, int at, unsigned& out) {
  out = static_cast<unsigned>(q.integer(at));
}
inline void read(const Query& q, int at, bool& out) { out = q.boolean(at); }
inline void read(const Query& q, int at, std::string& out) { out = q.text(at); }
inline void read(const Query& q, int at, Uuid& out) { out = q.uuid(at); }
inline void read(const Query& q, int at, Timestamp& out) { out = q.time(at); }
inline void read(const Query& q, int at, Amount& out) { out = q.amount(at); }
inline void read(const Query& q, int at, AssetCode& out) { out = q.asset_code(at); }
void read(const Query& q, int at, Sha256& out);
template <class Tag>
void read(const Query& q, int at, Id<Tag>& out) {
  out.uuid = q.uuid(at);
}
template <class Enum>
requires std::is_enum_v<Enum>
void read(const Query& q, int at, Enum& out) { out = q.enumeration<Enum>(at); }
template <class T>
void read(const Query& q, int at, std::optional<T>& out) {
  read(q, at, out.emplace());
}

template <class T>
void bind(Query& query, int at, const T& value) {
  query.bind(at, value);
}
inline void bind(Query& query, int at, unsigned value) { query.bind(at, std::int64_t{value}); }
inline void bind(Query& query, int at, const AssetCode& value) { query.bind(at, value.value()); }
inline void bind(Query& query, int at, const Sha256& value) {
  query.bind(at, Blob{as_text(value)});
}

/// A nested member of a row, for `column<&Row::inner, &Inner::member>`. Fills an optional on the
/// way.
template <auto First, auto... Rest, class Row>
auto& member(Row& row) {
  auto& here = row.*First;
  if constexpr (sizeof...(Rest) == 0) {
    return here;
  } else if constexpr (is_optional<std::remove_cvref_t<decltype(here)>>) {
    if (!here) here.emplace();
    return member<Rest...>(*here);
  } else {
    return member<Rest...>(here);
  }
}

/// Calls `f` with the member, unless an optional on the way or the member itself is empty.
template <auto First, auto... Rest, class Row, class F>
void with_member(const Row& row, const F& f) {
  const auto& here = row.*First;
  const auto next = [&](const auto& value) {
    if constexpr (sizeof...(Rest) == 0) {
      f(value);
    } else {
      with_member<Rest...>(value, f);
    }
  };
  if constexpr (is_optional<std::remove_cvref_t<decltype(here)>>) {
    if (here) next(*here);
  } else {
    next(here);
  }
}

template <class Row, class T>
Row owner(T Row::*);

}  // namespace columns

template <auto First, auto... Rest>
constexpr auto joined(std::string_view sql) {
  using Row = decltype(columns::owner(First));
  return Column<Row>{sql, [](const Query& query, int at, Row& row) {
                       columns::read(query, at, columns::member<First, Rest...>(row));
                     }};
}

template <auto First, auto... Rest>
constexpr auto column(std::string_view sql) {
  auto out = joined<First, Rest...>(sql);
  using Row = decltype(columns::owner(First));
  out.bind = [](Query& query, int at, const Row& row) {
    columns::with_member<First, Rest...>(
        row, [&](const auto& value) { columns::bind(query, at, value); });
  };
  return out;
}

/// Bytes in a string.
template <auto First, auto... Rest>
constexpr auto joined_blob(std::string_view sql) {
  using Row = decltype(columns::owner(First));
  return Column<Row>{sql, [](const Query& query, int at, Row& row) {
                       columns::member<First, Rest...>(row) = query.blob(at);
                     }};
}

template <auto First, auto... Rest>
constexpr auto blob_column(std::string_view sql) {
  auto out = joined_blob<First, Rest...>(sql);
  using Row = decltype(columns::owner(First));
  out.bind = [](Query& query, int at, const Row& row) {
    columns::with_member<First, Rest...>(row,
                                         [&](const auto& value) { query.bind(at, Blob{value}); });
  };
  return out;
}

/// A text that is NULL instead of empty.
template <auto First, auto... Rest>
constexpr auto text_or_null(std::string_view sql) {
  auto out = column<First, Rest...>(sql);
  using Row = decltype(columns::owner(First));
  out.bind = [](Query& query, int at, const Row& row) {
    columns::with_member<First, Rest...>(row, [&](const std::string& text) {
      if (!text.empty()) query.bind(at, text);
    });
  };
  return out;
}

/// The columns of a table whose row holds one of several nouns (domain/tables/text_field.h). A
/// column that several nouns share appears once. Columns that a noun does not have are NULL.
template <class... Nouns>
class TextColumns {
 public:
  using Noun = std::variant<Nouns...>;

  TextColumns() { (add<Nouns>(), ...); }
  int count() const { return static_cast<int>(names_.size()); }
  const std::vector<std::string_view>& names() const { return names_; }

  /// `at` is the first of the columns; `which` is the index of the noun.
  Noun read(const Query& query, int at, std::size_t which) const {
    Noun out;
    std::size_t index = 0;
    ((index++ == which ? void(out = read_one<Nouns>(query, at)) : void()), ...);
    return out;
  }
  void bind(Query& query, int at, const Noun& noun) const {
    std::visit(
        [&](const auto& one) {
          each_text(one, [&](const TextFact& fact, const std::string& value) {
            query.bind(at + position(fact.column), value);
          });
        },
        noun);
  }

 private:
  template <class One>
  void add() {
    for (const TextFact& fact : TextFields<One>::rows) {
      if (position(fact.column) == count()) names_.push_back(fact.column);
    }
  }
  template <class One>
  One read_one(const Query& query, int at) const {
    One out;
    for (const auto& field : TextFields<One>::rows) {
      auto value = query.optional_text(at + position(field.column));
      if (value) field.set(out, *std::move(value));
    }
    return out;
  }
  int position(std::string_view column) const {
    return static_cast<int>(std::ranges::find(names_, column) - names_.begin());
  }

  std::vector<std::string_view> names_;
};

/// The text, which lives as long as the process. For tables of columns that are built at start.
std::string_view kept(std::string text);

/// ", m.first_name, m.last_name" for the table or alias `m`.
std::string select_texts(std::string_view table, const std::vector<std::string_view>& names);

/// "SELECT a, b, c": the columns of one table, followed by those of another.
template <class... Columns>
std::string select(const Columns&... tables) {
  std::string out;
  const auto add = [&](const auto& all) {
    for (const auto& one : all) out += (out.empty() ? "SELECT " : ", ") + std::string(one.sql);
  };
  (add(tables), ...);
  return out;
}

/// `at` is the first of the columns.
template <class Row, class Columns>
Row read_row(const Query& query, const Columns& all, int at = 0) {
  Row row;
  for (const auto& one : all) {
    if (!query.is_null(at)) one.read(query, at, row);
    ++at;
  }
  return row;
}

template <class Row, class Columns>
std::vector<Row> all_rows(Query&& query, const Columns& all) {
  std::vector<Row> out;
  while (query.step()) out.push_back(read_row<Row>(query, all));
  return out;
}

/// `args` are bound to the parameters of `sql`.
template <class Row, class Columns, class... Args>
std::optional<Row> first_row(Connection& db, const std::string& sql, const Columns& all,
                             const Args&... args) {
  Query query(db, sql.c_str(), args...);
  return query.step() ? std::optional(read_row<Row>(query, all)) : std::nullopt;
}

/// For a statement that always finds a row.
template <class Row, class Columns, class... Args>
Row only_row(Connection& db, const std::string& sql, const Columns& all, const Args&... args) {
  Query query(db, sql.c_str(), args...);
  COFFER_CHECK(query.step());
  return read_row<Row>(query, all);
}

/// The first column of the first row; empty if it is NULL or there is no row.
template <class... Args>
std::optional<Timestamp> first_time(Connection& db, const char* sql, const Args&... args) {
  Query query(db, sql, args...);
  return query.step() ? query.optional_time(0) : std::nullopt;
}

/// Row{first column, second, ...}, of these types. For statements with a few columns that no table
/// lists; NULL is the default of the type.
template <class Row, class... Types>
Row row_of(const Query& query) {
  auto next = [&, at = 0]<class T>(T value) mutable {
    if (!query.is_null(at)) columns::read(query, at, value);
    ++at;
    return value;
  };
  return Row{next(Types())...};
}

template <class Row, class... Types, class... Args>
std::optional<Row> first_of(Connection& db, const char* sql, const Args&... args) {
  Query query(db, sql, args...);
  return query.step() ? std::optional(row_of<Row, Types...>(query)) : std::nullopt;
}

template <class Row, class... Types, class... Args>
std::vector<Row> all_of(Connection& db, const char* sql, const Args&... args) {
  std::vector<Row> out;
  for (Query query(db, sql, args...); query.step();) out.push_back(row_of<Row, Types...>(query));
  return out;
}

/// Columns of one statement, in the order in which they are bound.
class ColumnList {
 public:
  ColumnList(std::initializer_list<std::string_view> names) : names_(names) {}
  template <class Columns>
  ColumnList& add(const Columns& all) {
    for (const auto& one : all) {
      if (one.bind != nullptr) names_.push_back(one.sql.substr(one.sql.find('.') + 1));
    }
    return *this;
  }
  template <class Columns>
  ColumnList& add_changing(const Columns& all) {
    for (const auto& one : all) {
      if (one.changes) names_.push_back(one.sql.substr(one.sql.find('.') + 1));
    }
    return *this;
  }
  template <class... Nouns>
  ColumnList& add(const TextColumns<Nouns...>& texts) {
    names_.insert(names_.end(), texts.names().begin(), texts.names().end());
    return *this;
  }

  /// "INSERT INTO wallets (tenant, id) VALUES (?, ?)".
  std::string insert_into(std::string_view table) const;
  /// "UPDATE wallets SET tenant = ?, id = ?".
  std::string update(std::string_view table) const;

 private:
  std::vector<std::string_view> names_;
};

/// Binds the columns that were added to the ColumnList, starting at `at`; returns the position
/// after them.
template <class Row, class Columns>
int bind_row(Query& query, int at, const Columns& all, const Row& row) {
  for (const auto& one : all) {
    if (one.bind != nullptr) one.bind(query, at++, row);
  }
  return at;
}

/// Runs an INSERT of the values in `before` and of the columns of `row`.
template <class Row, class Columns, class... Args>
void insert_row(Connection& db, const std::string& sql, const Columns& all, const Row& row,
                const Args&... before) {
  Query query(db, sql.c_str(), before...);
  bind_row(query, sizeof...(before) + 1, all, row);
  query.run();
}

/// Runs an UPDATE of the values in `before` and of the columns of `row` that change. The key is the
/// last value of the statement.
template <class Row, class Columns, class Key, class... Args>
void update_row(Connection& db, const std::string& sql, const Columns& all, const Row& row,
                const Key& key, const Args&... before) {
  Query query(db, sql.c_str(), before...);
  int at = sizeof...(before) + 1;
  for (const auto& one : all) {
    if (one.changes) one.bind(query, at++, row);
  }
  query.bind(at, key);
  query.run();
}

/// The number of names in a list that is separated by commas.
int count_names(std::string_view names);

/// The canonical text of a row, over which keyed digests are computed: appends `count` columns of
/// the row from `first` on: per column `-` for NULL, otherwise the number of bytes, `:` and the
/// bytes (of an integer: its decimal digits).
void append_canonical(const Query& row, int first, int count, std::string& out);

}  // namespace coffer::store
