// What a command says: records, shown as a table, as lines or as JSON. Commands only fill it, so
// that every one of them looks alike and has --json for nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/strong.h"

namespace coffer::cli {

struct Field;
/// Ordered; keys in the camelCase of the API.
using Record = std::vector<Field>;

struct Field {
  using Value = std::variant<std::monostate, std::string, std::int64_t, bool, std::vector<Record>>;

  Field(std::string name, std::string text) : key(std::move(name)), value(std::move(text)) {}
  Field(std::string name, std::string_view text) : Field(std::move(name), std::string(text)) {}
  Field(std::string name, const char* text) : Field(std::move(name), std::string(text)) {}
  Field(std::string name, bool flag) : key(std::move(name)), value(flag) {}
  Field(std::string name, int number) : key(std::move(name)), value(std::int64_t{number}) {}
  Field(std::string name, std::int64_t number) : key(std::move(name)), value(number) {}
  Field(std::string name, std::vector<Record> records)
      : key(std::move(name)), value(std::move(records)) {}
  /// A secret that is meant to be shown; an empty one is null.
  Field(std::string name, const Secret& secret) : key(std::move(name)) {
    if (!secret.empty()) value = secret.reveal();
  }
  Field(std::string name, std::optional<std::string> text) : key(std::move(name)) {
    if (text) value = *std::move(text);
  }

  std::string key;
  Value value;
};

/// Text shows values as people read them: a key that ends in Bytes, Ms, Seconds or At says the unit
/// (`databaseBytes` is `4.3 MiB`, `createdAt` is `22 min ago` or `2026-11-22 07:28 UTC`). JSON has
/// them as they are.
struct CommandResult {
  std::vector<Record> records;
  bool list = false;  // a JSON array and a table; else one object, shown line by line
  std::vector<std::string_view> columns = {};  // keys a table shows; empty: all
  std::string note = {};  // for people: goes to standard error, and not with --json
  int exit_code = 0;
  /// Of a list in pages: what --cursor takes to show the next one. Empty at the end.
  std::optional<std::string> next_cursor = {};
  /// For the audit log, when the command is done and has changed nothing: why.
  std::string unchanged = {};
};

/// Where a command prints, and for whom.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // `out` is one
  bool progress = false;  // `err` is one: long work may show how far it is
  bool colour = false;    // on whichever of the two is a terminal
  int columns = 0;        // of that terminal; 0: not known

  bool shades_out() const { return terminal && colour; }
  bool shades_err() const { return progress && colour; }
};

/// Returns the exit code.
int print_result(const Console& console, const CommandResult& result, bool json);
/// `coffer: DETAIL. HINT.` and one line per invalid field. Returns the exit code of the problem.
int print_problem(const Console& console, const Problem& problem, std::string_view hint);
/// `coffer: TEXT`.
void print_error(const Console& console, std::string_view text);

/// One line of JSON, ASCII only when `ascii`: then no byte of it can drive a terminal.
std::string to_json(const Record& record, bool ascii);
/// {"data": object or array, "columns"?: of a table, "nextCursor"?, "note"?, "exitCode"?: when not
/// 0}, for the admin page.
std::string to_json(const CommandResult& result);
/// Text from outside, fit for a terminal: control characters are replaced.
std::string printable(std::string_view text);

}  // namespace coffer::cli
