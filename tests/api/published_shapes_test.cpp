// The server enforces the patterns, minimum lengths and list items of the OpenAPI document: a value
// that violates them is 400 and names the field. Generated from the document.
// text_lengths_test.cpp tests maximum lengths.
#include <catch2/catch.hpp>
#include <map>
#include <regex>
#include <set>

#include "api/about/openapi.h"
#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace published_shapes_test {
namespace {

/// A property of a request with a pattern or a bound; `path` as in `errors[].field`, array items
/// 0.
struct Constraint {
  std::string path;
  Json schema;
};

class Document {
 public:
  const Json& schema(std::string_view name) const {
    return json_.at("components").at("schemas").at(std::string(name));
  }

  /// Collects the properties with a pattern or a bound in `schema` and below.
  std::vector<Constraint> constraints(const Json& schema, const std::string& path = {}) const {
    std::vector<Constraint> out;
    const auto add = [&](const Json& inner, const std::string& at) {
      for (Constraint& one : constraints(inner, at)) out.push_back(std::move(one));
    };
    for (const char* key : {"pattern", "minLength", "minItems", "maxItems"}) {
      if (schema.contains(key)) {
        out.push_back({path, schema});
        break;
      }
    }
    if (schema.contains("$ref")) {
      const std::string ref = schema.at("$ref");
      add(this->schema(ref.substr(ref.rfind('/') + 1)), path);
    }
    for (const char* key : {"oneOf", "anyOf", "allOf"}) {
      if (!schema.contains(key)) continue;
      for (const Json& branch : schema.at(key)) add(branch, path);
    }
    if (schema.contains("properties")) {
      for (const auto& [name, inner] : schema.at("properties").items()) {
        add(inner, path.empty() ? name : path + "." + name);
      }
    }
    if (schema.contains("items")) add(schema.at("items"), path + "[0]");
    return out;
  }

 private:
  Json json_ = Json::parse(api::openapi_document());
};

/// The value at a path of `errors[].field`; nullptr if the body has none.
Json* value_at(Json& body, const std::string& path) {
  std::string pointer = "/";
  for (const char c : path) {
    if (c == '.' || c == '[') {
      pointer += '/';
    } else if (c != ']') {
      pointer += c;
    }
  }
  const Json::json_pointer at(pointer);
  return body.contains(at) ? &body[at] : nullptr;
}

/// Texts that do not match the pattern: one letter more, one less, and a character of no code.
std::vector<Json> off_pattern(const std::string& text, const std::string& pattern) {
  std::vector<Json> out;
  for (const std::string& candidate : {text + "N", text.substr(0, text.size() - 1), text + "§",
                                       std::string(300, 'A'), std::string(" ")}) {
    if (!std::regex_search(candidate, std::regex(pattern))) out.emplace_back(candidate);
  }
  return out;
}

std::vector<Json> violations(const Json& good, const Json& schema) {
  std::vector<Json> out;
  if (good.is_string()) {
    const std::string text = good;
    if (schema.contains("pattern")) out = off_pattern(text, schema.at("pattern"));
    if (schema.value("minLength", 0) > 0)
      out.emplace_back(text.substr(0, schema.at("minLength").get<std::size_t>() - 1));
  } else if (good.is_array()) {
    if (schema.value("minItems", 0) > 0) out.push_back(Json::array());
    if (schema.contains("maxItems")) {
      Json many = Json::array();
      for (std::size_t i = 0; i <= schema.at("maxItems").get<std::size_t>(); ++i)
        many.push_back(good.at(0));
      out.push_back(std::move(many));
    }
  }
  return out;
}

// Parts of the bodies below.
const std::string kLeg =
    R"("sourceWalletId":"$wallet","destinationWalletId":"$second","sendingAssetCode":"USDC",)"
    R"("receivingAssetCode":"USDC","amount":"1","fromRef":"F","toRef":"T","description":"D")";
const std::string kSwapLeg =
    R"("sourceWalletId":"$wallet","destinationWalletId":"$second","sendingAssetCode":"USDC",)"
    R"("amount":"1","fromRef":"F","toRef":"T","description":"D")";
const std::string kCommon = R"("transactionId":"$new","memo":"M")";
const std::string kRefs = R"("fromRef":"F","toRef":"T","description":"D")";
const std::string kPayer = R"("payer":{"name":"P","accountNumber":"1","phone":"+254712345678"})";
const std::string kPerson =
    R"("metadata":{"entityType":"Person","firstName":"A","lastName":"B","dateOfBirth":)"
    R"("1990-01-01","nationality":"KE","phone":"+254712345678"})";
const std::string kBusiness =
    R"("metadata":{"entityType":"Business","companyName":"A","registrationNumber":"1",)"
    R"("registrationCountry":"KE","contactEmail":"a@example.com"})";
const std::string kPlace = R"("countryIsoCode2":"KE","currencyIsoCode3":"KES","label":"L")";
const std::string kBank =
    R"({"method":"BANK",)" + kPlace +
    R"(,"bank":{"accountName":"A","accountNumber":"1","bankName":"B","bankCode":"2",)"
    R"("branchCode":"3"}})";
const std::string kIban = R"({"method":"BANK",)" + kPlace +
                          R"(,"bank":{"accountName":"A","iban":"DE89370400440532013000"}})";
const std::string kMomo =
    R"({"method":"MOBILE_MONEY",)" + kPlace +
    R"(,"mobileMoney":{"provider":"P","phoneNumber":"+254712345678","accountName":"A"}})";
const std::string kCoins =
    R"("networkName":"Other","assetSymbol":"ABC","walletAddress":"x1","memo":"M")";
const std::string kCrypto = R"({"method":"CRYPTO",)" + kPlace + R"(,"crypto":{)" + kCoins + "}}";
const std::string kFlat = R"({"method":"CRYPTO",)" + kPlace + "," + kCoins + "}";
const std::string kMore =
    R"("addresses":[{"type":"home","line1":"1","line2":"2","city":"C","state":"S",)"
    R"("postalCode":"P","countryIsoCode2":"KE"}],"tags":["t"],"clientReference":"R",)";
const std::string kIndividual =
    R"("individual":{"firstName":"A","lastName":"B","email":"a@example.com",)"
    R"("phone":"+254712345678","dateOfBirth":"1990-01-01","nationality":"KE"})";
const std::string kCompany =
    R"("business":{"companyName":"A","registrationNumber":"1","email":"a@example.com",)"
    R"("phone":"+254712345678","registrationCountry":"KE"})";
std::string party_with(const std::string& party, const std::string& destination) {
  return "{" + kMore + party + R"(,"paymentDestinations":[)" + destination + "]}";
}

const std::string kHook =
    R"("url":"http://127.0.0.1:9/hooks","eventTypes":["webhook.disabled"],"description":"D")";

/// Bodies with every member that has a published pattern or bound; several where members exclude
/// each other.
const std::multimap<std::string, std::string, std::less<>>& full_bodies() {
  static const std::multimap<std::string, std::string, std::less<>> all = {
      {"OwnTransfer", "{" + kCommon + "," + kLeg + "}"},
      {"MultiTransfer", "{" + kCommon + R"(,"transfers":[{)" + kLeg + "}]}"},
      {"OwnSwap", "{" + kCommon + R"(,"receivingAssetCode":"EURC",)" + kSwapLeg + "}"},
      {"BeneficiaryTransfer",
       "{" + kCommon + "," + kRefs +
           R"(,"sourceWalletId":"$wallet","sendingAssetCode":"USDC","receivingAssetCode":"USDC",)"
           R"("amount":"1","beneficiaryId":"$toAddress"})"},
      {"BeneficiarySwap",
       "{" + kCommon + "," + kRefs +
           R"(,"sourceWalletId":"$wallet","sendingAssetCode":"USDC","receivingAssetCode":"EURC",)"
           R"("amount":"1","beneficiaryId":"$toEurc"})"},
      {"Offramp",
       "{" + kCommon + "," + kRefs +
           R"(,"quoteId":"$cashQuote","sourceWalletId":"$wallet","beneficiaryId":"$recipient",)"
           R"("sendingAssetCode":"USDC","receivingAssetCode":"KES",)"
           R"("purposeOfPayment":"$purpose","sourceOfFunds":"$funds",)"
           R"("relationship":"$relationship"})"},
      {"Onramp", "{" + kCommon + "," + kRefs + "," + kPayer +
                     R"(,"quoteId":"$collectQuote","destinationWalletId":"$wallet",)"
                     R"("sendingAssetCode":"KES","receivingAssetCode":"USDC"})"},
      {"CashIn",
       "{" + kCommon + "," + kRefs + "," + kPayer +
           R"(,"connectorId":"$collections","amount":"1000","destinationWalletId":"$wallet",)"
           R"("transactionType":"C2B","sendingAssetCode":"KES","receivingAssetCode":"USDC"})"},
      {"Reversal", R"({"transactionId":"$new","amount":"0.5","reason":"R"})"},
      {"NewReference",
       R"({"connectorId":"$bespoke","settlementAccount":"$settlementAccount","customerId":"full"})"},
      {"ReferencePayment",
       R"({"amount":"1000","currencyIsoCode3":"KES","payerName":"P","providerPaymentId":"full"})"},
      {"NewQuote", R"({"amount":"10","connectorId":"$connector","transactionType":"B2C"})"},
      {"NewConnectQuote", R"({"amount":"10","connectorId":"$connector","transactionType":"B2C"})"},
      {"NewWallet", R"({"walletName":"W","assetCode":"USDC",)" + kPerson + "}"},
      {"NewWallet", R"({"walletName":"W","assetCode":"USDC",)" + kBusiness + "}"},
      {"WalletUpdate", R"({"walletName":"W",)" + kPerson + "}"},
      {"WalletUpdate", R"({"walletName":"W",)" + kBusiness + "}"},
      {"NewTrustline", R"({"assetCode":"KES"})"},
      {"WalletFunding", R"({"assetCode":"USDC","amount":"1"})"},
      {"NewDestination", kBank},
      {"NewDestination", kIban},
      {"NewDestination", kMomo},
      {"NewDestination", kCrypto},
      {"NewDestination", kFlat},
      {"NewBeneficiary", party_with(kIndividual, kBank)},
      {"NewBeneficiary", party_with(kIndividual, kIban)},
      {"NewBeneficiary", party_with(kCompany, kMomo)},
      {"NewBeneficiary", party_with(kCompany, kCrypto)},
      {"NewBeneficiary", party_with(kIndividual, kFlat)},
      {"BeneficiaryPatch", party_with(kIndividual, kBank)},
      {"BeneficiaryPatch", party_with(kIndividual, kIban)},
      {"BeneficiaryPatch", party_with(kIndividual, kMomo)},
      {"BeneficiaryPatch", party_with(kIndividual, kCrypto)},
      {"BeneficiaryPatch", party_with(R"("individual":null,)" + kCompany, kFlat)},
      {"NewBeneficiaries", R"({"beneficiaries":[{)" + kIndividual + "}]}"},
      {"NewWebhook", "{" + kHook + "}"},
      {"NewApplicationWebhook", "{" + kHook + "}"},
      {"WebhookUpdate", "{" + kHook + "}"},
  };
  return all;
}

/// Fields with another response, and why.
const std::map<std::string, int>& exceptions() {
  static const std::map<std::string, int> all = {
      // Contract "On-ramp references": whatever is not one of the caller's wallets is not found.
      {"settlementAccount", 404},
  };
  return all;
}

/// Rows of a bulk request have separate problems; their schema is NewBeneficiary. Every invalid
/// challenge is 400 `invalid-challenge` without a field; challenge_login_test.cpp tests them.
bool is_judged_elsewhere(const std::string& path) {
  return path.starts_with("beneficiaries[0]") || path == "transaction";
}

bool names(const Reply& reply, const std::string& field) {
  // The envelope has no list of fields; its message contains them.
  if (reply.slug().empty()) return reply.body.find(field) != std::string::npos;
  const auto fields = reply.fields();
  return std::find(fields.begin(), fields.end(), field) != fields.end();
}

struct World {
  TestApp app;
  Document document;
  Names mine = belongings_of(app, app.me());

  /// Sends the route's body with every violation. Returns the tried paths.
  void attack(const api::Route& route, const std::string& full,
              const std::vector<Constraint>& constraints, std::set<std::string>& tried) {
    Sample sample = sample_of(route);
    sample.body = full;
    // The sample of another route may have replaced the destinations.
    if (route.operation == "replaceDestination") add_beneficiary(app.me(), mine);
    const Reply good = app.me().send(sample.call(mine));
    INFO(route.operation << " " << full << " -> " << good.text());
    CHECK(good.status != 400);
    for (const Constraint& constraint : constraints) {
      Json body = Json::parse(filled(full, mine));
      if (is_judged_elsewhere(constraint.path)) continue;
      Json* value = value_at(body, constraint.path);
      if (value == nullptr || value->is_null()) continue;
      tried.insert(constraint.path);
      for (const Json& bad : violations(*value, constraint.schema)) {
        *value = bad;
        HttpCall call = sample.call(mine);
        call.body = body.dump();
        const Reply reply = app.me().send(call);
        const auto exception = exceptions().find(constraint.path);
        INFO(constraint.path << " = " << bad.dump().substr(0, 80) << " -> " << reply.text());
        CHECK(reply.status == (exception == exceptions().end() ? 400 : exception->second));
        CHECK(names(reply, constraint.path));
      }
    }
  }
};

/// Invalid values of a query parameter with an enumeration or a pattern.
std::vector<std::string> bad_values(const Json& schema) {
  if (schema.contains("enum")) return {"NOPE"};
  if (schema.contains("pattern")) {
    std::vector<std::string> out{"%C2%A7"};
    for (const std::string& text : {std::string("KEN"), std::string("K"), std::string(300, 'A')}) {
      if (!std::regex_search(text, std::regex(schema.at("pattern").get<std::string>())))
        out.push_back(text);
    }
    return out;
  }
  if (schema.contains("maximum")) return {"0", "101", "x"};
  return {};
}

}  // namespace

TEST_CASE("a value that violates a published pattern or bound is 400 and names its field") {
  World world;
  int constrained = 0;
  for (const api::Route& route : api::routes()) {
    // The signature of a provider's callback is checked first.
    if (route.request_schema.empty() || route.access == api::Access::open) continue;
    const auto constraints =
        world.document.constraints(world.document.schema(route.request_schema));
    std::set<std::string> tried;
    const auto [first, last] = full_bodies().equal_range(route.request_schema);
    for (auto body = first; body != last; ++body) {
      world.attack(route, body->second, constraints, tried);
    }
    for (const Constraint& constraint : constraints) {
      if (is_judged_elsewhere(constraint.path)) continue;
      INFO(route.request_schema << " has no full body with " << constraint.path);
      CHECK(tried.contains(constraint.path));
      ++constrained;
    }
  }
  CHECK(constrained > 200);
}

TEST_CASE("a query parameter that violates its published shape is 400 and is named") {
  World world;
  int judged = 0;
  for (const api::Route& route : api::routes()) {
    for (const api::QueryParam& param : route.query) {
      for (const std::string& bad : bad_values(world.document.schema(param.schema))) {
        Sample sample = sample_of(route);
        sample.target = sample.target.substr(0, sample.target.find('?'));
        sample.target = with_query(sample.target, std::string(param.name) + "=" + bad);
        const Reply reply = world.app.me().send(sample.call(world.mine));
        INFO(route.operation << " " << sample.target.substr(0, 200) << " -> " << reply.text());
        CHECK(reply.status == 400);
        CHECK(names(reply, std::string(param.name)));
        ++judged;
      }
    }
  }
  CHECK(judged > 50);
}

}  // namespace published_shapes_test
