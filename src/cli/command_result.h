// The result of a command: records, printed as a table, as lines or as JSON. Commands only fill it,
// so every command prints in the same format and supports --json.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/strong.h"

namespace coffer::cli {

struct Field;
/// Ordered; keys in camelCase, as in the API.
using Record = std::vector<Field>;

template <class T>
concept Printable = requires(const T& one) {
  { one.to_string() } -> std::same_as<std::string>;
};

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
  /// A secret that the command reveals on purpose; an empty one is null.
  Field(std::string name, const Secret& secret) : key(std::move(name)) {
    if (!secret.empty()) value = secret.reveal();
  }
  Field(std::string name, std::optional<std::string> text) : key(std::move(name)) {
    if (text) value = *std::move(text);
  }
  /// An ID or a time.
  template <Printable T>
  Field(std::string name, const T& one) : Field(std::move(name), one.to_string()) {}
  template <class Enum>
  requires std::is_enum_v<Enum> Field(std::string field, Enum one)
      : Field(std::move(field), name(one)) {}
  template <class T>
  Field(std::string name, const std::optional<T>& one) : key(std::move(name)) {
    if (one) value = Field({}, *one).value;
  }

  std::string key;
  Value value;
};

/// A file that is produced while it is being written to standard output or, on the admin page,
/// downloaded.
struct ProducedFile {
  std::string name;  // proposed to the operator
  std::string content_type;
  bool text = true;                         // a terminal can show it
  std::optional<std::uint64_t> bytes = {};  // its size, if known before it is written
  /// Writes the content piece by piece. Called once, after the command has returned and from
  /// another thread. Ends if the sink returns false. Returns false if the file is incomplete.
  std::function<bool(const std::function<bool(std::string_view)>& sink)> write;
};

/// Text output shows values in readable form: a key that ends in Bytes, Ms, Seconds or At
/// determines the unit (`databaseBytes` is `4.3 MiB`, `createdAt` is `22 min ago` or `2026-11-22
/// 07:28 UTC`). JSON contains the exact values.
struct CommandResult {
  std::vector<Record> records;
  bool list = false;    // a JSON array and a table; otherwise one object, shown line by line
  bool failed = false;  // the records are the reason: as text, they go to standard error
  std::vector<std::string_view> columns = {};  // keys that a table shows; empty: all
  std::string note = {};  // for people: printed to standard error, but not with --json
  int exit_code = 0;
  std::string_view empty = "Nothing found.";  // for people, in place of an empty list
  bool paged = false;                         // a list in pages: as JSON, {data, nextCursor}
  /// For a list in pages: the --cursor of the next page. Empty at the end.
  std::optional<std::string> next_cursor = {};
  /// Printed in place of the records, which only the admin page shows.
  std::optional<ProducedFile> file = {};
  /// For the audit log: why a successful command changed nothing.
  std::string unchanged = {};
  /// The command has not run: it waits for a second operator (cli/run/four_eyes.h).
  bool waits = false;
};

/// A record of each row.
template <class Rows, class View>
std::vector<Record> records_of(const Rows& rows, const View& view) {
  std::vector<Record> out;
  for (const auto& row : rows) out.push_back(view(row));
  return out;
}
/// A list with a record of each row. `columns` are those of its table.
template <class Rows, class View>
CommandResult list_of(std::vector<std::string_view> columns, const Rows& rows, const View& view) {
  return {.records = records_of(rows, view), .list = true, .columns = std::move(columns)};
}

/// The output streams of a command and their properties.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool terminal = false;  // `out` is a terminal
  bool progress = false;  // `err` is a terminal, so long operations may show progress
  bool colour = false;    // for each of the two that is a terminal
  int columns = 0;        // of that terminal; 0: unknown

  bool shades_out() const { return terminal && colour; }
  bool shades_err() const { return progress && colour; }
};

/// Returns the exit code.
int print_result(const Console& console, const CommandResult& result, bool json);
int print_result(const Console& console, const Result<CommandResult>& result, bool json);
/// The end of the detail about an invalid ID, which the hint of the command follows.
inline constexpr std::string_view kNoUuid = "expected a UUID.";
/// `coffer: DETAIL. HINT.` and one line per invalid field. Returns the exit code of the problem.
int print_problem(const Console& console, const Problem& problem, std::string_view hint);
/// The detail of a Problem, followed by the field errors that it does not contain.
std::string sentence(const Problem& problem);
/// `coffer: TEXT`.
void print_error(const Console& console, std::string_view text);

/// One line of JSON. With `ascii`, only ASCII, so that no byte can control a terminal.
std::string to_json(const Record& record, bool ascii);
/// {"data": object or array, "columns"?: of a table, "nextCursor"?, "note"?, "exitCode"?: if not
/// 0, "waits"?: true}, for the admin page.
std::string to_json(const CommandResult& result);
/// Text from outside for a terminal: control characters, and bytes that are not UTF-8, are
/// replaced.
std::string printable(std::string_view text);

}  // namespace coffer::cli
