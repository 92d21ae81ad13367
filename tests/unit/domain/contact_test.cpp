#include "domain/contact.h"

#include <catch2/catch.hpp>

using namespace coffer;

namespace contact_test {
namespace {

const Timestamp kToday = *Timestamp::parse("2026-03-15T12:00:00Z");
using Need = ContactReader::Need;

constexpr TextFact fact(std::string_view name, TextRule rule) {
  return {.name = name, .column = name, .rule = rule};
}

}  // namespace

TEST_CASE("contact: e-mail addresses") {
  for (const char* text :
       {"a@b.co", "first.last+tag@mail.example.com", "x_y@xn--bcher-kva.ch", "o'neil@example.ie",
        "m\xc3\xbcller@b\xc3\xbc"
        "cher.example"}) {
    INFO(text);
    CHECK(is_email(text));
  }
  for (const char* text :
       {"", "a", "@b.co", "a@", "a@b", ".a@b.co", "a.@b.co", "a..b@c.co", "a b@c.co", "a@b..co",
        "a@-b.co", "a@b-.co", "a@b.co.", "a@@b.co", "<a@b.co>"}) {
    INFO(text);
    CHECK_FALSE(is_email(text));
  }
  CHECK(is_email(std::string(64, 'a') + "@b.co"));
  CHECK_FALSE(is_email(std::string(65, 'a') + "@b.co"));
  CHECK_FALSE(is_email("a@" + std::string(64, 'b') + ".co"));
}

TEST_CASE("contact: phone numbers in E.164 form") {
  for (const char* text : {"+254712345678", "+1234567", "+123456789012345"}) CHECK(is_e164(text));
  for (const char* text : {"", "+", "254712345678", "+0712345678", "+123456", "+1234567890123456",
                           "+254 712 345", "+25471234567a", "++254712345"}) {
    INFO(text);
    CHECK_FALSE(is_e164(text));
  }
}

TEST_CASE("contact: lengths count characters, not bytes") {
  std::string longest;
  for (std::size_t i = 0; i < kTextMax; ++i) longest += "\xf0\x9f\x92\xb6";  // U+1F4B6
  ValidationErrors errors;
  ContactReader reader(errors, "", kToday);
  CHECK(reader.text("fits", longest, Need::required) == longest);
  CHECK(errors.empty());
  CHECK(reader.text("long", longest + "x", Need::required).empty());
  REQUIRE_FALSE(errors.empty());
  CHECK(errors.problem().fields.at(0).message == "must have at most 200 characters");
}

TEST_CASE("contact: the reader trims, bounds, and names each field once") {
  ValidationErrors errors;
  ContactReader reader(errors, "x.", kToday);
  CHECK(reader.text("a", "  Amina\n", Need::required) == "Amina");
  CHECK(reader.text("b", std::nullopt, Need::optional).empty());
  CHECK(reader.optional_text("c", std::string(200, 'c')));
  CHECK(reader.value(fact("d", rule::country_alpha3), "ke", Need::required) == "KEN");
  CHECK(reader.value(fact("e", rule::date_of_birth), "2026-03-15", Need::required) == "2026-03-15");
  CHECK(reader.within("y.").value(fact("f", rule::email), "a@b.co", Need::optional) == "a@b.co");
  CHECK(errors.empty());
  reader.text("a", std::nullopt, Need::required);
  reader.text("a", " ", Need::required);
  reader.text("b", " ", Need::optional);
  reader.optional_text("c", std::string(201, 'c'));
  reader.optional_text("d", "a\x01");
  reader.within("y.").value(fact("e", rule::phone), "0712", Need::optional);
  std::vector<std::string> fields;
  for (const FieldError& error : errors.problem().fields) fields.push_back(error.field);
  CHECK(fields == std::vector<std::string>{"x.a", "x.b", "x.c", "x.d", "x.y.e"});
  CHECK(errors.problem().slug == Slug::malformed_request);
}

TEST_CASE("contact: dates of birth are real, from 1900 to today") {
  for (const char* text : {"2026-03-16", "1899-12-31", "2025-02-29", "2000-13-01", "2000-1-1",
                           "2000-01-01T00:00:00Z", "yesterday"}) {
    ValidationErrors errors;
    ContactReader(errors, "", kToday).value(fact("d", rule::date_of_birth), text, Need::required);
    INFO(text);
    REQUIRE_FALSE(errors.empty());
    CHECK(errors.problem().slug == Slug::validation_failed);
  }
}

}  // namespace contact_test
