// The request log keeps only members of a body that the schema declares and does not mark.
#include "api/json/redaction.h"

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
  Redactor::Texts removed;
  const auto text = redactor.body(schema, body.dump(), removed);
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
                  {"metadata", {{"order", "A-1"}}},
                  {"description", "Rent of Amina"}};
  const Json kept = redacted("Onramp", body);
  CHECK(kept["transactionId"] == "order-1");
  CHECK(kept["quoteId"] == body["quoteId"]);
  CHECK(kept["fromRef"] == "INV-1");
  CHECK(kept["payer"]["name"] == kHidden);
  CHECK(kept["payer"]["phone"] == kHidden);
  CHECK(kept["additionalFields"] == kHidden);
  CHECK(kept["metadata"] == kHidden);
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
  Redactor::Texts removed;
  CHECK(redactor.body("OwnTransfer", R"({"amount":1.10000000000000000001})", removed) ==
        R"({"amount":1.10000000000000000001})");
  CHECK(redactor.body("OwnTransfer", "{}", removed) == "{}");
  CHECK_FALSE(redactor.body("OwnTransfer", "not JSON", removed).has_value());
  CHECK(removed.empty());
}

TEST_CASE("the request log removes from a problem what it removed from the request") {
  const Redactor redactor(schemas());
  Redactor::Texts removed;
  const Json request{{"transactionId", "tx-1"},
                     {"hunter2", "x"},
                     {"metadata", {{"a hunter3", "hunter4"}}},
                     {"toRef", std::string(65, 'k')}};
  REQUIRE(redactor.body("OwnTransfer", request.dump(), removed).has_value());
  const Json problem{
      {"title", "Malformed request"},
      {"detail", "hunter2 is not a field; metadata.a hunter3 is not a permitted key."},
      {"errors",
       {{{"field", "hunter2"}, {"message", "hunter2 is not a field of this request."}},
        {{"field", "metadata.a hunter3"}, {"message", "hunter4 and hunter40 in text x, not xy"}}}}};
  const auto shown = redactor.response_body("Problem", problem.dump(), removed);
  REQUIRE(shown.has_value());
  CHECK(Json::parse(*shown) ==
        Json{{"title", "Malformed request"},
             {"detail", "[redacted] is not a field; metadata.[redacted] is not a permitted key."},
             {"errors",
              {{{"field", kHidden}, {"message", "[redacted] is not a field of this request."}},
               {{"field", "metadata.[redacted]"},
                {"message", "[redacted] and hunter40 in text [redacted], not xy"}}}}});
}

TEST_CASE("the request log removes texts that a declared member cannot have") {
  const std::string secret = "sk_" + std::string(64, 'a');
  for (const auto& [schema, member] :
       std::vector<std::pair<const char*, const char*>>{{"OwnTransfer", "transactionId"},
                                                        {"OwnTransfer", "sendingAssetCode"},
                                                        {"OwnTransfer", "amount"},
                                                        {"OwnTransfer", "sourceWalletId"},
                                                        {"OwnTransfer", "fromRef"},
                                                        {"NewWebhook", "eventTypes"},
                                                        {"TokenRequest", "clientId"},
                                                        {"TokenRequest", "scope"},
                                                        {"SignIn", "publicKey"},
                                                        {"Problem", "detail"}}) {
    INFO(schema << "." << member);
    CHECK(redacted(schema, {{member, secret}}).dump().find(secret) == std::string::npos);
    CHECK(redacted(schema, {{member, {secret}}}).dump().find(secret) == std::string::npos);
    const Json said{{member, "The value " + secret + " is wrong."}};
    CHECK(redacted(schema, said).dump().find(secret) == std::string::npos);
  }
  // A short one that does not have the form.
  CHECK(redacted("OwnTransfer", {{"sendingAssetCode", "hunter2 and more"}})["sendingAssetCode"] ==
        kHidden);
  CHECK(redacted("OwnTransfer", {{"sourceWalletId", "hunter2"}})["sourceWalletId"] == kHidden);
  // Seeds, tokens, and the base64 of webhook secrets.
  for (const std::string& one :
       {"S" + std::string(55, 'A'), "eyJhbGciOiJIUzI1NiJ9." + std::string(60, 'b') + ".c",
        "whsec_abc/def+" + std::string(20, 'x') + "/" + std::string(9, 'y') + "="}) {
    CHECK(redacted("Problem", {{"detail", one}})["detail"] == kHidden);
  }
}

TEST_CASE("the request log keeps texts of a declared form") {
  const std::string id = "0198f3a1-3c77-7e09-a4d2-9b1f6c8e0d60";
  const Json record{{"id", id}, {"ledgerTransactionHash", std::string(64, 'f')}};
  CHECK(redacted("Transaction", record) == record);
  const Json problem{{"detail", "Wallet " + id + " was not found."}, {"status", 404}};
  CHECK(redacted("Problem", problem) == problem);
  const Json transfer{
      {"transactionId", "order-2026-000123"}, {"amount", 12.5}, {"fromRef", "INV-1"}};
  CHECK(redacted("OwnTransfer", transfer) == transfer);
}

TEST_CASE("a query parameter or a segment of a path must have its declared form") {
  const Redactor redactor(schemas());
  const std::string secret(43, 'k');
  for (const char* schema : {"Id", "Limit", "TransactionId", "AssetCode", "Text", "Cursor",
                             "EventType", "DateOrTime", "PublicKey"}) {
    INFO(schema);
    CHECK(redactor.value(schema, secret) == kHidden);
  }
  CHECK(redactor.value("Id", "hunter2") == kHidden);
  CHECK(redactor.value("Limit", "hunter2") == kHidden);
  CHECK(redactor.value("EventType", "hunter2") == kHidden);
  CHECK(redactor.value("EventType", "payment.succeeded") == "payment.succeeded");
  CHECK(redactor.value("AssetCode", "USDC") == "USDC");
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
