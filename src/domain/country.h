// Countries (ISO 3166-1) and currencies (ISO 4217). The tables are generated at build time from
// the distribution's iso-codes package by cmake/country_tables.cmake.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace coffer {

struct Country {
  std::string_view alpha2;
  std::string_view alpha3;
  std::string_view name;  // English; the common name where ISO's own is longer
};

struct Currency {
  std::string_view alpha3;
  std::string_view name;
};

/// Sorted by alpha-2 code.
std::span<const Country> countries();
/// Sorted by code; without XTS (testing) and XXX (no currency).
std::span<const Currency> currencies();

/// Accepts alpha-2 or alpha-3 in any case; nullptr if the country does not exist.
const Country* find_country(std::string_view code);
/// Accepts any case; nullptr if the currency does not exist.
const Currency* find_currency(std::string_view code);

/// The upper-case alpha-3 code of an alpha-2 or alpha-3 code in any case.
std::optional<std::string> to_alpha3(std::string_view code);
/// A code as received, in any case, to its upper case. `malformed-request` when it is not that many
/// letters, `validation-failed` when no such code exists; the detail continues the field's name.
Result<std::string> parse_country_alpha2(std::string_view text);
Result<std::string> parse_currency_alpha3(std::string_view text);
/// Exact: upper case, two letters, a real country.
bool is_country_alpha2(std::string_view code);
/// Exact: upper case, three letters, a real currency.
bool is_currency_alpha3(std::string_view code);

}  // namespace coffer
