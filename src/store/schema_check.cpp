#include "store/schema_check.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text/ascii.h"
#include "base/text/join.h"
#include "base/text/shell_word.h"
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

/// Tables that known programs add to the files of others: Litestream, and SQLite itself, for
/// ANALYZE and for AUTOINCREMENT, whose table remains and cannot be dropped. coffer does not read
/// them.
const Objects& known() {
  static const Objects tables{
      {"table _litestream_lock", "_litestream_lock\nCREATE TABLE _litestream_lock (id INTEGER)"},
      {"table _litestream_seq",
       "_litestream_seq\nCREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)"},
      {"table sqlite_sequence", "sqlite_sequence\nCREATE TABLE sqlite_sequence(name,seq)"},
      {"table sqlite_stat1", "sqlite_stat1\nCREATE TABLE sqlite_stat1(tbl,idx,stat)"},
      {"table sqlite_stat4",
       "sqlite_stat4\nCREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"}};
  return tables;
}

/// Usually, both were written by the same schema.sql and are equal in every character.
bool is_same(const std::string& wanted, const std::string& found) {
  return wanted == found || normalised(wanted) == normalised(found);
}

/// Missing and different objects.
std::vector<std::string> changes(const Objects& wanted, const Objects& found) {
  std::vector<std::string> out;
  for (const auto& [name, text] : wanted) {
    const auto there = found.find(name);
    if (there == found.end()) {
      out.push_back(name + " is missing");
    } else if (!is_same(text, there->second)) {
      out.push_back(name + " differs");
    }
  }
  return out;
}

/// Objects that no schema.sql and no known program creates.
std::vector<Objects::const_iterator> additions(const Objects& wanted, const Objects& found) {
  std::vector<Objects::const_iterator> out;
  for (auto at = found.begin(); at != found.end(); ++at) {
    const bool second = at != found.begin() && std::prev(at)->first == at->first;
    const auto added = known().find(at->first);
    const bool is_known = added != known().end() && is_same(added->second, at->second);
    if (second || (!wanted.contains(at->first) && !is_known)) out.push_back(at);
  }
  return out;
}

std::vector<std::string> compare(const Objects& wanted, const Objects& found) {
  std::vector<std::string> out = changes(wanted, found);
  for (const auto at : additions(wanted, found)) out.push_back(at->first + " does not belong");
  return out;
}

const Objects& own_objects() {
  static const Objects wanted = objects_of(embedded::schema_sql());
  return wanted;
}

}  // namespace

std::vector<std::string> schema_differences(Connection& db) {
  return compare(own_objects(), objects_of(db));
}

std::vector<std::string> schema_differences(Connection& db, std::string_view schema) {
  return compare(objects_of(schema), objects_of(db));
}

std::string schema_fault(Connection& db) { return join(schema_differences(db), "; "); }

std::string schema_repair(Connection& db) {
  const Objects found = objects_of(db);
  if (!changes(own_objects(), found).empty()) return {};
  const auto added = additions(own_objects(), found);
  std::vector<std::string> out;
  for (const auto at : added) {
    const std::string type = at->first.substr(0, at->first.find(' '));
    const std::string name = at->first.substr(type.size() + 1);
    const std::string table = at->second.substr(0, at->second.find('\n'));
    // A trigger may have run already.
    if (type == "trigger" || own_objects().contains(at->first)) return {};
    if (!std::ranges::all_of(name, is_word)) return {};
    // Goes with its table.
    const bool follows = type == "index" && std::ranges::any_of(added, [&](const auto& other) {
                           return other->first == "table " + table;
                         });
    if (!follows) out.push_back("DROP " + ascii::to_upper(type) + " " + name);
  }
  return join(out, "; ");
}

std::string schema_remedy(const std::string& repair, const std::string& path) {
  if (repair.empty()) {
    return "Another program has changed the file. Keep a copy of it as evidence, find out who can "
           "write it, and restore a backup.";
  }
  return "Another program has added what does not belong, and nothing else is different. Find out "
         "which program did, and remove it from the stopped database: sqlite3 " +
         shell_word(path) + " '" + repair + "'.";
}

}  // namespace coffer::store
