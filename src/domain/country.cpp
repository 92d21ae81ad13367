#include "domain/country.h"

#include <algorithm>
#include <array>

namespace coffer {
namespace {

#include "domain/country_tables.inc"

/// ASCII only: a letter of another alphabet never turns into one of a code.
std::string upper(std::string_view code) {
  std::string text(code);
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

}  // namespace

std::span<const Country> countries() { return kCountries; }
std::span<const Currency> currencies() { return kCurrencies; }

const Country* find_country(std::string_view code) {
  const std::string wanted = upper(code);
  const auto it = std::find_if(kCountries.begin(), kCountries.end(), [&](const Country& country) {
    return country.alpha2 == wanted || country.alpha3 == wanted;
  });
  return it == kCountries.end() ? nullptr : &*it;
}

const Currency* find_currency(std::string_view code) {
  const std::string wanted = upper(code);
  const auto it = std::find_if(kCurrencies.begin(), kCurrencies.end(),
                               [&](const Currency& currency) { return currency.alpha3 == wanted; });
  return it == kCurrencies.end() ? nullptr : &*it;
}

std::optional<std::string> to_alpha3(std::string_view code) {
  const Country* country = find_country(code);
  if (country == nullptr) return std::nullopt;
  return std::string(country->alpha3);
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
