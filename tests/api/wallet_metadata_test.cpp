// The compliance details of a third-party wallet: every rule, with its field.
#include <catch2/catch.hpp>

#include "support/scenario.h"
#include "support/test_app.h"

using namespace coffer;
using namespace coffer::test;

namespace {

struct Row {
  const char* name;
  const char* change;  // JSON merged over the valid metadata; null takes a member out
  int status;
  std::vector<std::string> fields;
};

/// A valid wallet body with the row's change of the metadata.
Json body_with(Json metadata, const char* change) {
  metadata.merge_patch(Json::parse(change));
  return {{"walletName", "Third party"}, {"assetCode", "USDC"}, {"metadata", metadata}};
}

void check_rows(const Client& client, const Json& valid, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Reply reply = client.post("/v1/wallets", body_with(valid, row.change));
    INFO(row.name << ": " << row.change << " -> " << reply.text());
    CHECK(reply.status == row.status);
    if (row.status == 400) CHECK(reply.slug() == "malformed-request");
    if (row.status == 422) CHECK(reply.slug() == "validation-failed");
    auto named = reply.fields();
    std::sort(named.begin(), named.end());
    CHECK(named == row.fields);
  }
}

std::string of_length(std::size_t length) { return std::string(length, 'x'); }

}  // namespace

TEST_CASE("required metadata of a person") {
  TestApp app;
  const std::string long_name = R"({"lastName":")" + of_length(201) + R"("})";
  check_rows(
      app.me(), person(),
      {
          {"as it is", "{}", 201, {}},
          {"every required member missing",
           R"({"firstName":null,"lastName":null,"dateOfBirth":null,"nationality":null})",
           400,
           {"metadata.dateOfBirth", "metadata.firstName", "metadata.lastName",
            "metadata.nationality"}},
          {"blank", R"({"firstName":"  "})", 400, {"metadata.firstName"}},
          {"too long", long_name.c_str(), 400, {"metadata.lastName"}},
          {"a number", R"({"firstName":7})", 400, {"metadata.firstName"}},
          {"a line break", R"({"firstName":"a\nb"})", 400, {"metadata.firstName"}},
          {"two letters", R"({"nationality":"ke"})", 201, {}},
          {"three letters", R"({"nationality":"KeN"})", 201, {}},
          {"no country, well sized", R"({"nationality":"XX"})", 422, {"metadata.nationality"}},
          {"no country, three letters", R"({"nationality":"QQQ"})", 422, {"metadata.nationality"}},
          {"one letter", R"({"nationality":"K"})", 400, {"metadata.nationality"}},
          {"a name", R"({"nationality":"Kenya"})", 400, {"metadata.nationality"}},
          {"digits", R"({"nationality":"40"})", 400, {"metadata.nationality"}},
          {"a leap day", R"({"dateOfBirth":"2000-02-29"})", 201, {}},
          {"no leap year", R"({"dateOfBirth":"1900-02-29"})", 422, {"metadata.dateOfBirth"}},
          {"other order", R"({"dateOfBirth":"28-02-1990"})", 422, {"metadata.dateOfBirth"}},
          {"with a time",
           R"({"dateOfBirth":"1990-02-28T00:00:00Z"})",
           422,
           {"metadata.dateOfBirth"}},
          {"today", R"({"dateOfBirth":"2026-01-01"})", 201, {}},
          {"tomorrow", R"({"dateOfBirth":"2026-01-02"})", 422, {"metadata.dateOfBirth"}},
          {"too old", R"({"dateOfBirth":"1899-12-31"})", 422, {"metadata.dateOfBirth"}},
          {"optional members",
           R"({"idType":"passport","idNumber":"A1","address":"Nairobi","email":"w@example.com",
               "phone":"+254712345678"})",
           201,
           {}},
          {"no e-mail address", R"({"email":"w.example.com"})", 422, {"metadata.email"}},
          {"no E.164 number", R"({"phone":"0712345678"})", 400, {"metadata.phone"}},
          {"blank optional", R"({"idType":""})", 400, {"metadata.idType"}},
          {"everything at once, the shape wins",
           R"({"firstName":null,"nationality":"XX","email":"x"})",
           400,
           {"metadata.email", "metadata.firstName", "metadata.nationality"}},
          {"members of a business are ignored",
           R"({"companyName":"","taxId":7})",
           400,
           {"metadata.taxId"}},
      });
}

TEST_CASE("required metadata of a business") {
  TestApp app;
  check_rows(
      app.me(), business(),
      {
          {"as it is", "{}", 201, {}},
          {"every required member missing",
           R"({"companyName":null,"registrationNumber":null,"registrationCountry":null})",
           400,
           {"metadata.companyName", "metadata.registrationCountry", "metadata.registrationNumber"}},
          {"lower case country", R"({"registrationCountry":"de"})", 201, {}},
          {"no country", R"({"registrationCountry":"ZZ"})", 422, {"metadata.registrationCountry"}},
          {"optional members",
           R"({"taxId":"T1","address":"Berlin","contactEmail":"info@example.org"})",
           201,
           {}},
          {"no e-mail address",
           R"({"contactEmail":"info@localhost"})",
           422,
           {"metadata.contactEmail"}},
          {"blank", R"({"registrationNumber":"\t"})", 400, {"metadata.registrationNumber"}},
      });
}

TEST_CASE("the entity type determines the fields, and must be one of two") {
  TestApp app;
  check_rows(
      app.me(), person(),
      {
          {"missing", R"({"entityType":null})", 400, {"metadata.entityType"}},
          {"unknown", R"({"entityType":"Trust"})", 422, {"metadata.entityType"}},
          {"lower case", R"({"entityType":"person"})", 422, {"metadata.entityType"}},
          {"unknown beside a bad country",
           R"({"entityType":"Trust","nationality":"XX"})",
           422,
           {"metadata.entityType", "metadata.nationality"}},
          {"the wrong one",
           R"({"entityType":"Business"})",
           400,
           {"metadata.companyName", "metadata.registrationCountry", "metadata.registrationNumber"}},
      });
}

TEST_CASE("metadata is returned trimmed, with countries in alpha-3") {
  TestApp app;
  const auto stored = [&](const Json& valid, const char* change) {
    return app.me().post("/v1/wallets", body_with(valid, change)).json().at("metadata");
  };
  CHECK(stored(person(), R"({"nationality":"us","firstName":"  Ada "})") ==
        Json{{"entityType", "Person"},
             {"firstName", "Ada"},
             {"lastName", "Wanjiku"},
             {"dateOfBirth", "1990-02-28"},
             {"nationality", "USA"}});
  CHECK(stored(business(), R"({"registrationCountry":"de","taxId":"DE 1"})") ==
        Json{{"entityType", "Business"},
             {"companyName", "Kahawa Ltd"},
             {"registrationNumber", "PVT-123"},
             {"registrationCountry", "DEU"},
             {"taxId", "DE 1"}});
}

TEST_CASE("the same rules apply to updates and to own wallets") {
  TestApp app;
  const std::string id = app.me().third_party_wallet("USDC");
  Json bad = person();
  bad["nationality"] = "XX";
  const Reply update = app.me().put("/v1/wallets/" + id, {{"metadata", bad}});
  CHECK(update.status == 422);
  CHECK(update.fields() == std::vector<std::string>{"metadata.nationality"});
  const Reply own = app.me().post(
      "/v1/wallets",
      {{"walletName", "Own"}, {"assetCode", "USDC"}, {"ownAccount", true}, {"metadata", bad}});
  CHECK(own.status == 422);
  CHECK(own.fields() == std::vector<std::string>{"metadata.nationality"});
}
