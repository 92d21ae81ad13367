#include "domain/parties/beneficiary.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace coffer;

namespace beneficiary_test {
namespace {

constexpr std::string_view kKey = "GKEY";
const BeneficiaryRules kRules{*Timestamp::parse("2026-03-15T12:00:00Z"), "COFFER",
                              [](std::string_view text) { return text == kKey; }};

BeneficiaryInput individual() {
  BeneficiaryInput input;
  input.individual = TextMembers{{"firstName", "Amina"}, {"lastName", "Otieno"}};
  return input;
}

DestinationInput bank() {
  DestinationInput input;
  input.own = {{"method", "BANK"}, {"countryIsoCode2", "KE"}, {"currencyIsoCode3", "KES"}};
  input.bank = TextMembers{{"accountName", "Amina Otieno"}, {"accountNumber", "0123456789"}};
  return input;
}

DestinationInput mobile() {
  DestinationInput input;
  input.own = {{"method", "MOMO"}, {"countryIsoCode2", "ke"}, {"currencyIsoCode3", "kes"}};
  input.mobile_money = TextMembers{{"provider", "M-Pesa"}, {"phoneNumber", "+254712345678"}};
  return input;
}

DestinationInput crypto(const std::string& network = "COFFER",
                        const std::string& address = "GKEY") {
  DestinationInput input;
  input.own = {{"method", "CRYPTO"}};
  input.crypto =
      TextMembers{{"networkName", network}, {"assetSymbol", "USDC"}, {"walletAddress", address}};
  return input;
}

using Fields = std::vector<std::string>;

Fields fields_of(const ValidationErrors& errors) {
  Fields out;
  if (errors.empty()) return out;
  for (const FieldError& error : errors.problem().fields) {
    CHECK_FALSE(error.message.empty());
    out.push_back(error.field);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void check(const BeneficiaryInput& input, Slug slug, const Fields& fields) {
  ValidationErrors errors;
  validate_beneficiary(input, kRules, errors);
  CHECK(fields_of(errors) == fields);
  if (!errors.empty()) CHECK(errors.problem().slug == slug);
}

void check(const DestinationInput& input, Slug slug, const Fields& fields) {
  ValidationErrors errors;
  validate_destination(input, kRules, "", errors);
  CHECK(fields_of(errors) == fields);
  if (!errors.empty()) CHECK(errors.problem().slug == slug);
}

Destination good(const DestinationInput& input) {
  ValidationErrors errors;
  Destination out = validate_destination(input, kRules, "", errors);
  CHECK(fields_of(errors).empty());
  return out;
}

constexpr Slug k400 = Slug::malformed_request;
constexpr Slug k422 = Slug::validation_failed;

}  // namespace

TEST_CASE("beneficiary: methods by name, including MOMO") {
  CHECK(name(DestinationMethod::bank) == "BANK");
  CHECK(name(DestinationMethod::mobile_money) == "MOBILE_MONEY");
  CHECK(name(DestinationMethod::crypto) == "CRYPTO");
  CHECK(parse_destination_method("MOMO") == DestinationMethod::mobile_money);
  CHECK(parse_destination_method("MOBILE_MONEY") == DestinationMethod::mobile_money);
  CHECK_FALSE(parse_destination_method("CARD"));
  CHECK_FALSE(parse_destination_method("bank"));
}

TEST_CASE("beneficiary: exactly one of individual and business") {
  BeneficiaryInput input;
  check(input, k422, {"business", "individual"});
  input = individual();
  input.business = TextMembers{{"companyName", "Kahawa Ltd"}};
  check(input, k422, {"business", "individual"});
  input.individual.reset();
  check(input, k422, {});
  ValidationErrors wrong_type;
  wrong_type.add(k400, "individual", "must be an object");
  validate_beneficiary({}, kRules, wrong_type);
  CHECK(fields_of(wrong_type) == Fields{"individual"});
}

TEST_CASE("beneficiary: all members are normalised") {
  BeneficiaryInput input = individual();
  input.individual =
      TextMembers{{"firstName", " Amina "},   {"lastName", "Otieno"},        {"email", "a@b.co"},
                  {"phone", "+254712345678"}, {"dateOfBirth", "1990-02-28"}, {"nationality", "ke"}};
  input.addresses.push_back({{"type", "home"},
                             {"line1", "1 Moi Avenue"},
                             {"city", "Nairobi"},
                             {"postalCode", "00100"},
                             {"countryIsoCode2", "ke"}});
  input.tags = {"supplier", " vip "};
  input.client_reference = "C-1";
  ValidationErrors errors;
  const Beneficiary made = validate_beneficiary(input, kRules, errors);
  CHECK(fields_of(errors).empty());
  CHECK(made ==
        Beneficiary{Individual{"Amina", "Otieno", "a@b.co", "+254712345678", "1990-02-28", "KEN"},
                    {{"home", "1 Moi Avenue", {}, "Nairobi", {}, "00100", "KE"}},
                    {"supplier", "vip"},
                    "C-1"});
  CHECK(display_name(made) == "Amina Otieno");
  CHECK(entity_type(made) == EntityType::person);
  CHECK(email(made) == "a@b.co");
  CHECK(phone(made) == "+254712345678");
  CHECK(search_text(made) == "Amina Otieno\na@b.co\nC-1");
  const Beneficiary company{Company{"Kahawa Ltd", {}, {}, {}, {}}, {}, {}, {}};
  CHECK(display_name(company) == "Kahawa Ltd");
  CHECK(entity_type(company) == EntityType::business);
}

TEST_CASE("beneficiary: all errors are reported together") {
  BeneficiaryInput input = individual();
  input.individual = TextMembers{{"lastName", " "},
                                 {"email", "no-email"},
                                 {"phone", "0712"},
                                 {"dateOfBirth", "2030-01-01"},
                                 {"nationality", "Atlantis"}};
  input.addresses.push_back({{"city", "a\tb"}, {"countryIsoCode2", "KEN"}});
  input.tags = {"x", "x", " ", std::string(51, 't')};
  input.client_reference = std::string(201, 'r');
  check(
      input, k400,
      {"addresses[0].city", "addresses[0].countryIsoCode2", "addresses[0].line1", "clientReference",
       "individual.dateOfBirth", "individual.email", "individual.firstName", "individual.lastName",
       "individual.nationality", "individual.phone", "tags[1]", "tags[2]", "tags[3]"});
}

TEST_CASE("beneficiary: maximum numbers of tags and addresses") {
  BeneficiaryInput input = individual();
  for (std::size_t i = 0; i < kTagsMax; ++i) input.tags.emplace_back("tag " + std::to_string(i));
  input.addresses.resize(kAddressesMax,
                         {{"line1", "1 Road"}, {"city", "Nairobi"}, {"countryIsoCode2", "KE"}});
  check(input, k400, {});
  input.tags.emplace_back("one more");
  input.addresses.push_back(input.addresses.front());
  check(input, k400, {"addresses", "tags"});
  input = individual();
  input.tags = {"same", " same"};
  check(input, k422, {"tags[1]"});
}

TEST_CASE("destination: place, currency and method") {
  const Destination made = good(mobile());
  CHECK(made.method == DestinationMethod::mobile_money);
  CHECK(made.country == "KE");
  CHECK(made.currency == "KES");
  // Another length or other characters violate the published pattern; a code with the right pattern
  // may still not exist.
  struct Code {
    const char* text;
    Slug slug;
  };
  for (const Code& country :
       {Code{"KEN", k400}, Code{"K", k400}, Code{"Kenya", k400}, Code{"1!", k400},
        Code{"\xc3\xa9", k400}, Code{"XX", k422}, Code{"zz", k422}, Code{"UK", k422}}) {
    DestinationInput input = bank();
    input.own["countryIsoCode2"] = country.text;
    INFO(country.text);
    check(input, country.slug, {"countryIsoCode2"});
  }
  for (const Code& currency : {Code{"KE", k400}, Code{"USDC", k400}, Code{"K3S", k400},
                               Code{"XXX", k422}, Code{"xts", k422}, Code{"ABC", k422}}) {
    DestinationInput input = bank();
    input.own["currencyIsoCode3"] = currency.text;
    INFO(currency.text);
    check(input, currency.slug, {"currencyIsoCode3"});
  }
  check(DestinationInput{}, k400, {"countryIsoCode2", "currencyIsoCode3", "method"});
  DestinationInput input = bank();
  input.own["method"] = "CARD";
  check(input, k400, {"method"});
  input = bank();
  input.bank.reset();
  check(input, k400, {"bank"});
  input = mobile();
  input.mobile_money.reset();
  check(input, k400, {"mobileMoney"});
}

TEST_CASE("destination: details of another method are rejected") {
  DestinationInput input = bank();
  input.mobile_money = mobile().mobile_money;
  input.crypto = crypto().crypto;
  input.own["walletAddress"] = "x";
  check(input, k422, {"crypto", "mobileMoney", "walletAddress"});
  input = mobile();
  input.bank = bank().bank;
  check(input, k422, {"bank"});
}

TEST_CASE("destination: a bank account has a number or an IBAN") {
  DestinationInput input = bank();
  (*input.bank)["iban"] = "DE89 3704 0044 0532 0130 00";
  check(input, k422, {"bank.accountNumber", "bank.iban"});
  input.bank->erase("accountNumber");
  input.own["countryIsoCode2"] = "DE";
  (*input.bank)["swiftBic"] = "deutdeff";
  const Destination made = good(input);
  CHECK(std::get<BankDetails>(made.details).iban == "DE89370400440532013000");
  CHECK(std::get<BankDetails>(made.details).swift_bic == "DEUTDEFF");
  CHECK(outcome_digits(made) == "DE89370400440532013000");
  (*input.bank)["iban"] = "DE89370400440532013001";
  (*input.bank)["swiftBic"] = "DEUTDEF";
  check(input, k422, {"bank.iban", "bank.swiftBic"});
  input = bank();
  input.bank->erase("accountNumber");
  check(input, k422, {"bank.accountNumber", "bank.iban"});
  input.bank->erase("accountName");
  (*input.bank)["accountNumber"] = std::string(35, '1');
  check(input, k400, {"bank.accountName", "bank.accountNumber"});
  CHECK(outcome_digits(good(bank())) == "0123456789");
}

TEST_CASE("destination: an IBAN belongs to the country of the destination") {
  DestinationInput input = bank();
  input.bank->erase("accountNumber");
  const auto set = [&](const char* country, const char* iban) {
    input.own["countryIsoCode2"] = country;
    (*input.bank)["iban"] = iban;
  };
  constexpr const char* kGerman = "DE89370400440532013000";
  constexpr const char* kBritish = "GB29NWBK60161331926819";
  constexpr const char* kFrench = "FR1420041010050500013M02606";
  for (const auto& [country, iban] :
       {std::pair("DE", kGerman), std::pair("gb", kBritish), std::pair("JE", kBritish),
        std::pair("GG", kBritish), std::pair("IM", kBritish), std::pair("MQ", kFrench),
        std::pair("XK", "XK051212012345678906")}) {
    INFO(country);
    set(country, iban);
    CHECK(good(input).country.size() == 2);
  }
  for (const auto& [country, iban] :
       {std::pair("GB", kGerman), std::pair("DE", kBritish), std::pair("MC", kFrench),
        std::pair("KE", kGerman), std::pair("US", kBritish),
        std::pair("RS", "XK051212012345678906"), std::pair("US", "US5064SVBKUS6S33009588"),
        std::pair("NG", "NG180440000000123456789")}) {
    INFO(country);
    set(country, iban);
    check(input, k422, {"bank.iban"});
  }
  set("ZZ", kGerman);
  check(input, k422, {"countryIsoCode2"});
}

TEST_CASE("destination: mobile money goes to a number in E.164 form") {
  DestinationInput input = mobile();
  CHECK(outcome_digits(good(input)) == "+254712345678");
  (*input.mobile_money)["phoneNumber"] = "0712345678";
  check(input, k400, {"mobileMoney.phoneNumber"});
  input.mobile_money = TextMembers{};
  check(input, k400, {"mobileMoney.phoneNumber", "mobileMoney.provider"});
}

TEST_CASE("destination: crypto inputs at the top level or in their object") {
  const Destination nested = good(crypto());
  DestinationInput input;
  input.own = *crypto().crypto;
  input.own["method"] = "CRYPTO";
  CHECK(good(input) == nested);
  CHECK(outcome_digits(nested) == kKey);
  input.crypto = crypto().crypto;
  CHECK(good(input) == nested);
  input.crypto->erase("assetSymbol");
  CHECK(good(input) == nested);
  input.own["networkName"] = "other";
  check(input, k422, {"networkName"});
  DestinationInput nothing;
  nothing.own["method"] = "CRYPTO";
  check(nothing, k400, {"assetSymbol", "networkName", "walletAddress"});
  nothing.crypto = TextMembers{};
  check(nothing, k400, {"crypto.assetSymbol", "crypto.networkName", "crypto.walletAddress"});
}

TEST_CASE("destination: on the ledger's network the address must be one of its keys") {
  for (const char* network : {"COFFER", "coffer", "Stellar", "STELLAR"}) {
    INFO(network);
    good(crypto(network));
    check(crypto(network, "0xabc"), k422, {"crypto.walletAddress"});
    DestinationInput input = crypto(network);
    (*input.crypto)["assetSymbol"] = "USD-C";
    check(input, k422, {"crypto.assetSymbol"});
  }
  good(crypto("Ethereum", "0x00000000219ab540356cBB839Cbe05303d7705Fa"));
  good(crypto("Ethereum", std::string(128, 'a')));
  check(crypto("Ethereum", std::string(129, 'a')), k400, {"crypto.walletAddress"});
  DestinationInput input = crypto();
  (*input.crypto)["memo"] = std::string(28, 'm');
  good(input);
  (*input.crypto)["memo"] = std::string(29, 'm');
  check(input, k400, {"crypto.memo"});
}

TEST_CASE("destination: country and currency of a wallet address are optional, but must be valid") {
  CHECK(good(crypto()).country.empty());
  DestinationInput input = crypto();
  input.own["countryIsoCode2"] = "XX";
  input.own["currencyIsoCode3"] = "XXX";
  check(input, k422, {"countryIsoCode2", "currencyIsoCode3"});
}

TEST_CASE("destination: numbers are masked to the last four characters") {
  CHECK(masked("0123456789") == "******6789");
  CHECK(masked("12345") == "*2345");
  CHECK(masked("1234") == "****");
  CHECK(masked("").empty());
  // Never half a character.
  CHECK(masked("12345\xc3\xa9"
               "abc") == "*******abc");
  Destination destination = masked(good(bank()));
  CHECK(std::get<BankDetails>(destination.details).account_number == "******6789");
  CHECK(std::get<BankDetails>(destination.details).account_name == "Amina Otieno");
  destination = masked(good(mobile()));
  CHECK(outcome_digits(destination) == "*********5678");
  CHECK(outcome_digits(masked(good(crypto("Ethereum", "0xabcdef")))) == "****cdef");
}

}  // namespace beneficiary_test
