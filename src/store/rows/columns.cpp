#include "store/rows/columns.h"

#include "base/check.h"

namespace coffer::store {
namespace {

std::string listed(const std::vector<std::string_view>& names, std::string_view after) {
  std::string out;
  for (const std::string_view name : names) {
    out += (out.empty() ? "" : ", ") + std::string(name) + std::string(after);
  }
  return out;
}

}  // namespace

void columns::read(const Query& q, int at, Sha256& out) {
  const std::string bytes = q.blob(at);
  COFFER_CHECK(bytes.size() == out.size());
  std::copy(bytes.begin(), bytes.end(), out.begin());
}

std::string select_texts(std::string_view table, const std::vector<std::string_view>& names) {
  std::string out;
  for (const std::string_view name : names) {
    out += ", " + std::string(table) + "." + std::string(name);
  }
  return out;
}

std::string ColumnList::insert_into(std::string_view table) const {
  std::string marks;
  for (std::size_t i = 0; i < names_.size(); ++i) marks += i == 0 ? "?" : ", ?";
  return "INSERT INTO " + std::string(table) + " (" + listed(names_, "") + ") VALUES (" + marks +
         ")";
}

std::string ColumnList::update(std::string_view table) const {
  return "UPDATE " + std::string(table) + " SET " + listed(names_, " = ?");
}

}  // namespace coffer::store
