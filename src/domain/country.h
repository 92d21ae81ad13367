// Countries (ISO 3166-1, and XK) and currencies (ISO 4217). cmake/country_tables.cmake generates
// the tables at build time from the distribution's iso-codes package and cmake/iso_overlay.json.
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
  std::string_view name;  // English; the common name if ISO's name is longer
};

struct Currency {
  std::string_view alpha3;
  std::string_view name;
  std::optional<int> minor_units;  // decimal places; empty for metals and units of account
};

/// The date of the last review of both tables, such as 2026-01-31.
std::string_view country_tables_date();

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
/// Converts a code in any case to upper case. `malformed-request` if it does not have this number
/// of letters, `validation-failed` if the code does not exist. The detail continues a sentence that
/// starts with the field's name.
Result<std::string> parse_country_alpha2(std::string_view text);
Result<std::string> parse_currency_alpha3(std::string_view text);
/// Exact: upper case, two letters, an existing country.
bool is_country_alpha2(std::string_view code);
/// Exact: upper case, three letters, an existing currency.
bool is_currency_alpha3(std::string_view code);

}  // namespace coffer
