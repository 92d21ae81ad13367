#include "domain/country.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "base/clock.h"

using namespace coffer;

TEST_CASE("country: alpha-2 and alpha-3 in any case become alpha-3") {
  for (const char* code : {"KE", "ke", "Ke", "KEN", "ken", "kEn"}) {
    INFO(code);
    CHECK(to_alpha3(code) == "KEN");
  }
  CHECK(to_alpha3("de") == "DEU");
  CHECK(to_alpha3("CH") == "CHE");
}

TEST_CASE("country: unknown countries have no alpha-3 code") {
  for (const char* code : {"", "K", "XX", "ZZ", "UK", "XXX", "ABC", "KENY", "K ", " KE", "K1",
                           "404", "\xc3\x84T", "KE\n"}) {
    INFO(code);
    CHECK_FALSE(to_alpha3(code));
    CHECK(find_country(code) == nullptr);
  }
  CHECK_FALSE(to_alpha3(std::string_view("KE\0", 3)));
}

TEST_CASE("country: the strict checks take upper case only") {
  CHECK(is_country_alpha2("KE"));
  CHECK_FALSE(is_country_alpha2("ke"));
  CHECK_FALSE(is_country_alpha2("KEN"));
  CHECK(is_currency_alpha3("KES"));
  CHECK_FALSE(is_currency_alpha3("kes"));
  CHECK_FALSE(is_currency_alpha3("KE"));
  CHECK_FALSE(is_currency_alpha3("ZZZ"));
}

TEST_CASE("country: names are the common ones, in UTF-8") {
  CHECK(find_country("TZ")->name == "Tanzania");
  CHECK(find_country("civ")->name == "C\xc3\xb4te d'Ivoire");
  CHECK(find_currency("kes")->name == "Kenyan Shilling");
}

TEST_CASE("country: tables are whole, sorted, well formed and without duplicates") {
  CHECK(countries().size() >= 249);
  CHECK(currencies().size() >= 150);
  const auto upper = [](std::string_view text, std::size_t size) {
    return text.size() == size &&
           std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  };
  for (std::size_t i = 0; i < countries().size(); ++i) {
    const Country& country = countries()[i];
    INFO(country.alpha2);
    CHECK(upper(country.alpha2, 2));
    CHECK(upper(country.alpha3, 3));
    CHECK_FALSE(country.name.empty());
    CHECK(find_country(country.alpha2) == &country);
    CHECK(find_country(country.alpha3) == &country);
    if (i > 0) CHECK(countries()[i - 1].alpha2 < country.alpha2);
  }
  for (std::size_t i = 0; i < currencies().size(); ++i) {
    const Currency& currency = currencies()[i];
    CHECK(upper(currency.alpha3, 3));
    CHECK_FALSE(currency.name.empty());
    if (i > 0) CHECK(currencies()[i - 1].alpha3 < currency.alpha3);
  }
}

TEST_CASE("country: currencies are those of the present ISO 4217") {
  for (const char* code : {"ZWG", "XCG", "XAD", "SLE", "VES", "EUR", "UGX", "ZMW"}) {
    INFO(code);
    CHECK(is_currency_alpha3(code));
  }
  for (const char* code : {"ZWL", "HRK", "BGN", "SLL", "ANG", "CUC"}) {
    INFO(code);
    CHECK_FALSE(is_currency_alpha3(code));
    CHECK_FALSE(parse_currency_alpha3(code));
  }
}

TEST_CASE("country: currencies have the minor units of ISO 4217") {
  for (const auto& [code, units] :
       {std::pair("KES", 2), std::pair("EUR", 2), std::pair("ZWG", 2), std::pair("JPY", 0),
        std::pair("UGX", 0), std::pair("RWF", 0), std::pair("ISK", 0), std::pair("XAF", 0),
        std::pair("XOF", 0), std::pair("BHD", 3), std::pair("KWD", 3), std::pair("IQD", 3),
        std::pair("TND", 3), std::pair("CLF", 4)}) {
    INFO(code);
    REQUIRE(find_currency(code) != nullptr);
    CHECK(find_currency(code)->minor_units == units);
  }
  CHECK_FALSE(find_currency("XAU")->minor_units);
}

TEST_CASE("country: Kosovo is a country, under its user-assigned code") {
  CHECK(is_country_alpha2("XK"));
  CHECK(to_alpha3("xk") == "XKX");
  CHECK(parse_country_alpha2("xk").value() == "XK");
}

TEST_CASE("country: the tables show when they were reviewed") {
  CHECK(Timestamp::parse(std::string(country_tables_date()) + "T00:00:00Z"));
}

TEST_CASE("country: the codes for no currency and for testing are not currencies") {
  CHECK(find_currency("XXX") == nullptr);
  CHECK(find_currency("XTS") == nullptr);
}
