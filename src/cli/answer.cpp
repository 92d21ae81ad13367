#include "cli/answer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/exit_code.h"

namespace coffer::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kPlain = "\x1b[0m";

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

std::string text_of(const Field::Value& value);

/// Nested records on one line: `USDC 12.00 10.00, EURC 3.00 3.00`.
std::string text_of(const std::vector<Record>& records) {
  std::string out;
  for (const Record& record : records) {
    if (!out.empty()) out += ", ";
    for (std::size_t i = 0; i < record.size(); ++i) {
      out += (i == 0 ? "" : " ") + text_of(record[i].value);
    }
  }
  return out.empty() ? "-" : out;
}

std::string text_of(const Field::Value& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(const std::string& text) const {
      return text.empty() ? "-" : printable(text);
    }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
    std::string operator()(const std::vector<Record>& records) const { return text_of(records); }
  };
  return std::visit(Visitor{}, value);
}

/// `sellAssetCode` as people write it: `sell asset code`.
std::string words_of(std::string_view key) {
  std::string out;
  for (const char c : key) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper) out += ' ';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::string upper_case(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

/// Characters, not bytes; wide ones count as one.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

using Row = std::vector<std::string>;

void print_aligned(const Console& console, const std::vector<Row>& rows, bool heading) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  for (const Row& row : rows) {
    const bool bold = heading && console.terminal && console.colour && &row == &rows.front();
    if (bold) console.out << kBold;
    for (std::size_t i = 0; i < row.size(); ++i) {
      console.out << row[i];
      if (i + 1 < row.size()) console.out << std::string(widths[i] + 2 - width_of(row[i]), ' ');
    }
    console.out << (bold ? kPlain : "") << '\n';
  }
}

bool shown(const Answer& answer, const Field& field) {
  return answer.columns.empty() ||
         std::find(answer.columns.begin(), answer.columns.end(), field.key) != answer.columns.end();
}

void print_table(const Console& console, const Answer& answer) {
  if (answer.records.empty()) {
    console.err << "none\n";
    return;
  }
  std::vector<Row> rows(1);
  for (const Field& field : answer.records.front()) {
    if (shown(answer, field)) rows.front().push_back(upper_case(words_of(field.key)));
  }
  for (const Record& record : answer.records) {
    Row& row = rows.emplace_back();
    for (const Field& field : record) {
      if (shown(answer, field)) row.push_back(text_of(field.value));
    }
  }
  print_aligned(console, rows, true);
}

/// A list of records that are too wide for one line.
const std::vector<Record>* wide_list(const Field& field) {
  constexpr std::size_t kFieldsOnALine = 3;
  const auto* records = std::get_if<std::vector<Record>>(&field.value);
  const bool wide =
      records != nullptr && !records->empty() && records->front().size() > kFieldsOnALine;
  return wide ? records : nullptr;
}

/// Wide lists stand below as tables of their own.
void print_lines(const Console& console, const Record& record) {
  std::vector<Row> rows;
  for (const Field& field : record) {
    if (wide_list(field) == nullptr) {
      rows.push_back({words_of(field.key), text_of(field.value)});
    }
  }
  print_aligned(console, rows, false);
  for (const Field& field : record) {
    const auto* records = wide_list(field);
    if (records == nullptr) continue;
    console.out << '\n' << words_of(field.key) << '\n';
    print_table(console, {.records = *records, .list = true});
  }
}

Json data_of(const Answer& answer) {
  Json json = Json::array();
  for (const Record& record : answer.records) json.push_back(json_of(record));
  if (answer.list) return json;
  return json.empty() ? Json::object() : Json(json.front());
}

void print_json(const Console& console, const Answer& answer) {
  console.out << dump(data_of(answer), console.terminal ? 2 : -1, console.terminal) << '\n';
}

/// What a refused command ends with, where it is not plain failure.
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

/// A Problem's sentence as the middle of an error line: `There is no such wallet.` loses its
/// capital and its full stop.
std::string clause(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  const bool word = text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
  if (word && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

/// A field whose message the detail only repeats says nothing new.
bool says_more(const Problem& problem, const FieldError& field) {
  return problem.detail.find(field.message) == std::string::npos;
}

}  // namespace

int print_answer(const Console& console, const Answer& answer, bool json) {
  if (json) {
    print_json(console, answer);
  } else if (answer.list) {
    print_table(console, answer);
  } else {
    for (const Record& record : answer.records) print_lines(console, record);
  }
  console.out.flush();
  if (!json && !answer.note.empty()) console.err << answer.note << '\n';
  // With --json too: the array on standard output has no place for it.
  if (answer.next_cursor) console.err << "more: --cursor " << *answer.next_cursor << '\n';
  return answer.exit_code;
}

void print_error(const Console& console, std::string_view text) {
  const bool colour = console.progress && console.colour;
  console.err << (colour ? kRed : "") << "coffer:" << (colour ? kPlain : "") << ' '
              << printable(text) << std::endl;
}

int print_problem(const Console& console, const Problem& problem, std::string_view hint) {
  std::string text =
      clause(problem.detail.empty() ? std::string(info(problem.slug).title) : problem.detail);
  if (!hint.empty() && problem.slug == Slug::not_found) text += "; " + std::string(hint);
  print_error(console, text);
  for (const FieldError& field : problem.fields) {
    if (!says_more(problem, field)) continue;
    console.err << "  " << printable(field.field) << ": " << printable(field.message) << '\n';
  }
  return exit_code_of(problem);
}

std::string to_json(const Record& record, bool ascii) { return dump(json_of(record), -1, ascii); }

std::string to_json(const Answer& answer) {
  Json out = Json::object();
  out["data"] = data_of(answer);
  if (!answer.columns.empty()) {
    for (const std::string_view column : answer.columns) out["columns"].push_back(column);
  }
  if (answer.next_cursor) out["nextCursor"] = *answer.next_cursor;
  if (!answer.note.empty()) out["note"] = answer.note;
  if (answer.exit_code != 0) out["exitCode"] = answer.exit_code;
  return dump(out, -1, false);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const bool c0 = c < 0x20 || c == 0x7f;
    // C1 controls (U+0080 to U+009F) drive terminals too.
    const bool c1 =
        c == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    out += c0 || c1 ? '?' : text[i];
    if (c1) ++i;
  }
  return out;
}

}  // namespace coffer::cli
