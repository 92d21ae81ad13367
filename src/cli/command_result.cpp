#include "cli/command_result.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/platform/exit_code.h"
#include "base/readable.h"
#include "base/text/ascii.h"
#include "base/text/characters.h"
#include "base/text/columns.h"
#include "base/uuid.h"
#include "cli/table.h"
#include "domain/ledger/money.h"

namespace coffer::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Record& record);

Json json_of(const Field::Value& value) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(std::int64_t number) const { return number; }
    Json operator()(bool flag) const { return flag; }
    Json operator()(const std::vector<Record>& records) const {
      Json out = Json::array();
      for (const Record& record : records) out.push_back(json_of(record));
      return out;
    }
  };
  return std::visit(Visitor{}, value);
}

Json json_of(const Record& record) {
  Json out = Json::object();
  for (const Field& field : record) out[field.key] = json_of(field.value);
  return out;
}

std::string dump(const Json& json, int indent, bool ascii) {
  return json.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

/// The unit of a number or text, according to its key.
enum class Unit { none, time, bytes, ms, seconds };

struct UnitName {
  std::string_view suffix;  // `databaseBytes`
  std::string_view alone;   // `bytes`
  Unit unit;
};
constexpr auto kUnitNames = std::to_array<UnitName>({{"At", "at", Unit::time},
                                                     {"Until", "until", Unit::time},
                                                     {"", "from", Unit::time},
                                                     {"", "to", Unit::time},
                                                     {"Bytes", "bytes", Unit::bytes},
                                                     {"Ms", "", Unit::ms},
                                                     {"Seconds", "", Unit::seconds}});

const UnitName* unit_name_of(std::string_view key) {
  const auto found = std::ranges::find_if(kUnitNames, [&](const UnitName& name) {
    return key == name.alone || (!name.suffix.empty() && key.ends_with(name.suffix));
  });
  return found == kUnitNames.end() ? nullptr : &*found;
}

Unit unit_of(std::string_view key) {
  const UnitName* name = unit_name_of(key);
  return name == nullptr ? Unit::none : name->unit;
}

/// How times are shown. A column shows the age, which readers look for first, unless the output is
/// not a terminal: a stored age would become wrong. Steps of one operation need exact times.
enum class Times { distance, minute_and_distance, exact };

std::string time_text(const std::string& text, Times times) {
  const auto at = Timestamp::parse(text);
  if (!at || at->to_string() != text) return printable(text);
  if (times == Times::exact) return exact_time(*at);
  const std::string minute = readable_time(*at);
  const std::string age = readable_age(*at, SystemClock().now());
  if (age.empty()) return minute;
  return times == Times::distance ? age : minute + " (" + age + ")";
}

std::string number_text(std::int64_t number, Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return readable_bytes(number);
    case Unit::ms:
      return readable_duration(number);
    case Unit::seconds:
      return readable_duration(number * 1'000);
    case Unit::none:
    case Unit::time:
      break;
  }
  return std::to_string(number);
}

/// Nested records on one line: `USDC 12.00 10.00, EURC 3.00 3.00`.
std::string text_of(const Field& field, Times times) {
  struct Visitor {
    const Field& field;
    Times times;

    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(const std::string& text) const {
      if (text.empty()) return "-";
      return unit_of(field.key) == Unit::time ? time_text(text, times) : printable(text);
    }
    std::string operator()(std::int64_t number) const {
      return number_text(number, unit_of(field.key));
    }
    std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
    std::string operator()(const std::vector<Record>& records) const {
      std::string out;
      for (const Record& record : records) {
        // A record with a summary for people is shown as it.
        const auto summary = std::ranges::find(record, "summary", &Field::key);
        if (summary != record.end()) {
          out += (out.empty() ? "" : "; ") + text_of(*summary, times);
          continue;
        }
        if (!out.empty()) out += ", ";
        for (const Field& part : record) {
          out += (&part == &record.front() ? "" : " ") + text_of(part, times);
        }
      }
      return out.empty() ? "-" : out;
    }
  };
  return std::visit(Visitor{field, times}, field.value);
}

bool is_status(std::string_view key) {
  constexpr auto kKeys = std::to_array<std::string_view>(
      {"status", "state", "health", "result", "breaker", "outcome"});
  return std::ranges::find(kKeys, key) != kKeys.end();
}

Cell cell_of(const Field& field, Times times) {
  const auto* word = std::get_if<std::string>(&field.value);
  const bool status = word != nullptr && is_status(field.key);
  return {text_of(field, times), status ? shade_of_status(*word) : Shade::plain};
}

/// Names that are not the words of their key.
constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"attention", "needs attention"},
    {"books", "ledger balances"},
    {"breakersOpen", "connectors without response"},
    {"countryIsoCode2", "country"},
    {"currencyIsoCode3", "currency"},
    {"deadLetters", "failed deliveries"},
    {"formerUrls", "former URLs"},
    {"walBytes", "write-ahead log"}};

/// `sellAssetCode` as words: `sell asset code`. Omits a unit that the value shows.
std::string words_of(std::string_view key) {
  for (const auto& [known, words] : kNames) {
    if (key == known) return std::string(words);
  }
  const UnitName* unit = unit_name_of(key);
  if (unit != nullptr && unit->unit != Unit::time) {
    if (key == unit->alone) return "size";
    key.remove_suffix(unit->suffix.size());
  }
  std::string out;
  for (const char c : key) {
    if (ascii::is_upper(c)) out += ' ';
    out += ascii::to_lower(c);
  }
  return out;
}

bool shown(const CommandResult& result, const Field& field) {
  return result.columns.empty() ||
         std::ranges::find(result.columns, field.key) != result.columns.end();
}

Record shown_part(const CommandResult& result, const Record& record) {
  Record out;
  for (const Field& field : record) {
    if (shown(result, field)) out.push_back(field);
  }
  return out;
}

bool is_number(std::string_view text) {
  return text.find_first_not_of("+-.,0123456789") == std::string_view::npos;
}

/// `12.50`, or with its asset or currency: `USDC 12.50`, `12.50 KES`.
bool is_amount(std::string_view text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos) return is_number(text);
  const std::string_view first = text.substr(0, space), second = text.substr(space + 1);
  return (is_number(first) && AssetCode::parse(second)) ||
         (AssetCode::parse(first) && is_number(second));
}

/// The name of a payment that its sender has chosen, by which people know it.
constexpr std::string_view kOwnId = "transactionId";

/// The column kind that a value requires; a column has the strictest kind of its values.
Table::Kind kind_of(const Field& field) {
  const auto* text = std::get_if<std::string>(&field.value);
  if (text == nullptr) {
    const bool list = std::holds_alternative<std::vector<Record>>(field.value);
    return list ? Table::Kind::text : Table::Kind::exact;
  }
  if (field.key == kOwnId) return Table::Kind::key;
  if (Uuid::parse(*text)) return Table::Kind::id;
  const bool exact = is_amount(*text) || is_status(field.key) || unit_of(field.key) == Unit::time;
  return exact ? Table::Kind::exact : Table::Kind::text;
}

void put_kind(Table::Column& column, const Field& field, bool first) {
  const Table::Kind kind = kind_of(field);
  const bool nothing = std::holds_alternative<std::monostate>(field.value);
  if (first || column.kind == Table::Kind::exact) {
    column.kind = kind;
  } else if (!nothing && kind != column.kind) {
    column.kind = Table::Kind::text;
  }
}

Table table_of(const CommandResult& result, Times times) {
  Table table;
  for (const Field& field : result.records.front()) {
    if (shown(result, field)) table.columns.push_back({ascii::to_upper(words_of(field.key))});
  }
  for (const Record& record : result.records) {
    auto& row = table.rows.emplace_back();
    for (const Field& field : record) {
      if (!shown(result, field)) continue;
      put_kind(table.columns[row.size()], field, table.rows.size() == 1);
      row.push_back(cell_of(field, times));
    }
  }
  return table;
}

void print_lines(const Console& console, const Record& record);

void print_list(const Console& console, const CommandResult& result, Times times) {
  if (result.records.empty()) {
    console.err << result.empty << '\n';
    return;
  }
  switch (print_table(console, table_of(result, times))) {
    case Fit::whole:
      return;
    case Fit::cut:
      console.out.flush();
      console.err << "Shortened to fit the terminal. --json prints all values.\n";
      return;
    case Fit::too_wide:
      break;
  }
  for (const Record& record : result.records) {
    if (&record != &result.records.front()) console.out << '\n';
    print_lines(console, shown_part(result, record));
  }
}

/// A list of records that are too wide for one line.
const std::vector<Record>* wide_list(const Field& field) {
  constexpr std::size_t kFieldsOnALine = 3;
  const auto* records = std::get_if<std::vector<Record>>(&field.value);
  const bool wide =
      records != nullptr && !records->empty() && records->front().size() > kFieldsOnALine;
  return wide ? records : nullptr;
}

bool is_given(const Field& field) {
  const auto* text = std::get_if<std::string>(&field.value);
  const auto* records = std::get_if<std::vector<Record>>(&field.value);
  return !std::holds_alternative<std::monostate>(field.value) &&
         (text == nullptr || !text->empty()) && (records == nullptr || !records->empty());
}

/// Prints the values that are given, in full, regardless of the terminal's width. Wide lists follow
/// as separate tables.
void print_lines(const Console& console, const Record& record) {
  const Times times = console.terminal ? Times::minute_and_distance : Times::exact;
  std::size_t width = 0;
  const auto on_a_line = [](const Field& field) {
    return is_given(field) && wide_list(field) == nullptr;
  };
  for (const Field& field : record) {
    if (on_a_line(field)) width = std::max(width, columns_of(words_of(field.key)));
  }
  for (const Field& field : record) {
    if (!on_a_line(field)) continue;
    const std::string label = words_of(field.key);
    const Cell cell = cell_of(field, times);
    console.out << label << std::string(width + 2 - columns_of(label), ' ')
                << shaded(cell.shade, cell.text, console.shades_out()) << '\n';
  }
  bool first = std::ranges::none_of(record, on_a_line);
  for (const Field& field : record) {
    const auto* records = wide_list(field);
    if (records == nullptr) continue;
    console.out << (std::exchange(first, false) ? "" : "\n") << words_of(field.key) << '\n';
    print_list(console, {.records = *records, .list = true}, Times::exact);
  }
}

Json data_of(const CommandResult& result) {
  Json json = Json::array();
  for (const Record& record : result.records) json.push_back(json_of(record));
  if (result.list) return json;
  return json.empty() ? Json::object() : Json(json.front());
}

void print_json(const Console& console, const CommandResult& result) {
  Json json = data_of(result);
  if (result.paged) {
    json = Json{{"data", std::move(json)}, {"nextCursor", nullptr}};
    if (result.next_cursor) json["nextCursor"] = *result.next_cursor;
  }
  console.out << dump(json, console.terminal ? 2 : -1, console.terminal) << '\n';
}

/// Exit codes of problems that do not exit with kFailed.
constexpr std::array<std::pair<Slug, int>, 9> kExitCodes = {{
    {Slug::malformed_request, exit_code::kUsage},
    {Slug::validation_failed, exit_code::kUsage},
    {Slug::amount_precision, exit_code::kUsage},
    {Slug::amount_out_of_range, exit_code::kUsage},
    {Slug::forbidden, exit_code::kPermission},
    {Slug::overloaded, exit_code::kBusy},
    {Slug::storage_full, exit_code::kBusy},
    {Slug::provider_unavailable, exit_code::kUnreachable},
    {Slug::provider_timeout, exit_code::kUnreachable},
}};

int exit_code_of(const Problem& problem) {
  for (const auto& [slug, code] : kExitCodes) {
    if (slug == problem.slug) return code;
  }
  return exit_code::kFailed;
}

/// The detail of a Problem, or its title if it has none.
std::string headline(const Problem& problem) {
  return problem.detail.empty() ? std::string(info(problem.slug).title) : problem.detail;
}

/// The middle of an error line has no initial capital: `the wallet was not found`.
std::string without_capital(std::string text) {
  if (text.size() > 1 && ascii::is_lower(text[1])) text[0] = ascii::to_lower(text[0]);
  return text;
}

/// Whether a field error adds information to the detail.
bool says_more(const Problem& problem, const FieldError& field) {
  return problem.detail.find(field.message) == std::string::npos;
}

}  // namespace

int print_result(const Console& console, const CommandResult& result, bool json) {
  const Console errors{console.err,      console.err,    console.progress,
                       console.progress, console.colour, console.columns};
  const Console& to = result.failed ? errors : console;
  if (json) {
    print_json(console, result);
  } else if (result.list) {
    print_list(to, result, to.terminal ? Times::distance : Times::exact);
  } else {
    for (const Record& record : result.records) print_lines(to, shown_part(result, record));
  }
  // An empty flush checks whether the reader still exists; not needed if there was nothing to
  // print.
  if (json || !result.records.empty()) console.out.flush();
  if (!json && !result.note.empty()) console.err << result.note << '\n';
  if (result.next_cursor && !json)
    console.err << "next page: --cursor " << *result.next_cursor << '\n';
  return result.exit_code;
}

std::string sentence(const Problem& problem) {
  std::string out = headline(problem);
  for (const FieldError& error : problem.fields) {
    if (says_more(problem, error)) out += " " + error.field + " " + error.message + ".";
  }
  return out;
}

void print_error(const Console& console, std::string_view text) {
  // Several sentences end with a full stop; a single clause does not.
  const bool ends = text.ends_with('.') || text.ends_with('?');
  const bool sentences = text.find(". ") != std::string_view::npos && !ends;
  console.err << shaded(Shade::red, "coffer:", console.shades_err()) << ' '
              << printable(without_capital(std::string(text))) << (sentences ? "." : "")
              << std::endl;
}

int print_problem(const Console& console, const Problem& problem, std::string_view hint) {
  std::string text = headline(problem);
  if (text.ends_with('.')) text.pop_back();
  const bool about_id = problem.slug == Slug::not_found || problem.detail.ends_with(kNoUuid);
  if (!hint.empty() && about_id) text += ". " + std::string(hint);
  print_error(console, text);
  for (const FieldError& field : problem.fields) {
    if (!says_more(problem, field)) continue;
    console.err << "  " << printable(field.field) << ": " << printable(field.message) << '\n';
  }
  return problem.exit_code.value_or(exit_code_of(problem));
}

int print_result(const Console& console, const Result<CommandResult>& result, bool json) {
  return result ? print_result(console, *result, json) : print_problem(console, result.error(), {});
}

std::string to_json(const Record& record, bool ascii) { return dump(json_of(record), -1, ascii); }

std::string to_json(const CommandResult& result) {
  Json out = Json::object();
  out["data"] = data_of(result);
  if (!result.columns.empty()) {
    for (const std::string_view column : result.columns) out["columns"].push_back(column);
  }
  if (result.next_cursor) out["nextCursor"] = *result.next_cursor;
  if (!result.note.empty()) out["note"] = result.note;
  if (result.exit_code != 0) out["exitCode"] = result.exit_code;
  if (result.waits) out["waits"] = true;
  return dump(out, -1, false);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    // C1 controls (U+0080 to U+009F) also control terminals.
    const bool control = first.value < 0x20 || (first.value >= 0x7f && first.value < 0xa0);
    const std::size_t length = std::max<std::size_t>(first.length, 1);
    out += first.length == 0 || control ? "?" : text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace coffer::cli
