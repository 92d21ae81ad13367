#include "domain/reconciliation/bank_statement.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/text/ascii.h"
#include "base/text/characters.h"
#include "base/text/trimmed.h"
#include "base/text/unicode.h"
#include "domain/iban.h"

namespace coffer {
namespace {

/// Opening balance, lines and closing balance must agree.
Result<void> check_statement_sum(const BankStatement& statement) {
  if (!statement.opening || !statement.closing) return {};
  const StatedAmount& opening = *statement.opening;
  const StatedAmount& closing = *statement.closing;
  if (opening.currency != closing.currency)
    return refused_at(statement.line, "The opening balance is in " + opening.currency +
                                          " and the closing balance in " + closing.currency);
  Amount sum = opening.amount;
  for (const BankLine& line : statement.lines) {
    if (line.currency != opening.currency)
      return refused_at(line.line, "The line is in " + line.currency + ", the balances are in " +
                                       opening.currency);
    auto next = sum.add(line.amount);
    if (!next) return refused_at(line.line, "The sum exceeds the largest amount");
    sum = *next;
  }
  if (sum == closing.amount) return {};
  return refused_at(statement.line, "The opening balance and the lines of statement \"" +
                                        statement.id + "\" give " + sum.to_string(2) + " " +
                                        closing.currency + ", its closing balance is " +
                                        closing.amount.to_string(2));
}

auto told_by(const BankLine& line) {
  return std::tie(line.booked_on.ms, line.amount, line.charges, line.currency, line.bank_reference,
                  line.reference, line.text, line.party_name);
}

/// What equal statements are the same by: balances between which money moved, or the number and
/// page. Empty if they are different ones.
std::string identity_of(const BankStatement& one) {
  const auto balance = [](const std::optional<StatedAmount>& of) {
    return of ? of->currency + std::to_string(of->amount.units()) : "";
  };
  const bool moved = one.opening && one.closing && one.opening->amount != one.closing->amount;
  if (!moved && one.number.empty()) return "";
  return one.account + '\n' + balance(one.opening) + '\n' + balance(one.closing) + '\n' +
         (moved ? "" : one.number + '\n' + one.page);
}

/// Removes statements that are there twice, because banks append them again, and returns their
/// number.
std::size_t remove_repeated(std::vector<BankStatement>& statements) {
  std::map<std::string, std::vector<const BankStatement*>> kept;
  std::vector<BankStatement> out;
  out.reserve(statements.size());
  for (BankStatement& one : statements) {
    const std::string identity = identity_of(one);
    auto& same = kept[identity];
    const bool repeated = !identity.empty() && std::ranges::any_of(same, [&](const auto* other) {
      return std::ranges::equal(one.lines, other->lines, {}, told_by, told_by);
    });
    if (!repeated) same.push_back(&out.emplace_back(std::move(one)));
  }
  const std::size_t removed = statements.size() - out.size();
  statements = std::move(out);
  return removed;
}

/// An IBAN in one form, also if its currency follows. Other numbers are as the bank writes them.
std::string account_of(const std::string& text) {
  if (const auto iban = parse_iban(text)) return *iban;
  const std::size_t size = text.size();
  if (size > 3 && is_statement_currency(std::string_view(text).substr(size - 3))) {
    if (const auto iban = parse_iban(trimmed(std::string_view(text).substr(0, size - 3))))
      return *iban;
  }
  return text;
}

/// The reason why bytes are no text that a bank writes; empty: they are.
std::string_view fault_of_bytes(std::string_view text) {
  for (const std::string_view packed : {"PK\x03\x04", "\x1f\x8b", "\x1f\xc2\x8b"})
    if (text.starts_with(packed)) return "The file is compressed. Unpack it";
  if (text.find('\0') == std::string_view::npos) return "";
  return "The file is UTF-16, or no text. Save it as UTF-8";
}

/// Whether a statement ends where another one begins. One in which nothing moved proves nothing.
bool ends_before(const StatementSpan& one, const StatementSpan& next) {
  const bool whole = one.opening && one.closing && next.opening && next.closing && one.last_day &&
                     next.first_day && one.currency == next.currency;
  return whole && *one.closing == *next.opening && *one.opening != *one.closing &&
         *next.opening != *next.closing && *one.last_day <= *next.first_day;
}

}  // namespace

StatementSpan span_of(const BankStatement& statement) {
  StatementSpan out;
  out.number = statement.number;
  out.page = statement.page;
  out.currency = statement.currency;
  if (statement.opening) out.opening = statement.opening->amount;
  if (statement.closing) out.closing = statement.closing->amount;
  if (statement.lines.empty()) return out;
  const auto [first, last] = std::ranges::minmax(statement.lines, {}, &BankLine::booked_on);
  out.first_day = first.booked_on;
  out.last_day = last.booked_on;
  return out;
}

bool are_apart(const StatementSpan& one, const StatementSpan& other) {
  if (one.file == other.file) return one.position != other.position;
  if (!one.number.empty() && one.number == other.number && one.page != other.page) return true;
  return ends_before(one, other) || ends_before(other, one);
}

bool is_statement_currency(std::string_view text) {
  return text.size() == 3 && std::ranges::all_of(text, ascii::is_upper);
}

std::size_t StatementFile::line_count() const {
  std::size_t out = 0;
  for (const BankStatement& one : statements) out += one.lines.size();
  return out;
}

void StatementFile::note(const std::string& what, std::size_t count) {
  if (count > 0) notes.push_back(what + ": " + std::to_string(count) + ".");
}

std::string utf8_of(std::string bytes) {
  if (is_utf8(bytes)) return bytes;
  static constexpr std::u16string_view kWindows =
      u"€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";              // from 0x80
  static constexpr std::u16string_view kLatin9 = u"¤€¦Š¨š´Ž¸ž¼Œ½œ¾Ÿ";  // pairs
  const bool latin9 = std::string_view(bytes).substr(0, 100).find("8859-15") < 100;
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 8);
  for (const char c : bytes) {
    char16_t code = static_cast<unsigned char>(c);
    const std::size_t other = latin9 ? kLatin9.find(code) : std::u16string_view::npos;
    if (code >= 0x80U && code < 0xa0U) code = kWindows[code - 0x80U];
    if (other != std::u16string_view::npos) code = kLatin9[other + 1];
    if (code < 0x80U) {
      out += static_cast<char>(code);
      continue;
    }
    out += static_cast<char>(code < 0x800U ? 0xc0U | code >> 6U : 0xe0U | code >> 12U);
    if (code >= 0x800U) out += static_cast<char>(0x80U | (code >> 6U & 0x3fU));
    out += static_cast<char>(0x80U | (code & 0x3fU));
  }
  return out;
}

StatementFormat statement_format_of(std::string_view text) {
  if (trimmed(text).starts_with('<')) return StatementFormat::camt;
  const bool swift = text.find(":61:") != std::string_view::npos ||
                     text.find(":60F:") != std::string_view::npos ||
                     text.find(":60M:") != std::string_view::npos;
  return swift ? StatementFormat::mt940 : StatementFormat::csv;
}

Result<StatementFile> read_statement_file(std::string_view text, StatementFormat format,
                                          const CsvMapping& mapping) {
  if (text.size() > kStatementBytesMax)
    return unexpected(Slug::malformed_request,
                      "The file is larger than 64 MiB. Split it into several files.");
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (const auto fault = fault_of_bytes(text); !fault.empty())
    return refused_at(1, std::string(fault));
  COFFER_TRY(StatementFile file, format == StatementFormat::camt ? read_camt(text)
                                 : format == StatementFormat::mt940
                                     ? read_mt940(text)
                                     : read_statement_csv(text, mapping));
  file.format = format;
  if (file.statements.empty()) return refused_at(1, "The file has no statement");
  for (const BankStatement& statement : file.statements)
    COFFER_TRY_VOID(check_statement_sum(statement));
  for (BankStatement& statement : file.statements)
    statement.account = account_of(statement.account);
  file.note("Statements that the file has twice were read once", remove_repeated(file.statements));
  std::size_t zero = 0;
  for (BankStatement& statement : file.statements) {
    zero +=
        std::erase_if(statement.lines, [](const BankLine& line) { return line.amount.is_zero(); });
  }
  file.note("Lines of zero, which move no money, were skipped", zero);
  return file;
}

Unexpected refused_at(std::size_t line, const std::string& reason) {
  return unexpected(Slug::malformed_request, "Line " + std::to_string(line) + ": " + reason + ".");
}

Result<Amount> stated_amount(std::string_view text, char decimal, std::size_t line) {
  const std::string_view given = trimmed(text);
  std::string plain;
  std::size_t digits = 0;  // since the last grouping mark
  bool grouped = false;
  bool wrong = given.empty();
  bool places = false;
  const auto in_group = [&] { return !grouped || digits == 3; };
  for (const char c : given) {
    if (ascii::is_digit(c)) {
      plain += c;
      ++digits;
    } else if (c == decimal && !places) {
      wrong = wrong || !in_group();
      plain += '.';
      places = true;
    } else if ((c == '.' || c == ',' || c == '\'' || c == ' ') && c != decimal && !places) {
      wrong = wrong || digits == 0 || digits > 3 || !in_group();
      grouped = true;
      digits = 0;
    } else {
      wrong = true;
    }
  }
  wrong =
      wrong || (!places && !in_group()) || plain.find_first_of("0123456789") == std::string::npos;
  if (plain.ends_with('.')) plain.pop_back();
  if (plain.starts_with('.')) plain.insert(0, "0");
  plain.erase(0, std::min(plain.find_first_not_of('0'), plain.size()));
  if (plain.empty() || plain.front() == '.') plain.insert(0, "0");
  const ParsedAmount parsed = parse_fee(plain, Amount::kScale);
  const std::string what = "\"" + statement_text(given.substr(0, 40)) + "\"";
  if (wrong || parsed.fault == AmountFault::not_a_number)
    return refused_at(line, what + " is not an amount");
  if (parsed.fault == AmountFault::too_precise)
    return refused_at(line, what + " has more than 7 decimal places");
  if (parsed.fault == AmountFault::out_of_range)
    return refused_at(line, what + " exceeds the largest amount");
  return parsed.amount;
}

Result<Timestamp> stated_day(const std::string& year, std::string_view month, std::string_view day,
                             std::size_t line) {
  const std::string text = year + "-" + std::string(month) + "-" + std::string(day);
  if (const auto found = Timestamp::parse(text)) return *found;
  return refused_at(line, "There is no day " + text);
}

std::string statement_text(std::string_view text) {
  std::string out;
  for (const char c : cleaned(utf8_of(std::string(text))))
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  return std::string(trimmed(first_characters(out, kStatementTextMax)));
}

std::string stated_reference(std::string_view text) {
  static constexpr std::array<std::string_view, 10> kNone{
      "NONREF", "NOTPROVIDED", "NOT PROVIDED", "EREF", "KREF",
      "KREF+",  "EREF+",       "NOREF",        "PREF", "MARF"};
  std::string out = statement_text(text);
  return std::ranges::find(kNone, ascii::to_upper(out)) == kNone.end() ? out : "";
}

void append_statement_text(std::string& text, std::string_view part) {
  const std::string more = statement_text(part);
  if (more.empty()) return;
  if (!text.empty()) text += ' ';
  text += more;
  text = first_characters(text, kStatementTextMax);
}

}  // namespace coffer
