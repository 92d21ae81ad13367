#include "store/operations/export.h"

#include "base/digest.h"
#include "store/rows/key_walk.h"

namespace coffer::store {
namespace {

std::string statement_of(const ExportNoun& noun) {
  std::string sql = "SELECT ";
  for (const ExportColumn& column : noun.columns) {
    if (&column != &noun.columns.front()) sql += ", ";
    sql += column.expression;
  }
  return sql + " FROM " + std::string(noun.table) + " x " + std::string(noun.joined) +
         " ORDER BY " + std::string(noun.order);
}

ExportValue value_of(const Query& query, int at, const ExportColumn& column) {
  if (query.is_null(at)) return {};
  switch (column.kind) {
    case ExportKind::text:
    case ExportKind::json:
      return query.text(at);
    case ExportKind::integer:
      return query.integer(at);
    case ExportKind::boolean:
      return query.boolean(at);
    case ExportKind::id:
      return query.uuid(at).to_string();
    case ExportKind::time:
      return query.time(at).to_string();
    case ExportKind::amount:
      return query.amount(at).to_string(Amount::kScale);
    case ExportKind::hex:
      return to_hex(query.blob(at));
    case ExportKind::name:
      return std::string(column.named(query.integer(at)));
  }
  throw InternalError("unknown kind of export column");
}

}  // namespace

ExportReader::ExportReader(const std::string& path) : db_(path, OpenMode::read_only) {
  db_.execute("PRAGMA busy_timeout=5000; PRAGMA cache_size=-8192");
  db_.run("BEGIN");
  db_.run("SELECT count(*) FROM sqlite_schema");
}

std::int64_t ExportReader::count(const ExportNoun& noun) {
  const std::string sql = "SELECT count(*) FROM " + std::string(noun.table);
  return first_integer(db_, db_.interned(sql)).value_or(0);
}

void ExportReader::each(const ExportNoun& noun,
                        const std::function<void(const std::vector<ExportValue>&)>& take) {
  std::vector<ExportValue> values(noun.columns.size());
  Query query(db_, db_.interned(statement_of(noun)));
  while (query.step()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = value_of(query, static_cast<int>(i), noun.columns[i]);
    }
    take(values);
  }
}

}  // namespace coffer::store
