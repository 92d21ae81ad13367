#include "domain/ledger/wallet.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace coffer;

namespace {

const Timestamp kToday = *Timestamp::parse("2026-03-15T12:00:00Z");

TextMembers person() {
  TextMembers input;
  input["entityType"] = "Person";
  input["firstName"] = "Amina";
  input["lastName"] = "Otieno";
  input["dateOfBirth"] = "1990-02-28";
  input["nationality"] = "ke";
  return input;
}

TextMembers business() {
  TextMembers input;
  input["entityType"] = "Business";
  input["companyName"] = "Otieno Ltd";
  input["registrationNumber"] = "C-1234";
  input["registrationCountry"] = "KEN";
  return input;
}

struct Rejection {
  Slug slug;
  std::vector<std::string> fields;
};

Rejection rejection(const TextMembers& input) {
  const auto metadata = validate_metadata(input, kToday);
  REQUIRE_FALSE(metadata);
  Rejection rejected{metadata.error().slug, {}};
  for (const auto& error : metadata.error().fields) {
    CHECK_FALSE(error.message.empty());
    rejected.fields.push_back(error.field);
  }
  return rejected;
}

using Fields = std::vector<std::string>;

/// Checks that `input` has exactly this error.
void check_single(const TextMembers& input, Slug slug, const std::string& field) {
  const auto rejected = rejection(input);
  CHECK(rejected.slug == slug);
  CHECK(rejected.fields == Fields{field});
}

}  // namespace

TEST_CASE("wallet: statuses as the contract spells them") {
  CHECK(name(WalletStatus::pending) == "Pending");
  CHECK(name(WalletStatus::verified) == "Verified");
  CHECK(name(WalletStatus::rejected) == "Rejected");
  CHECK(parse_term<WalletStatus>("Verified") == WalletStatus::verified);
  CHECK_FALSE(parse_term<WalletStatus>("verified"));
}

TEST_CASE("wallet: only the review and changes of metadata change the status") {
  using enum WalletStatus;
  for (const auto from : {pending, verified, rejected}) {
    for (const auto to : {pending, verified, rejected}) {
      INFO(name(from) << " -> " << name(to));
      const bool allowed = (from == pending) != (to == pending);
      CHECK(may_change(from, to) == allowed);
    }
    CHECK(status_after_metadata_change(from, false) == pending);
    CHECK(status_after_metadata_change(from, true) == from);
  }
  CHECK(initial_wallet_status(true) == verified);
  CHECK(initial_wallet_status(false) == pending);
}

TEST_CASE("metadata: a person with required fields only, the country normalised") {
  const auto metadata = validate_metadata(person(), kToday);
  REQUIRE(metadata);
  CHECK(entity_type(*metadata) == EntityType::person);
  PersonMetadata expected;
  expected.first_name = "Amina";
  expected.last_name = "Otieno";
  expected.date_of_birth = "1990-02-28";
  expected.nationality = "KEN";
  CHECK(std::get<PersonMetadata>(*metadata) == expected);
}

TEST_CASE("metadata: a business with every field, trimmed") {
  auto input = business();
  input["companyName"] = "  Otieno Ltd\n";
  input["taxId"] = "P051";
  input["address"] = "1 Moi Avenue, Nairobi";
  input["contactEmail"] = "office@otieno.co.ke";
  const auto metadata = validate_metadata(input, kToday);
  REQUIRE(metadata);
  CHECK(entity_type(*metadata) == EntityType::business);
  CHECK(std::get<BusinessMetadata>(*metadata) == BusinessMetadata{"Otieno Ltd", "C-1234", "KEN",
                                                                  "P051", "1 Moi Avenue, Nairobi",
                                                                  "office@otieno.co.ke"});
}

TEST_CASE("metadata: members of the other entity type are ignored, valid or invalid") {
  auto input = person();
  input["companyName"] = "";
  input["registrationCountry"] = "Atlantis";
  input["contactEmail"] = "no-email";
  CHECK(validate_metadata(input, kToday));
}

TEST_CASE("metadata: missing and blank fields are a 400, reported together") {
  TextMembers input;
  CHECK(rejection(input).fields == Fields{"metadata.entityType"});
  CHECK(rejection(input).slug == Slug::malformed_request);

  input["entityType"] = "Person";
  CHECK(rejection(input).slug == Slug::malformed_request);
  CHECK(rejection(input).fields == Fields{"metadata.firstName", "metadata.lastName",
                                          "metadata.dateOfBirth", "metadata.nationality"});

  input["entityType"] = "Business";
  input["companyName"] = " \t";
  CHECK(rejection(input).slug == Slug::malformed_request);
  CHECK(rejection(input).fields == Fields{"metadata.companyName", "metadata.registrationNumber",
                                          "metadata.registrationCountry"});
  auto blank = person();
  blank["address"] = " ";
  check_single(blank, Slug::malformed_request, "metadata.address");
}

TEST_CASE("metadata: an unknown entity type is a 422, reported with the other errors") {
  auto input = person();
  input["entityType"] = "person";
  check_single(input, Slug::validation_failed, "metadata.entityType");
  input["nationality"] = "XX";
  input["companyName"] = std::string(201, 'x');
  const auto rejected = rejection(input);
  CHECK(rejected.slug == Slug::malformed_request);
  CHECK(rejected.fields ==
        Fields{"metadata.entityType", "metadata.nationality", "metadata.companyName"});
}

TEST_CASE("metadata: a country of the wrong shape is a 400, one that does not exist a 422") {
  auto input = person();
  for (const char* code : {"K", "KENY", "Kenya", "K1", "12", "\xc3\x84"}) {
    INFO(code);
    input["nationality"] = code;
    check_single(input, Slug::malformed_request, "metadata.nationality");
  }
  for (const char* code : {"XX", "ZZZ", "uk", "QQ"}) {
    INFO(code);
    input["nationality"] = code;
    check_single(input, Slug::validation_failed, "metadata.nationality");
  }
  auto company = business();
  company["registrationCountry"] = "XX";
  check_single(company, Slug::validation_failed, "metadata.registrationCountry");
}

TEST_CASE("metadata: a date of birth is a real day, not in the future, not before 1900") {
  auto input = person();
  for (const char* date : {"2026-03-16", "2030-01-01", "1899-12-31", "0001-01-01", "1990-02-29",
                           "1990-13-01", "1990-00-10", "28-02-1990", "1990/02/28", "1990-2-28",
                           "yesterday", "1990-02-28T00:00:00Z", "19900228", "1990-02-2x"}) {
    INFO(date);
    input["dateOfBirth"] = date;
    check_single(input, Slug::validation_failed, "metadata.dateOfBirth");
  }
  for (const char* date : {"2026-03-15", "1900-01-01", "2000-02-29"}) {
    INFO(date);
    input["dateOfBirth"] = date;
    CHECK(validate_metadata(input, kToday));
  }
}

TEST_CASE("metadata: e-mail addresses") {
  auto input = person();
  for (const char* email : {"a@b.co", "first.last+tag@mail.example.com", "o'neil@example.ie",
                            "j\xc3\xb6@\xc3\xb6.at"}) {
    INFO(email);
    input["email"] = email;
    CHECK(validate_metadata(input, kToday));
  }
  for (const char* email : {"no-email", "@b.co", "a@", "a@b", "a@b.", "a@.co", "a@b..co", "a@-b.co",
                            "a@b-.co", "a b@c.de", "a@b@c.de", ".a@b.co", "a.@b.co", "a..b@c.de",
                            "<a@b.co>", "a@b.co, c@d.ef", "\"a\"@b.co"}) {
    INFO(email);
    input["email"] = email;
    check_single(input, Slug::validation_failed, "metadata.email");
  }
  input["email"] = std::string(65, 'a') + "@b.co";
  check_single(input, Slug::validation_failed, "metadata.email");
}

TEST_CASE("metadata: phone numbers are E.164") {
  auto input = person();
  for (const char* phone : {"+254712345678", "+4912345", "+123456789012345"}) {
    INFO(phone);
    input["phone"] = phone;
    CHECK(validate_metadata(input, kToday));
  }
  for (const char* phone : {"0712345678", "+0712345678", "+12345", "+1234567890123456", "+",
                            "++2547", "+254 712 345", "+25471234567x", "call me"}) {
    INFO(phone);
    input["phone"] = phone;
    check_single(input, Slug::malformed_request, "metadata.phone");
  }
}

TEST_CASE("metadata: lengths and control characters") {
  auto input = person();
  input["firstName"] = std::string(200, 'a');
  CHECK(validate_metadata(input, kToday));
  input["firstName"] = std::string(201, 'a');
  check_single(input, Slug::malformed_request, "metadata.firstName");
  input["firstName"] = std::string("a\0b", 3);
  check_single(input, Slug::malformed_request, "metadata.firstName");
  input["firstName"] = "a\nb";
  check_single(input, Slug::malformed_request, "metadata.firstName");
  input["firstName"] = "N\xc3\xa9lida";
  CHECK(validate_metadata(input, kToday));
  input["address"] = std::string(500, 'a');
  CHECK(validate_metadata(input, kToday));
  input["address"] = std::string(501, 'a');
  check_single(input, Slug::malformed_request, "metadata.address");
}

TEST_CASE("metadata: one 400 among 422s gives a 400 with all errors") {
  auto input = person();
  input.erase("lastName");
  input["nationality"] = "XX";
  input["dateOfBirth"] = "2999-01-01";
  input["email"] = "no-email";
  const auto rejected = rejection(input);
  CHECK(rejected.slug == Slug::malformed_request);
  CHECK(rejected.fields == Fields{"metadata.lastName", "metadata.dateOfBirth",
                                  "metadata.nationality", "metadata.email"});
}

TEST_CASE("sandbox review: by the end of the last or company name") {
  auto input = person();
  const auto review = [](const TextMembers& of) {
    return sandbox_review(*validate_metadata(of, kToday));
  };
  CHECK(review(input) == SandboxReview::none);
  input["lastName"] = "Otieno001";
  CHECK(review(input) == SandboxReview::stay_pending);
  input["lastName"] = "Otieno 002 ";
  CHECK(review(input) == SandboxReview::reject);
  input["lastName"] = "Otieno";
  input["firstName"] = "Amina002";
  CHECK(review(input) == SandboxReview::none);
  auto company = business();
  company["companyName"] = "Otieno Ltd 002";
  CHECK(review(company) == SandboxReview::reject);
  company["companyName"] = "001";
  CHECK(review(company) == SandboxReview::stay_pending);
}
