#include "store/schema_check.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text/ascii.h"
#include "base/text/join.h"
#include "embedded/embedded.h"

namespace coffer::store {
namespace {

constexpr const char* kObjects = "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema";

bool is_word(char c) { return ascii::is_letter_or_digit(c) || c == '_'; }

/// Without comments and redundant spaces, because an upgrade writes the same statement in another
/// layout than schema.sql.
std::string normalised(std::string_view sql) {
  std::string out;
  bool space = false;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    if (c == '-' && sql.substr(i, 2) == "--") {
      i = std::min(sql.find('\n', i), sql.size());
      space = true;
      continue;
    }
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      space = true;
      continue;
    }
    if (space && !out.empty() && is_word(out.back()) && is_word(c)) out += ' ';
    space = false;
    std::size_t end = i + 1;
    if (c == '\'' || c == '"' || c == '`') end = std::min(sql.find(c, i + 1), sql.size() - 1) + 1;
    out += sql.substr(i, end - i);
    i = end - 1;
  }
  return out;
}

/// Type and name of each object, with its table and its statement as it was written. Two objects
/// with the same name are possible only in a file that was edited.
using Objects = std::multimap<std::string, std::string>;

Objects objects_of(Connection& db) {
  Objects out;
  Query query(db, kObjects);
  while (query.step()) {
    out.emplace(query.text(0) + " " + query.text(1), query.text(2) + "\n" + query.text(3));
  }
  return out;
}

Objects objects_of(std::string_view schema) {
  Connection db(":memory:", OpenMode::read_write);
  db.execute(std::string(schema));
  return objects_of(db);
}

/// Usually, both were written by the same schema.sql and are equal in every character.
bool is_same(const std::string& wanted, const std::string& found) {
  return wanted == found || normalised(wanted) == normalised(found);
}

std::vector<std::string> compare(const Objects& wanted, const Objects& found) {
  std::vector<std::string> out;
  for (const auto& [name, text] : wanted) {
    const auto there = found.find(name);
    if (there == found.end()) {
      out.push_back(name + " is missing");
    } else if (!is_same(text, there->second)) {
      out.push_back(name + " differs");
    }
  }
  for (auto at = found.begin(); at != found.end(); ++at) {
    const bool second = at != found.begin() && std::prev(at)->first == at->first;
    if (second || !wanted.contains(at->first)) out.push_back(at->first + " does not belong");
  }
  return out;
}

}  // namespace

std::vector<std::string> schema_differences(Connection& db) {
  static const Objects wanted = objects_of(embedded::schema_sql());
  return compare(wanted, objects_of(db));
}

std::vector<std::string> schema_differences(Connection& db, std::string_view schema) {
  return compare(objects_of(schema), objects_of(db));
}

std::string schema_fault(Connection& db) { return join(schema_differences(db), "; "); }

}  // namespace coffer::store
