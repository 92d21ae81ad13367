// A file of a bank: it is read, or refused with a line; what is read has a day, a currency and
// valid texts.
#include "base/text/characters.h"
#include "domain/reconciliation/bank_statement.h"
#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

void check_line(const BankLine& line) {
  HOLDS(!line.amount.is_zero() && line.line > 0);
  HOLDS(line.currency.size() == 3);
  for (const std::string* text : {&line.bank_reference, &line.reference, &line.text,
                                  &line.party_name, &line.party_account, &line.code}) {
    HOLDS(is_utf8(*text) && text->size() <= 4 * kStatementTextMax);
  }
}

void check_format(const std::string& text, StatementFormat format) {
  static const CsvMapping kMapping =
      CsvMapping::parse("bookingDate=d,amount=a,currency=c,text=t", ";", ",", "DD.MM.YYYY").value();
  const auto file = read_statement_file(text, format, kMapping);
  if (!file) {
    HOLDS(!file.error().detail.empty() && is_utf8(file.error().detail));
    return;
  }
  for (const BankStatement& statement : file->statements) {
    for (const BankLine& line : statement.lines) check_line(line);
  }
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = coffer::utf8_of(std::string(coffer::fuzz::text_of(data, size)));
  for (const auto format : {coffer::StatementFormat::camt, coffer::StatementFormat::mt940,
                            coffer::StatementFormat::csv}) {
    coffer::fuzz::check_format(text, format);
  }
  return 0;
}
