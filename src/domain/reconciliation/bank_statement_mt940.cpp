// MT940 as banks write it: with or without the block of SWIFT around it, with lines that are longer
// than permitted, and with fields that are structured (`?20`, `/EREF/`, `EREF+`) or free.
#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "base/text/next_part.h"
#include "base/text/whole_number.h"
#include "domain/reconciliation/bank_statement.h"

namespace coffer {
namespace {

// A full line of :86: with its tag, and a full sub-field, continue without a space.
constexpr std::size_t kSwiftLine = 65;
constexpr std::size_t kSubField = 27;

/// A field with its lines.
struct SwiftField {
  std::size_t line = 1;
  std::string tag;  // "61"
  std::vector<std::string_view> lines;
};

/// The end of a tag such as `:60F:` at the start of a line, or 0.
std::size_t swift_tag_end(std::string_view line) {
  if (line.size() < 4 || line[0] != ':' || !ascii::is_digit(line[1]) || !ascii::is_digit(line[2]))
    return 0;
  if (line[3] == ':') return 4;
  return line.size() > 4 && ascii::is_upper(line[3]) && line[4] == ':' ? 5 : 0;
}

/// `-`, `-}{5:}`, `-XXX`, or a new block.
bool ends_swift_message(std::string_view line) {
  if (line.starts_with("-}") || line.starts_with("{1:")) return true;
  return line.starts_with('-') && std::ranges::all_of(line.substr(1), [](char c) {
           return c == 'X' || ascii::is_control(c);
         });
}

/// Parts of a text that begin with keys. `key_at` returns the length of the key at a place with its
/// marks, or 0.
template <class KeyAt, class Take>
void split_at_keys(std::string_view text, const KeyAt& key_at, const Take& take) {
  std::string_view key;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t length = at < text.size() ? key_at(text, at) : 0;
    if (length == 0 && at < text.size()) {
      ++at;
      continue;
    }
    take(key, text.substr(start, at - start));
    key = text.substr(at, length);
    at += std::max<std::size_t>(length, 1);
    start = std::min(at, text.size());
  }
}

std::size_t sub_field_at(std::string_view text, std::size_t at) {
  return text[at] == '?' && at + 2 < text.size() && ascii::is_digit(text[at + 1]) &&
                 ascii::is_digit(text[at + 2])
             ? 3
             : 0;
}

std::size_t sepa_key_at(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 10> kKeys{
      "EREF+", "KREF+", "MREF+", "CRED+", "DEBT+", "SVWZ+", "ABWA+", "ABWE+", "IBAN+", "BIC+"};
  const auto found =
      std::ranges::find_if(kKeys, [&](auto key) { return text.substr(at).starts_with(key); });
  return found == kKeys.end() ? 0 : found->size();
}

std::size_t slash_key_at(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 14> kKeys{
      "/EREF/", "/NAME/", "/REMI/", "/IBAN/", "/BENM/", "/ORDP/", "/TRTP/",
      "/BIC/",  "/MARF/", "/CSID/", "/ISDT/", "/PREF/", "/RTRN/", "/ADDR/"};
  const auto found =
      std::ranges::find_if(kKeys, [&](auto key) { return text.substr(at).starts_with(key); });
  return found == kKeys.end() ? 0 : found->size();
}

class Mt940Reader {
 public:
  explicit Mt940Reader(std::string_view text) : text_(text) {}

  Result<StatementFile> read() {
    std::string_view rest = text_;
    while (!rest.empty()) {
      ++line_;
      std::string_view line = next_whole_part(rest, '\n');
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (ends_swift_message(line)) {
        COFFER_TRY_VOID(end_message());
      } else if (const std::size_t end = swift_tag_end(line); end > 0) {
        COFFER_TRY_VOID(end_field());
        field_ = SwiftField{line_, std::string(line.substr(1, end - 2)), {line.substr(end)}};
      } else if (field_) {
        field_->lines.push_back(line);
      }
    }
    COFFER_TRY_VOID(end_message());
    if (expected_ > 0) {
      out_.notes.push_back(
          "Expected entries that are not booked were skipped: " + std::to_string(expected_) + ".");
    }
    return std::move(out_);
  }

 private:
  Result<void> end_message() {
    COFFER_TRY_VOID(end_field());
    if (!statement_) return {};
    BankStatement done = *std::move(statement_);
    statement_.reset();
    line_open_ = false;
    if (done.account.empty()) return refused_at(done.line, "The statement has no account (:25:)");
    if (!done.opening) return refused_at(done.line, "The statement has no opening balance (:60F:)");
    if (!done.closing) {
      return refused_at(done.line,
                        "The statement has no closing balance (:62F:). The file may be cut");
    }
    count_ += done.lines.size();
    out_.statements.push_back(std::move(done));
    return {};
  }

  /// Reads the field whose lines are complete.
  Result<void> end_field() {
    if (!field_) return {};
    const SwiftField field = *std::move(field_);
    field_.reset();
    const std::string& tag = field.tag;
    if (tag == "20" || (tag == "25" && !statement_)) {
      COFFER_TRY_VOID(end_message());
      statement_.emplace().line = field.line;
    }
    if (!statement_) {
      return refused_at(
          field.line, "The field :" + tag + ": is outside of a statement, which begins with :20:");
    }
    const std::string first = statement_text(field.lines.front());
    if (tag == "25" || tag == "28C" || tag == "28") {
      std::string& member = tag == "25" ? statement_->account : statement_->id;
      if (!member.empty()) return refused_at(field.line, "The statement has :" + tag + ": twice");
      member = tag == "25" ? account_of(first) : first;
      statement_->number = statement_->id.substr(0, statement_->id.find('/'));
      statement_->page = statement_->id.substr(statement_->number.size());
    }
    if (tag == "60F" || tag == "60M") return read_balance(field, statement_->opening);
    if (tag == "62F" || tag == "62M") return read_balance(field, statement_->closing);
    if (tag == "61") return read_line(field);
    if (tag == "86" && line_open_) return read_details(field);
    // Balances that are available later, and the text about the whole statement.
    if (tag == "64" || tag == "65") line_open_ = false;
    return {};
  }

  static std::string account_of(std::string text) {
    std::erase(text, '"');
    return text;
  }

  /// `C110522EUR3236,28`.
  Result<void> read_balance(const SwiftField& field, std::optional<StatedAmount>& out) {
    line_open_ = false;
    if (out) return refused_at(field.line, "The statement has the balance twice");
    const std::string_view text = field.lines.front();
    if (text.size() < 11 || (text[0] != 'C' && text[0] != 'D')) {
      return refused_at(field.line, "The balance begins with neither C nor D");
    }
    COFFER_TRY_VOID(read_day(text.substr(1, 6), field.line));
    COFFER_TRY(const Amount amount, swift_amount(text.substr(10), field.line));
    out = StatedAmount{text[0] == 'D' ? -amount : amount, std::string(text.substr(7, 3))};
    if (!is_statement_currency(out->currency))
      return refused_at(field.line, "The balance has no currency");
    statement_->currency = out->currency;
    return {};
  }

  /// With its comma, without which the amount may be cut.
  static Result<Amount> swift_amount(std::string_view text, std::size_t line) {
    if (text.find(',') == std::string_view::npos) {
      return refused_at(line, "The amount \"" + statement_text(text.substr(0, 40)) +
                                  "\" has no comma. The file may be cut");
    }
    return stated_amount(text, ',', line);
  }

  /// `YYMMDD`.
  static Result<Timestamp> read_day(std::string_view text, std::size_t line) {
    const auto number = [&](std::size_t at) {
      return text.size() < at + 2 ? std::nullopt : whole_number<int>(text.substr(at, 2), 0, 99);
    };
    const auto year = number(0);
    const auto month = number(2);
    const auto day = number(4);
    if (!year || !month || !day)
      return refused_at(line, "\"" + statement_text(text) + "\" is not a date");
    return stated_day(*year < 80 ? 2000 + *year : 1900 + *year, *month, *day, line);
  }

  /// The day of an entry, `MMDD`, in the year that is nearest to the value date.
  static Result<Timestamp> read_entry_day(std::string_view text, std::string_view value,
                                          std::size_t line) {
    int year = *whole_number<int>(value.substr(0, 2), 0, 99);
    const int month = whole_number<int>(text.substr(0, 2), 0, 99).value_or(0);
    const int value_month = *whole_number<int>(value.substr(2, 2), 0, 99);
    if (month - value_month > 6) --year;
    if (value_month - month > 6) ++year;
    return read_day((year < 10 ? "0" : "") + std::to_string(year % 100) + std::string(text), line);
  }

  /// `1105240524D9,N192NONREF//BANKREF` and, on further lines, what the bank adds.
  Result<void> read_line(const SwiftField& field) {
    if (!statement_->opening)
      return refused_at(field.line, "The line comes before the opening balance (:60F:)");
    if (statement_->closing)
      return refused_at(field.line, "The line comes after the closing balance (:62F:)");
    std::string_view rest = field.lines.front();
    BankLine line;
    line.line = field.line;
    line.currency = statement_->currency;
    const std::string_view value = rest.substr(0, 6);
    COFFER_TRY(line.value_on, read_day(value, field.line));
    rest.remove_prefix(6);
    line.booked_on = *line.value_on;
    const auto has_day = [&] {
      return rest.size() >= 4 && std::ranges::all_of(rest.substr(0, 4), ascii::is_digit);
    };
    if (has_day()) {
      COFFER_TRY(line.booked_on, read_entry_day(rest.substr(0, 4), value, field.line));
      rest.remove_prefix(4);
    }
    rest = trimmed(rest);
    bool reversal = false;
    bool expected = false;
    if (rest.starts_with("RC") || rest.starts_with("RD") || rest.starts_with("EC") ||
        rest.starts_with("ED")) {
      reversal = rest[0] == 'R';
      expected = rest[0] == 'E';
      rest.remove_prefix(1);
    }
    if (!rest.starts_with('C') && !rest.starts_with('D')) {
      return refused_at(field.line, "The line is marked with neither C nor D");
    }
    const bool debit = (rest[0] == 'D') != reversal;
    rest.remove_prefix(1);
    if (!rest.empty() && ascii::is_letter(rest[0])) rest.remove_prefix(1);  // the funds code
    const std::size_t end = std::min(rest.find_first_not_of("0123456789,"), rest.size());
    COFFER_TRY(const Amount amount, swift_amount(rest.substr(0, end), field.line));
    line.amount = debit ? -amount : amount;
    const std::string_view code = rest.substr(end, 4);
    if (code.size() < 4 || !std::ranges::all_of(code, ascii::is_letter_or_digit))
      return refused_at(field.line, "The line has no code of four characters after its amount");
    put_references(rest.substr(end), field, line);
    COFFER_TRY_VOID(put_charges(field, line));
    line_open_ = !expected;
    if (expected) {
      ++expected_;
      return {};
    }
    if (count_ + statement_->lines.size() >= kStatementLinesMax) {
      return refused_at(field.line,
                        "The file has more than 500,000 lines. Split it into several files");
    }
    statement_->lines.push_back(std::move(line));
    return {};
  }

  static void put_references(std::string_view rest, const SwiftField& field, BankLine& line) {
    line.code = statement_text(rest.substr(0, 4));
    rest.remove_prefix(std::min<std::size_t>(4, rest.size()));
    const std::size_t slashes = std::min(rest.find("//"), rest.size());
    line.reference = stated_reference(rest.substr(0, slashes));
    if (slashes < rest.size()) line.bank_reference = stated_reference(rest.substr(slashes + 2));
    for (std::size_t i = 1; i < field.lines.size(); ++i)
      append_statement_text(line.text, field.lines[i]);
  }

  /// `/OCMT/EUR4,5//CHGS/EUR0,5/`, on any line after the first.
  static Result<void> put_charges(const SwiftField& field, BankLine& line) {
    for (std::size_t i = 1; i < field.lines.size(); ++i) {
      for (const std::string_view key : {"/OCMT/", "/CHGS/"}) {
        const std::size_t at = field.lines[i].find(key);
        if (at == std::string_view::npos) continue;
        std::string_view rest = field.lines[i].substr(at + key.size());
        const std::string_view value = next_part(rest, '/');
        if (value.size() < 4) continue;
        const std::string currency(value.substr(0, 3));
        COFFER_TRY(const Amount amount, stated_amount(value.substr(3), ',', field.line + i));
        if (key == "/CHGS/" && currency == line.currency) line.charges = amount;
        if (key == "/OCMT/" && currency != line.currency)
          line.original = StatedAmount{amount, currency};
      }
    }
    return {};
  }

  Result<void> read_details(const SwiftField& field) {
    line_open_ = false;
    BankLine& line = statement_->lines.back();
    std::string whole;
    bool full = false;
    for (const std::string_view one : field.lines) {
      if (!whole.empty() && !full) whole += ' ';
      whole += one;
      full = one.size() + (&one == &field.lines.front() ? 4 : 0) >= kSwiftLine;
    }
    const bool coded = whole.size() > 4 && whole[3] == '?' &&
                       std::ranges::all_of(whole.substr(0, 3), ascii::is_digit);
    if (coded) {
      put_sub_fields(field, line);
    } else if (slash_key_at(
                   whole, std::min(whole.find('/'), whole.size() - (whole.empty() ? 0 : 1))) > 0 ||
               whole.find("/REMI/") != std::string::npos) {
      put_slash_fields(whole, line);
    } else {
      put_sepa_text(whole, line);
    }
    return {};
  }

  /// `166?00CREDIT?20EREF+...?32NAME`. Lines are joined.
  static void put_sub_fields(const SwiftField& field, BankLine& line) {
    std::string whole;
    for (const std::string_view one : field.lines) whole += one;
    std::string text;
    std::string name;
    split_at_keys(whole, sub_field_at, [&](std::string_view key, std::string_view value) {
      const int number = key.empty() ? -1 : *whole_number<int>(key.substr(1), 0, 99);
      if ((number >= 20 && number <= 29) || (number >= 60 && number <= 63)) {
        text.append(value).append(value.size() < kSubField ? " " : "");
      }
      if (number == 31) line.party_account = statement_text(value);
      if (number == 32 || number == 33)
        name.append(value).append(value.size() < kSubField ? " " : "");
    });
    line.party_name = statement_text(name);
    put_sepa_text(text, line);
  }

  static void put_sepa_text(std::string_view text, BankLine& line) {
    split_at_keys(text, sepa_key_at, [&](std::string_view key, std::string_view value) {
      if (key == "EREF+" && line.reference.empty()) line.reference = stated_reference(value);
      if (key == "IBAN+") line.party_account = statement_text(value);
      if (key != "BIC+" && key != "CRED+" && key != "DEBT+")
        append_statement_text(line.text, value);
    });
  }

  static void put_slash_fields(std::string_view text, BankLine& line) {
    split_at_keys(text, slash_key_at, [&](std::string_view key, std::string_view value) {
      if (key == "/EREF/" && line.reference.empty()) line.reference = stated_reference(value);
      if (key == "/NAME/") line.party_name = statement_text(value);
      if (key == "/IBAN/") line.party_account = statement_text(value);
      if (key.empty() || key == "/REMI/" || key == "/EREF/" || key == "/RTRN/" || key == "/PREF/") {
        append_statement_text(line.text, value);
      }
    });
  }

  std::string_view text_;
  std::size_t line_ = 0;
  std::optional<SwiftField> field_;
  std::optional<BankStatement> statement_;
  bool line_open_ = false;  // the last line of the statement has no :86: yet
  std::size_t count_ = 0;
  std::size_t expected_ = 0;
  StatementFile out_;
};

}  // namespace

Result<StatementFile> read_mt940(std::string_view text) { return Mt940Reader(text).read(); }

}  // namespace coffer
