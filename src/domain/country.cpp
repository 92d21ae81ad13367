#include "domain/country.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"

namespace coffer {
namespace {

#include "domain/country_tables.inc"

/// `what` is the name of the code in both error messages.
Result<std::string> parse_code(std::string_view text, std::size_t letters,
                               bool (*exists)(std::string_view), const std::string& what) {
  std::string code = ascii::to_upper(text);
  const bool well_shaped = code.size() == letters && std::ranges::all_of(code, ascii::is_upper);
  if (!well_shaped) {
    return unexpected(Slug::malformed_request,
                      "must have " + std::to_string(letters) + " letters: " + what);
  }
  if (!exists(code)) {
    return unexpected(Slug::validation_failed, "must be " + what + "; " + code + " does not exist");
  }
  return code;
}

}  // namespace

std::string_view country_tables_date() { return kReviewed; }
std::span<const Country> countries() { return kCountries; }
std::span<const Currency> currencies() { return kCurrencies; }

const Country* find_country(std::string_view code) {
  const std::string wanted = ascii::to_upper(code);
  const auto it = std::ranges::find_if(kCountries, [&](const Country& country) {
    return country.alpha2 == wanted || country.alpha3 == wanted;
  });
  return it == kCountries.end() ? nullptr : &*it;
}

const Currency* find_currency(std::string_view code) {
  const std::string wanted = ascii::to_upper(code);
  const auto it = std::ranges::find(kCurrencies, wanted, &Currency::alpha3);
  return it == kCurrencies.end() ? nullptr : &*it;
}

std::optional<std::string> to_alpha3(std::string_view code) {
  const Country* country = find_country(code);
  if (country == nullptr) return std::nullopt;
  return std::string(country->alpha3);
}

Result<std::string> parse_country_alpha2(std::string_view text) {
  return parse_code(text, 2, is_country_alpha2, "an ISO 3166-1 alpha-2 country code such as KE");
}

Result<std::string> parse_currency_alpha3(std::string_view text) {
  return parse_code(text, 3, is_currency_alpha3, "an ISO 4217 currency code such as KES");
}

bool is_country_alpha2(std::string_view code) {
  const Country* country = find_country(code);
  return country != nullptr && country->alpha2 == code;
}

bool is_currency_alpha3(std::string_view code) {
  const Currency* currency = find_currency(code);
  return currency != nullptr && currency->alpha3 == code;
}

}  // namespace coffer
