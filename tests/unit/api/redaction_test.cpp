// The request log keeps only members of a body that the schema declares and does not mark.
#include "api/pipeline/redaction.h"

#include <catch2/catch.hpp>
#include <regex>

#include "api/about/openapi.h"

using namespace coffer;
using api::Json;
using api::Redactor;

namespace {

const Json& schemas() {
  static const Json instance = api::openapi_schemas();
  return instance;
}

Json redacted(const char* schema, const Json& body) {
  static const Redactor redactor(schemas());
  const auto text = redactor.body(schema, body.dump());
  REQUIRE(text.has_value());
  return Json::parse(*text);
}

constexpr const char* kHidden = "[redacted]";

}  // namespace

TEST_CASE("the request log keeps identifiers, amounts and statuses, and removes marked members") {
  const Json body{{"transactionId", "order-1"},
                  {"quoteId", "0198f3a1-3c77-7e09-a4d2-9b1f6c8e0d60"},
                  {"fromRef", "INV-1"},
                  {"payer", {{"name", "Amina Otieno"}, {"phone", "+254700000001"}}},
                  {"additionalFields", {{"nationalId", "12345678"}}},
                  {"description", "Rent of Amina"}};
  const Json kept = redacted("Onramp", body);
  CHECK(kept["transactionId"] == "order-1");
  CHECK(kept["quoteId"] == body["quoteId"]);
  CHECK(kept["fromRef"] == "INV-1");
  CHECK(kept["payer"]["name"] == kHidden);
  CHECK(kept["payer"]["phone"] == kHidden);
  CHECK(kept["additionalFields"] == kHidden);
  CHECK(kept["description"] == kHidden);
}

TEST_CASE("the request log removes values that no schema declares, and their names") {
  const Json kept = redacted("OwnTransfer", {{"transactionId", "a"}, {"s3cret", "value"}});
  CHECK(kept["transactionId"] == "a");
  CHECK(kept.dump().find("s3cret") == std::string::npos);
  CHECK(kept["[undeclared]"] == kHidden);
  // A text instead of an object with personal data.
  CHECK(redacted("Onramp", {{"payer", "Amina Otieno"}})["payer"] == kHidden);
  CHECK(redacted("OwnTransfer", {{"transactionId", {{"a", "b"}}}}).dump().find("\"b\"") ==
        std::string::npos);
  CHECK(redacted("NoSuchSchema", {{"a", 1}})["[undeclared]"] == kHidden);
}

TEST_CASE("the request log keeps numbers as they were written") {
  const Redactor redactor(schemas());
  CHECK(redactor.body("OwnTransfer", R"({"amount":1.10000000000000000001})") ==
        R"({"amount":1.10000000000000000001})");
  CHECK(redactor.body("OwnTransfer", "{}") == "{}");
  CHECK_FALSE(redactor.body("OwnTransfer", "not JSON").has_value());
}

TEST_CASE("the request log removes texts about people in the members of a beneficiary") {
  const Json kept = redacted(
      "NewBeneficiary",
      {{"type", "individual"},
       {"individual", {{"firstName", "Amina"}, {"email", "a@example.com"}, {"nationality", "KE"}}},
       {"addresses", {{{"city", "Nairobi"}, {"countryIsoCode2", "KE"}}}},
       {"paymentDestinations",
        {{{"method", "BANK"}, {"bank", {{"accountNumber", "0123456789"}}}}}}});
  for (const char* personal : {"Amina", "a@example.com", "Nairobi", "0123456789"}) {
    CAPTURE(personal);
    CHECK(kept.dump().find(personal) == std::string::npos);
  }
  CHECK(kept["paymentDestinations"][0]["method"] == "BANK");
}

TEST_CASE("a query parameter with text about people is redacted") {
  const Redactor redactor(schemas());
  CHECK(redactor.value("PersonalText", "Amina") == kHidden);
  CHECK(redactor.value("Limit", "20") == "20");
  CHECK(redactor.value("NoSuchSchema", "x") == kHidden);
}

TEST_CASE("every schema member whose name suggests a secret or a person is marked") {
  const std::regex tells(
      "secret|client_?secret|password|otp|.*(id|access|refresh)_?token|token|seed|api_?key|"
      "(first|last|middle|payer|company|legal|wallet)_?name|email|phone(number)?|iban|"
      "date_?of_?birth|tax_?id|street.*|username|customer_?id",
      std::regex::icase);
  int seen = 0;
  for (const auto& [name, schema] : schemas().items()) {
    if (!schema.contains("properties")) continue;
    for (const auto& [member, property] : schema.at("properties").items()) {
      const std::string path = name + "." + member;
      const auto type = property.value("type", Json("string"));
      const bool is_flag = type == "boolean" || type == "object";
      if (is_flag || !std::regex_match(member, tells)) continue;
      CAPTURE(path);
      CHECK(property.contains("x-sensitive"));
      ++seen;
    }
  }
  CHECK(seen > 30);
}
