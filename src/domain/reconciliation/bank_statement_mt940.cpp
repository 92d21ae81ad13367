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

/// Parts of a text that begin with keys. `key_at` returns the length of the key that a text begins
/// with, with its marks, or 0.
template <class KeyAt, class Take>
void split_at_keys(std::string_view text, const KeyAt& key_at, const Take& take) {
  std::string_view key;
  std::size_t start = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t length = key_at(text.substr(at));
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

/// Of sub-fields: `?20`, and `>20`, `~20`, `^20` or `<20` of Dutch and Polish banks.
constexpr std::string_view kSubFieldMarks = "?>~^<";

bool begins_sub_field(std::string_view text) {
  return text.size() > 2 && kSubFieldMarks.find(text[0]) != std::string_view::npos &&
         ascii::is_digit(text[1]) && ascii::is_digit(text[2]);
}

constexpr std::string_view kSepaKeys =
    " EREF KREF MREF BREF RREF CRED DEBT COAM OAMT SVWZ ABWA ABWE IBAN BIC ";
constexpr std::string_view kSlashKeys =
    " /EREF /NAME /REMI /IBAN /BENM /ORDP /TRTP /BIC /MARF /CSID /ISDT /PREF /RTRN /ADDR /TRCD"
    " /CNTP /PURP /ULTC /ULTD /UCRD /UDTR /BBAN /RTYP /ACCW /CREF /SVCL /EXCH /CHGS ";

/// The length of the key and the mark after it that a text begins with, or 0.
std::size_t key_of(std::string_view keys, char mark, std::string_view text) {
  const std::size_t end = text.substr(0, 6).find(mark, 1);
  if (end == std::string_view::npos) return 0;
  const std::string word = " " + std::string(text.substr(0, end)) + " ";
  return keys.find(word) == std::string_view::npos ? 0 : end + 1;
}

// The fields that can follow :86: in a statement or begin another one.
constexpr std::string_view kAfterDetails = ":61: :62F: :62M: :86: :64: :65: :20: :60F: :60M: :34F:";
constexpr std::size_t kNowhere = std::string_view::npos;

class Mt940Reader {
 public:
  explicit Mt940Reader(std::string_view text) : text_(text) {}

  Result<StatementFile> read() {
    std::string_view rest = text_;
    while (!rest.empty()) {
      ++line_;
      std::string_view line = next_whole_part(rest, '\n');
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::size_t end = swift_tag_end(line);
      // Texts of entries have such lines, for example times: `T16` and `:26:37`.
      const bool text = field_ && field_->tag == "86" && statement_ && !statement_->closing &&
                        (line == "-" || kAfterDetails.find(line.substr(0, end)) == kNowhere);
      if (!text && ends_swift_message(line)) {
        COFFER_TRY_VOID(end_message());
      } else if (!text && end > 0) {
        COFFER_TRY_VOID(end_field());
        field_ = SwiftField{line_, std::string(line.substr(1, end - 2)), {line.substr(end)}};
      } else if (trimmed(line).starts_with(":61:")) {
        return refused_at(line_, "The field :61: is not at the start of its line");
      } else if (field_) {
        field_->lines.push_back(line);
      }
    }
    COFFER_TRY_VOID(end_message());
    out_.note("Expected entries that are not booked were skipped", expected_);
    out_.note("Value dates that do not exist, such as 30 February, were left out", left_out_);
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
    if (!done.closing)
      return refused_at(done.line,
                        "The statement has no closing balance (:62F:). The file may be cut");
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
    if (!statement_)
      return refused_at(
          field.line, "The field :" + tag + ": is outside of a statement, which begins with :20:");
    const std::string first = statement_text(field.lines.front());
    if (tag == "25" || tag == "28C" || tag == "28") {
      std::string& member = tag == "25" ? statement_->account : statement_->id;
      if (!member.empty()) return refused_at(field.line, "The statement has :" + tag + ": twice");
      member = first;
      if (tag == "25") std::erase(member, '"');
      statement_->number = statement_->id.substr(0, statement_->id.find('/'));
      statement_->page = statement_->id.substr(statement_->number.size());
    }
    if (tag == "60F" || tag == "60M") return read_balance(field, statement_->opening);
    if (tag == "62F" || tag == "62M") return read_balance(field, statement_->closing);
    if (tag == "61") return read_line(field);
    if (tag == "34F")
      return refused_at(field.line, "This is MT942, whose lines are not booked. MT940 is read");
    if (tag == "86" && line_open_) return read_details(field);
    // Balances that are available later, and the text about the whole statement.
    if (tag == "64" || tag == "65") line_open_ = false;
    return {};
  }

  /// `C110522EUR3236,28`.
  Result<void> read_balance(const SwiftField& field, std::optional<StatedAmount>& out) {
    line_open_ = false;
    if (out) return refused_at(field.line, "The statement has the balance twice");
    const std::string_view text = field.lines.front();
    if (text.size() < 11 || (text[0] != 'C' && text[0] != 'D'))
      return refused_at(field.line, "The balance begins with neither C nor D");
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
    if (text.find(',') == std::string_view::npos)
      return refused_at(line, "The amount \"" + statement_text(text.substr(0, 40)) +
                                  "\" has no comma. The file may be cut");
    return stated_amount(text, ',', line);
  }

  /// `YYMMDD`.
  static Result<Timestamp> read_day(std::string_view text, std::size_t line) {
    if (text.size() < 6 || !std::ranges::all_of(text, ascii::is_digit))
      return refused_at(line, "\"" + statement_text(text) + "\" is not a date");
    return stated_day((text < "80" ? "20" : "19") + std::string(text.substr(0, 2)),
                      text.substr(2, 2), text.substr(4), line);
  }

  /// The day of an entry, `MMDD`, in the year that is nearest to the value date.
  static Result<Timestamp> read_entry_day(std::string_view text, std::string_view value,
                                          std::size_t line) {
    int year = 100 + *whole_number<int>(value.substr(0, 2), 0, 99);
    const int month = whole_number<int>(text.substr(0, 2), 0, 99).value_or(0);
    const int value_month = *whole_number<int>(value.substr(2, 2), 0, 99);
    if (month - value_month > 6) --year;
    if (value_month - month > 6) ++year;
    return read_day(std::to_string(100 + year % 100).substr(1) + std::string(text), line);
  }

  /// `1105240524`: the value date and, in most files, the day of the entry. Banks that count 30
  /// days for every month give value dates that do not exist.
  Result<void> read_days(std::string_view& rest, BankLine& line) {
    const std::string_view value = rest.substr(0, 6);
    rest.remove_prefix(value.size());
    const bool has_day =
        rest.size() >= 4 && std::ranges::all_of(rest.substr(0, 4), ascii::is_digit);
    const bool thirty = has_day && (value.ends_with("0229") || value.ends_with("0230")) &&
                        read_day(std::string(value.substr(0, 4)) + "28", line.line);
    if (auto found = read_day(value, line.line); found || !thirty) {
      COFFER_TRY(line.value_on, std::move(found));
      line.booked_on = *line.value_on;
    } else {
      ++left_out_;
    }
    if (!has_day) return {};
    COFFER_TRY(line.booked_on, read_entry_day(rest.substr(0, 4), value, line.line));
    rest.remove_prefix(4);
    return {};
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
    COFFER_TRY_VOID(read_days(rest, line));
    rest = trimmed(rest);
    const bool reversal = rest.starts_with("RC") || rest.starts_with("RD");
    const bool expected = rest.starts_with("EC") || rest.starts_with("ED");
    if (reversal || expected) rest.remove_prefix(1);
    if (!rest.starts_with('C') && !rest.starts_with('D'))
      return refused_at(field.line, "The line is marked with neither C nor D");
    const bool debit = (rest[0] == 'D') != reversal;
    rest.remove_prefix(1);
    if (!rest.empty() && ascii::is_letter(rest[0])) rest.remove_prefix(1);  // the funds code
    const std::size_t end = std::min(rest.find_first_not_of("0123456789,"), rest.size());
    COFFER_TRY(const Amount amount, swift_amount(rest.substr(0, end), field.line));
    line.amount = debit ? -amount : amount;
    rest = trimmed(rest.substr(end));
    // Some banks pad the code, as in `NOV NONREF`, or have none before `//`.
    const std::string_view code = rest.substr(0, rest.starts_with("//") ? 0 : 4);
    line.code = trimmed(code);
    if (!rest.starts_with("//") && (code.size() < 4 || line.code.empty() ||
                                    !std::ranges::all_of(line.code, ascii::is_letter_or_digit)))
      return refused_at(field.line, "The line has no code of four characters after its amount");
    rest.remove_prefix(code.size());
    const std::size_t slashes = std::min(rest.find("//"), rest.size());
    line.reference = stated_reference(rest.substr(0, slashes));
    if (slashes < rest.size()) line.bank_reference = stated_reference(rest.substr(slashes + 2));
    for (std::size_t i = 1; i < field.lines.size(); ++i)
      append_statement_text(line.text, field.lines[i]);
    COFFER_TRY_VOID(put_charges(field, line));
    line_open_ = !expected;
    if (expected) {
      ++expected_;
      return {};
    }
    if (count_ + statement_->lines.size() >= kStatementLinesMax)
      return refused_at(field.line,
                        "The file has more than 500,000 lines. Split it into several files");
    statement_->lines.push_back(std::move(line));
    return {};
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

  /// Some banks repeat :86: when it is full.
  Result<void> read_details(const SwiftField& field) {
    BankLine& line = statement_->lines.back();
    std::string whole;   // a line that is not full ends a word
    std::string joined;  // sub-fields continue on the next line
    bool full = false;
    for (const std::string_view& one : field.lines) {
      if (!whole.empty() && !full) whole += ' ';
      whole += one;
      joined += one;
      full = one.size() + (&one == &field.lines.front() ? 4 : 0) >= kSwiftLine;
    }
    const std::string_view text = whole;
    if (joined.size() > 3 && begins_sub_field(std::string_view(joined).substr(3)) &&
        std::all_of(joined.begin(), joined.begin() + 3, ascii::is_digit)) {
      put_sub_fields(joined, line);
    } else if (key_of(kSlashKeys, '/', text.substr(std::min(text.find('/'), text.size()))) > 0 ||
               text.find("/REMI/") != std::string_view::npos) {
      put_slash_fields(text, line);
    } else {
      put_sepa_text(text, line);
    }
    return {};
  }

  /// `166?00CREDIT?20EREF+...?32NAME`.
  static void put_sub_fields(std::string_view whole, BankLine& line) {
    std::string text;
    std::string name;
    const auto mark_at = [&](std::string_view from) {
      return from.starts_with(whole[3]) && begins_sub_field(from) ? 3 : 0;
    };
    split_at_keys(whole, mark_at, [&](std::string_view key, std::string_view value) {
      const int number = key.empty() ? -1 : *whole_number<int>(key.substr(1), 0, 99);
      if ((number >= 20 && number <= 29) || (number >= 60 && number <= 63))
        text.append(value).append(value.size() < kSubField ? " " : "");
      if ((number == 31 || number == 38) && !value.empty())
        line.party_account = statement_text(value);
      if (number == 32 || number == 33)
        name.append(value).append(value.size() < kSubField ? " " : "");
    });
    if (!name.empty()) line.party_name = statement_text(name);
    put_sepa_text(text, line);
  }

  static void put_sepa_text(std::string_view text, BankLine& line) {
    const auto key_at = [](std::string_view from) { return key_of(kSepaKeys, '+', from); };
    split_at_keys(text, key_at, [&](std::string_view key, std::string_view value) {
      if (key == "EREF+" && line.reference.empty()) line.reference = stated_reference(value);
      if (key == "IBAN+") line.party_account = statement_text(value);
      if (key != "BIC+" && key != "CRED+" && key != "DEBT+")
        append_statement_text(line.text, value);
    });
  }

  static void put_slash_fields(std::string_view text, BankLine& line) {
    const auto key_at = [](std::string_view from) { return key_of(kSlashKeys, '/', from); };
    split_at_keys(text, key_at, [&](std::string_view key, std::string_view value) {
      value = trimmed(value, " /");  // `/EREF/1234//MARF/5678/`
      if (key == "/EREF/" && line.reference.empty()) line.reference = stated_reference(value);
      if (key == "/IBAN/" || key == "/CNTP/")
        line.party_account = statement_text(next_part(value, '/'));
      if (key == "/CNTP/") next_part(value, '/');  // the bank
      if ((key == "/NAME/" || key == "/CNTP/") && line.party_name.empty())
        line.party_name = statement_text(value);
      if (key == "/REMI/" && value.starts_with("USTD//")) value.remove_prefix(6);
      if (key.empty() || key == "/REMI/" || key == "/EREF/" || key == "/RTRN/" || key == "/PREF/")
        append_statement_text(line.text, value);
    });
  }

  std::string_view text_;
  std::size_t line_ = 0;
  std::optional<SwiftField> field_;
  std::optional<BankStatement> statement_;
  bool line_open_ = false;  // the last line of the statement has no :86: yet
  std::size_t count_ = 0;
  std::size_t expected_ = 0;
  std::size_t left_out_ = 0;
  StatementFile out_;
};

}  // namespace

Result<StatementFile> read_mt940(std::string_view text) { return Mt940Reader(text).read(); }

}  // namespace coffer
