#include "domain/iban.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "domain/country.h"

namespace coffer {
namespace {

constexpr std::size_t kIbanMin = 15;

/// Country code and length of every country in the IBAN registry (ISO 13616-2, maintained by
/// SWIFT).
struct CountryLength {
  std::string_view country;
  std::size_t length;
};
constexpr std::array<CountryLength, 89> kLengths{{
    {"AD", 24}, {"AE", 23}, {"AL", 28}, {"AT", 20}, {"AZ", 28}, {"BA", 20}, {"BE", 16}, {"BG", 22},
    {"BH", 22}, {"BI", 27}, {"BR", 29}, {"BY", 28}, {"CH", 21}, {"CR", 22}, {"CY", 28}, {"CZ", 24},
    {"DE", 22}, {"DJ", 27}, {"DK", 18}, {"DO", 28}, {"EE", 20}, {"EG", 29}, {"ES", 24}, {"FI", 18},
    {"FK", 18}, {"FO", 18}, {"FR", 27}, {"GB", 22}, {"GE", 22}, {"GI", 23}, {"GL", 18}, {"GR", 27},
    {"GT", 28}, {"HN", 28}, {"HR", 21}, {"HU", 28}, {"IE", 22}, {"IL", 23}, {"IQ", 23}, {"IS", 26},
    {"IT", 27}, {"JO", 30}, {"KW", 30}, {"KZ", 20}, {"LB", 28}, {"LC", 32}, {"LI", 21}, {"LT", 20},
    {"LU", 20}, {"LV", 21}, {"LY", 25}, {"MC", 27}, {"MD", 24}, {"ME", 22}, {"MK", 19}, {"MN", 20},
    {"MR", 27}, {"MT", 31}, {"MU", 30}, {"NI", 28}, {"NL", 18}, {"NO", 15}, {"OM", 23}, {"PK", 24},
    {"PL", 28}, {"PS", 29}, {"PT", 25}, {"QA", 29}, {"RO", 24}, {"RS", 22}, {"RU", 33}, {"SA", 24},
    {"SC", 31}, {"SD", 18}, {"SE", 24}, {"SI", 19}, {"SK", 24}, {"SM", 27}, {"SO", 23}, {"ST", 25},
    {"SV", 28}, {"TL", 23}, {"TN", 24}, {"TR", 26}, {"UA", 29}, {"VA", 22}, {"VG", 24}, {"XK", 20},
    {"YE", 30},
}};

/// Territories whose banks use the IBANs of another country.
struct Territory {
  std::string_view territory;
  std::string_view country;
};
constexpr std::array<Territory, 17> kTerritories{{
    {"AX", "FI"},
    {"BL", "FR"},
    {"GF", "FR"},
    {"GG", "GB"},
    {"GP", "FR"},
    {"IM", "GB"},
    {"JE", "GB"},
    {"MF", "FR"},
    {"MQ", "FR"},
    {"NC", "FR"},
    {"PF", "FR"},
    {"PM", "FR"},
    {"RE", "FR"},
    {"SJ", "NO"},
    {"TF", "FR"},
    {"WF", "FR"},
    {"YT", "FR"},
}};

/// The length of the country's IBANs; 0 if it has none.
std::size_t iban_length(std::string_view country) {
  const auto found = std::ranges::find(kLengths, country, &CountryLength::country);
  return found == kLengths.end() ? 0 : found->length;
}

/// ISO 7064 MOD 97-10 over the text from its fifth character, followed by the first four; A is 10.
int remainder_97(std::string_view iban) {
  int remainder = 0;
  for (std::size_t i = 0; i < iban.size(); ++i) {
    const char c = iban[(i + 4) % iban.size()];
    remainder = ascii::is_digit(c) ? (remainder * 10 + (c - '0')) % 97
                                   : (remainder * 100 + (c - 'A' + 10)) % 97;
  }
  return remainder;
}

}  // namespace

std::string_view iban_country(std::string_view country) {
  const auto found = std::ranges::find(kTerritories, country, &Territory::territory);
  if (found != kTerritories.end()) return found->country;
  return iban_length(country) > 0 ? country : std::string_view();
}

std::optional<std::string> parse_iban(std::string_view text) {
  std::string iban = ascii::to_upper(text);
  iban.erase(std::remove(iban.begin(), iban.end(), ' '), iban.end());
  const bool shaped =
      iban.size() >= kIbanMin && iban.size() == iban_length(iban.substr(0, 2)) &&
      std::ranges::all_of(iban, [](char c) { return ascii::is_digit(c) || ascii::is_upper(c); }) &&
      ascii::is_digit(iban[2]) && ascii::is_digit(iban[3]);
  if (!shaped || remainder_97(iban) != 1) return std::nullopt;
  // 00, 01 and 99 have the remainders of the assigned digits 97, 98 and 02.
  const std::string_view digits = std::string_view(iban).substr(2, 2);
  if (digits == "00" || digits == "01" || digits == "99") return std::nullopt;
  return iban;
}

std::optional<std::string> parse_bic(std::string_view text) {
  std::string bic = ascii::to_upper(text);
  const bool shaped = (bic.size() == 8 || bic.size() == 11) && std::ranges::all_of(bic, [](char c) {
                        return ascii::is_digit(c) || ascii::is_upper(c);
                      });
  if (!shaped || !is_country_alpha2(bic.substr(4, 2))) return std::nullopt;
  return bic;
}

}  // namespace coffer
