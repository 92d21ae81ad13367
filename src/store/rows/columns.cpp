#include "store/rows/columns.h"

#include <deque>
#include <utility>

#include "base/check.h"
#include "base/numbers.h"
#include "base/text/join.h"

namespace coffer::store {

void columns::read(const Query& q, int at, Sha256& out) {
  const auto digest = sha256_from(q.blob(at));
  COFFER_CHECK(digest.has_value());
  out = *digest;
}

std::string_view kept(std::string text) {
  static std::deque<std::string> all;
  return all.emplace_back(std::move(text));
}

std::string select_texts(std::string_view table, const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) {
    out += ", " + std::string(table) + "." + std::string(name);
  }
  return out;
}

std::string ColumnList::insert_into(std::string_view table) const {
  return "INSERT INTO " + std::string(table) + " (" + join(names_, ", ") + ") VALUES (" +
         join(names_, ", ", [](std::string_view) { return "?"; }) + ")";
}

std::string ColumnList::update(std::string_view table) const {
  return "UPDATE " + std::string(table) + " SET " + join(names_, " = ?, ") + " = ?";
}

int count_names(std::string_view names) {
  return static_cast<int>(std::ranges::count(names, ',')) + 1;
}

void append_canonical(const Query& row, int first, int count, std::string& out) {
  for (int column = first; column < first + count; ++column) {
    if (row.is_null(column)) {
      out += '-';
      continue;
    }
    const std::string_view bytes = row.bytes(column);
    append_number(out, bytes.size());
    out += ':';
    out += bytes;
  }
}

}  // namespace coffer::store
