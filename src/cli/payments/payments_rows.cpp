// The rows of a bulk payment file.
#include <algorithm>
#include <array>
#include <map>

#include "api/json/fields.h"
#include "api/payments/payments.h"
#include "base/files/csv_rows.h"
#include "base/text/join.h"
#include "base/text/unicode.h"
#include "cli/payments/payments.h"

namespace coffer::cli {
namespace {

using http::JsonValue;

constexpr std::size_t kColumnsMax = 256;  // each is compared with the others
constexpr std::string_view kType = "type";
constexpr std::string_view kTransactionId = "transactionId";
/// Fields that are objects, each with a column `FIELD.NAME` for a member.
constexpr std::array<std::string_view, 2> kObjects = {"additionalFields", "metadata"};
constexpr std::array<std::string_view, 2> kFlags = {"notifyEmail", "notifyWhatsApp"};
/// Fields of an off-ramp's quote instead of `quoteId`.
constexpr std::array<std::string_view, 2> kQuoteFields = {"connectorId", "amount"};
constexpr std::array kTypes = {PaymentType::offramp, PaymentType::p2p_beneficiary,
                               PaymentType::swap_beneficiary, PaymentType::p2p_own,
                               PaymentType::swap_own};

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::ranges::find(names, name) != names.end();
}

/// Of the object that the column belongs to; empty for another column.
std::string_view object_of(std::string_view column) {
  const std::string_view name = column.substr(0, column.find('.'));
  return name.size() < column.size() && is_one_of(name, kObjects) ? name : "";
}

JsonValue json_text(std::string text) { return JsonValue(JsonValue::Data(std::move(text))); }

/// Cells of a flag column become JSON booleans. Any other text stays a string, which the reader of
/// the field rejects.
JsonValue json_cell(std::string_view name, std::string text) {
  if (is_one_of(name, kFlags) && (text == "true" || text == "false")) {
    return JsonValue(JsonValue::Data(text == "true"));
  }
  return json_text(std::move(text));
}

/// The cells of a row as the body of a request. Empty cells are absent.
struct RowBody {
  std::string type;
  JsonValue::Object payment;
  JsonValue::Object quote;
};

void put(JsonValue::Object& object, std::string name, JsonValue value) {
  object.emplace_back(std::move(name), std::move(value));
}

/// The cell in a column; empty if the file does not have the column.
std::string cell_of(const std::vector<std::string>& header, const std::vector<std::string>& cells,
                    std::string_view column) {
  const auto at = static_cast<std::size_t>(std::ranges::find(header, column) - header.begin());
  return at < cells.size() ? cells[at] : std::string();
}

/// Cells of columns without a name are ignored.
RowBody body_of(const std::vector<std::string>& header, const std::vector<std::string>& cells) {
  RowBody body{cell_of(header, cells, kType), {}, {}};
  if (body.type.empty()) body.type = name(PaymentType::offramp);
  const bool quoted = body.type == name(PaymentType::offramp);
  std::map<std::string_view, JsonValue::Object> inner;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string& column = header[i];
    if (column == kType || column.empty() || cells[i].empty()) continue;
    if (const auto object = object_of(column); !object.empty()) {
      put(inner[object], column.substr(object.size() + 1), json_text(cells[i]));
    } else {
      JsonValue::Object& target =
          quoted && is_one_of(column, kQuoteFields) ? body.quote : body.payment;
      put(target, column, json_cell(column, cells[i]));
    }
  }
  for (auto& [name, members] : inner) {
    put(body.payment, std::string(name), JsonValue(JsonValue::Data(std::move(members))));
  }
  return body;
}

/// Spreadsheets of many countries write other separators.
Result<void> check_separator(std::string_view csv) {
  const std::string_view first = csv.substr(0, csv.find('\n'));
  const auto found = first.find_first_of(",;\t");
  if (found == std::string_view::npos || first[found] == ',') return {};
  return unexpected(Slug::malformed_request,
                    std::string("The columns are separated by ") +
                        (first[found] == ';' ? "semicolons" : "tabs") +
                        " instead of commas. In a spreadsheet, save the file as \"CSV UTF-8\" "
                        "with the comma as the separator, and import it again.");
}

/// The error in the name of a column for payments of this type; nullopt if it is one of their
/// fields.
std::optional<FieldError> unknown_field(PaymentType type, const std::string& column) {
  const auto error_of = [&](const JsonValue::Object& members) -> std::optional<FieldError> {
    const auto request = api::read_submission(type, JsonValue(JsonValue::Data(members)));
    if (request) return std::nullopt;
    const auto& errors = request.error().fields;
    const auto found = std::ranges::find(errors, column, &FieldError::field);
    return found == errors.end() ? std::nullopt : std::optional(*found);
  };
  // A field that is null counts as absent, so only its name can be wrong.
  const auto error = error_of({{column, JsonValue()}});
  return error_of({}) ? std::nullopt : error;
}

/// The same for payments of all types.
std::optional<FieldError> unknown_column(const std::string& column) {
  const bool is_member = !object_of(column).empty();
  if (column == kType || is_member || is_one_of(column, kQuoteFields)) return std::nullopt;
  std::optional<FieldError> out;
  for (const PaymentType type : kTypes) {
    auto error = unknown_field(type, column);
    if (!error) return std::nullopt;
    if (!out) out = std::move(error);
  }
  return out;
}

class BulkReader {
 public:
  Result<std::vector<BulkRow>> read(std::string_view csv) {
    COFFER_TRY_VOID(check_separator(csv));
    COFFER_TRY(const auto lines, csv_rows(csv));
    if (lines.size() < 2) {
      return unexpected(Slug::malformed_request,
                        "The file must have a line with column names and one line per payment.");
    }
    const std::size_t columns = lines.front().cells.size();
    if (columns > kColumnsMax) {
      return unexpected(Slug::malformed_request, "The file has " + std::to_string(columns) +
                                                     " columns. It can have at most " +
                                                     std::to_string(kColumnsMax) + ".");
    }
    for (const std::string& cell : lines.front().cells)
      header_.emplace_back(without_outer_space(cell));
    COFFER_TRY_VOID(check_header());
    where_ = "line " + std::to_string(lines.front().line);
    drop_unknown_columns();
    std::vector<BulkRow> rows;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      where_ = "line " + std::to_string(lines[i].line);
      if (auto row = read_row(lines[i])) rows.push_back(*std::move(row));
    }
    if (errors_.empty()) return rows;
    Problem problem = errors_.problem();
    problem.detail = "The file has errors. Nothing was submitted.";
    return unexpected(std::move(problem));
  }

  Result<BulkRow> read_one(const BulkCells& columns) {
    CsvRow row;
    for (const auto& [name, value] : columns) {
      header_.push_back(name);
      row.cells.push_back(value);
    }
    auto read = read_row(row);
    COFFER_TRY_VOID(errors_.check());
    return *std::move(read);
  }

 private:
  Result<void> check_header() const {
    for (std::size_t i = 0; i < header_.size(); ++i) {
      const std::string column = "Column " + std::to_string(i + 1);
      if (header_[i].empty()) {
        return unexpected(Slug::malformed_request, column + " has no name.");
      }
      if (std::find(header_.begin(), header_.begin() + static_cast<std::ptrdiff_t>(i),
                    header_[i]) != header_.begin() + static_cast<std::ptrdiff_t>(i)) {
        return unexpected(Slug::malformed_request,
                          column + " repeats the name " + header_[i] + ".");
      }
      if (header_[i] == "quoteId") {
        return unexpected(Slug::malformed_request,
                          "quoteId is not accepted, because coffer quotes each off-ramp. Use "
                          "connectorId and amount instead.");
      }
    }
    return {};
  }

  /// Reports each unknown column once instead of in every row.
  void drop_unknown_columns() {
    for (std::string& column : header_) {
      const auto error = unknown_column(column);
      if (!error) continue;
      fail(error->field, error->message);
      column.clear();
    }
  }

  std::optional<BulkRow> read_row(const CsvRow& line) {
    if (line.cells.size() != header_.size()) {
      fail("", "has " + std::to_string(line.cells.size()) + " cells; expected " +
                   std::to_string(header_.size()));
      return std::nullopt;
    }
    std::vector<std::string> cells;
    for (const std::string& cell : line.cells) cells.emplace_back(without_outer_space(cell));
    const bool is_first = check_first(cell_of(header_, cells, kTransactionId), line.line);
    const RowBody body = body_of(header_, cells);
    const auto type = parse_term<PaymentType>(body.type);
    if (!type || std::ranges::find(kTypes, *type) == kTypes.end()) {
      const auto word = [](PaymentType one) { return name(one); };
      fail("type", "\"" + body.type + "\" is not one of " + join(kTypes, ", ", word));
      return std::nullopt;
    }
    BulkRow row{.line = line.line};
    const bool ok = *type == PaymentType::offramp ? read_quoted(body, row)
                                                  : read_payment(*type, body.payment, row);
    if (!ok || !is_first) return std::nullopt;
    return row;
  }

  bool read_payment(PaymentType type, const JsonValue::Object& members, BulkRow& row) {
    auto request = api::read_submission(type, JsonValue(JsonValue::Data(members)));
    if (!request) return fail(request.error());
    row.request = *std::move(request);
    return true;
  }

  /// There is no quote yet, so the request is parsed with a placeholder ID.
  bool read_quoted(const RowBody& body, BulkRow& row) {
    ValidationErrors errors;
    const JsonValue quote{JsonValue::Data(body.quote)};
    api::Fields fields(quote, errors);
    row.connector = fields.id<ConnectorId>("connectorId", api::required);
    row.amount = fields.amount("amount", api::required).value_or(Amount());
    const bool priced = errors.empty() || fail(errors.problem());
    JsonValue::Object members = body.payment;
    put(members, "quoteId", json_text(QuoteId().to_string()));
    const bool read = read_payment(PaymentType::offramp, members, row);
    row.request.quote.reset();
    return priced && read;
  }

  /// Independent of other errors in the row. Returns false if an earlier row has this ID.
  bool check_first(const std::string& transaction_id, std::size_t line) {
    if (transaction_id.empty()) return true;  // reported as missing
    const auto [at, fresh] = lines_.try_emplace(transaction_id, line);
    if (fresh) return true;
    fail(std::string(kTransactionId), "repeats the value of line " + std::to_string(at->second));
    return false;
  }

  void fail(const std::string& field, const std::string& message) {
    errors_.add(Slug::malformed_request,
                where_ + (where_.empty() || field.empty() ? field : ": " + field), message);
  }
  bool fail(const Problem& problem) {
    for (const FieldError& error : problem.fields) fail(error.field, error.message);
    if (problem.fields.empty()) fail("", problem.detail);
    return false;
  }

  std::vector<std::string> header_;
  std::string where_;
  std::map<std::string, std::size_t> lines_;  // by transactionId
  ValidationErrors errors_;
};

}  // namespace

Result<std::vector<BulkRow>> read_bulk_rows(std::string_view csv) { return BulkReader().read(csv); }

Result<BulkRow> read_bulk_row(const BulkCells& cells) { return BulkReader().read_one(cells); }

}  // namespace coffer::cli
