// IBAN and BIC: one electronic form, and check digits that detect every single wrong character.
#include "domain/iban.h"

#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

bool is_electronic(const std::string& text) {
  return text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == std::string::npos;
}

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void check_iban(std::string_view text) {
  const auto iban = parse_iban(text);
  if (!iban) return;
  HOLDS(is_electronic(*iban) && iban->size() >= 15 && iban->size() <= 34);
  HOLDS(parse_iban(*iban) == iban && parse_iban(lower(*iban)) == iban);
  std::string groups;
  for (std::size_t i = 0; i < iban->size(); ++i) {
    if (i != 0 && i % 4 == 0) groups += ' ';
    groups += (*iban)[i];
  }
  HOLDS(parse_iban(groups) == iban);
  for (std::size_t i = 2; i < iban->size(); ++i) {
    std::string wrong = *iban;
    if (wrong[i] < '0' || wrong[i] > '9') continue;
    wrong[i] = wrong[i] == '9' ? '0' : static_cast<char>(wrong[i] + 1);
    HOLDS(!parse_iban(wrong));
  }
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace coffer;
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::check_iban(text);
  if (const auto bic = parse_bic(text)) {
    HOLDS(fuzz::is_electronic(*bic) && (bic->size() == 8 || bic->size() == 11));
    HOLDS(parse_bic(*bic) == bic && parse_bic(fuzz::lower(*bic)) == bic);
  }
  return 0;
}
