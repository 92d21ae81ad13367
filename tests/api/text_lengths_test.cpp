// The server enforces every length in the OpenAPI document, counted in characters, and a body with
// all fields at their limits fits the limit of its route. Generated from the document and the route
// table.
#include <algorithm>
#include <catch2/catch.hpp>

#include "api/about/openapi.h"
#include "api/pipeline/pipeline.h"
#include "base/text/characters.h"
#include "route_samples.h"

using namespace coffer;
using namespace coffer::test;

namespace {

const std::string kFourBytes = "\xf0\x9f\x92\xb6";  // U+1F4B6

std::string repeated(const std::string& text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

const Json& document() {
  static const Json instance = Json::parse(api::openapi_document());
  return instance;
}

const Json& resolved(const Json& schema) {
  if (!schema.contains("$ref")) return schema;
  const auto name = schema.at("$ref").get<std::string>().substr(21);
  return resolved(document().at("components").at("schemas").at(name));
}

std::vector<Json> alternatives(const Json& schema) {
  for (const char* key : {"oneOf", "anyOf"}) {
    if (schema.contains(key)) return schema.at(key).get<std::vector<Json>>();
  }
  return {};
}

bool has_type(const Json& schema, const std::string& wanted) {
  if (!schema.contains("type")) return false;
  const Json& type = schema.at("type");
  return type == wanted ||
         (type.is_array() && std::find(type.begin(), type.end(), wanted) != type.end());
}

/// A text of a request: its place as a JSON Pointer and as in problems, and its schema.
struct Place {
  std::string pointer;
  std::string field;
  Json schema;
  /// Members that select the alternative, by pointer.
  std::vector<std::pair<std::string, Json>> beside;
};

void collect(const Json& schema, Place at, std::vector<Place>& out) {
  const Json& target = resolved(schema);
  for (const Json& each : alternatives(target)) collect(each, at, out);
  if (has_type(target, "string")) {
    at.schema = target;
    out.push_back(at);
  }
  if (target.contains("items")) {
    collect(target.at("items"), {at.pointer + "/0", at.field + "[0]", {}, at.beside}, out);
  }
  const Json members = target.value("properties", Json::object());
  for (const auto& [name, member] : members.items()) {
    if (resolved(member).contains("const")) {
      at.beside.emplace_back(at.pointer + "/" + name, resolved(member).at("const"));
    }
  }
  const std::string prefix = at.field.empty() ? "" : at.field + ".";
  for (const auto& [name, member] : members.items()) {
    collect(member, {at.pointer + "/" + name, prefix + name, {}, at.beside}, out);
  }
  if (target.contains("additionalProperties") && target.at("additionalProperties").is_object()) {
    collect(target.at("additionalProperties"), {at.pointer + "/x", prefix + "x", {}, at.beside},
            out);
  }
}

std::vector<Place> texts_of(const api::Route& route) {
  std::vector<Place> out;
  collect(Json{{"$ref", "#/components/schemas/" + std::string(route.request_schema)}}, {}, out);
  return out;
}

bool is_memo(const Place& place) {
  return place.field.size() >= 4 && place.field.substr(place.field.size() - 4) == "memo";
}

/// Whether the schema limits the length of the text.
bool is_bounded(const Json& schema) {
  const std::vector<const char*> bounds{"maxLength", "pattern", "enum", "const"};
  if (std::any_of(bounds.begin(), bounds.end(),
                  [&](const char* key) { return schema.contains(key); })) {
    return true;
  }
  const std::string format = schema.value("format", "");
  if (format == "uuid" || format == "date") return true;
  if (has_type(schema, "number")) return true;  // an amount
  // Codes and times: longer ones are invalid.
  const std::string what = schema.value("description", "");
  return what.find("ISO ") != std::string::npos || what.find("RFC 3339") != std::string::npos;
}

std::vector<const api::Route*> json_routes() {
  std::vector<const api::Route*> out;
  for (const api::Route& route : api::routes()) {
    const bool takes_json = route.body != api::Body::none && route.body != api::Body::form;
    if (takes_json && route.pattern.starts_with("/v1/")) out.push_back(&route);
  }
  return out;
}

/// Details of a destination are read only if its method requires them.
void choose_method(Json& body, const Place& place) {
  const auto choose = [&](std::size_t end, const char* method) {
    Json& destination = body[Json::json_pointer(place.pointer.substr(0, end))];
    destination.erase("mobileMoney");
    destination["method"] = method;
  };
  for (const auto& [part, method] :
       {std::pair{"/bank/", "BANK"}, std::pair{"/crypto/", "CRYPTO"}}) {
    const auto at = place.pointer.find(part);
    if (at != std::string::npos) return choose(at, method);
  }
  const auto last = place.pointer.rfind('/');
  for (const char* name : {"networkName", "assetSymbol", "walletAddress", "memo"}) {
    const Json::json_pointer parent(place.pointer.substr(0, last));
    if (place.pointer.substr(last + 1) == name && body.contains(parent) &&
        body.at(parent).contains("method")) {
      return choose(last, "CRYPTO");
    }
  }
}

class Sender {
 public:
  Sender() : names_(belongings_of(app_, app_.me())) {}

  Reply send(const api::Route& route, const Place& place, const std::string& text) {
    // The sample of another route may have replaced the destinations.
    if (route.operation == "replaceDestination") add_beneficiary(app_.me(), names_);
    HttpCall call = sample_of(route).call(names_);
    Json body = Json::parse(call.body);
    for (const auto& [pointer, value] : place.beside) body[Json::json_pointer(pointer)] = value;
    choose_method(body, place);
    body[Json::json_pointer(place.pointer)] = text;
    if (route.operation == "takeProviderCallback") {
      return app_.anonymous().send(signed_callback(app_, names_, body.dump()));
    }
    call.body = body.dump();
    return app_.me().send(call);
  }

 private:
  TestApp app_;
  Names names_;
};

/// The error of a field in a reply. The envelope of the business routes has it in its message; a
/// bulk response has a problem per row, with the row's own fields.
std::string said_of(const api::Route& route, const Reply& reply, std::string field) {
  const Json body = Json::parse(reply.body, nullptr, false);
  if (route.envelope) {
    const std::string message = body.at("message");
    const auto at = message.find(field + " ");
    return at == std::string::npos ? std::string() : message.substr(at);
  }
  const bool bulk = body.contains("results");
  if (bulk) field = field.substr(field.find('.') + 1);
  const Json problem = bulk ? body.at("results").at(0).value("problem", Json::object()) : body;
  if (problem.value("status", Json()) != 400) return {};
  for (const Json& error : problem.value("errors", Json::array())) {
    if (error.at("field") != field) continue;
    const std::string message = error.at("message");
    return message.starts_with(field + " ") ? message.substr(field.size() + 1) : message;
  }
  return {};
}

}  // namespace

TEST_CASE("text lengths: the server accepts the documented length and rejects one character more") {
  Sender sender;
  int lengths = 0;
  for (const api::Route* route : json_routes()) {
    for (const Place& place : texts_of(*route)) {
      if (!place.schema.contains("maxLength") || place.schema.contains("pattern")) continue;
      const auto most = place.schema.at("maxLength").get<std::size_t>();
      const std::string limit = std::to_string(most) + " characters";
      INFO(route->operation << " " << place.field << " of at most " << limit);
      ++lengths;
      const Reply fits = sender.send(*route, place, repeated(kFourBytes, most));
      INFO(fits.text().substr(0, 500));
      CHECK(said_of(*route, fits, place.field).find("characters") == std::string::npos);
      const Reply over = sender.send(*route, place, repeated(kFourBytes, most + 1));
      INFO(over.text().substr(0, 500));
      CHECK_THAT(said_of(*route, over, place.field), Catch::Matchers::Contains(limit));
    }
  }
  CHECK(lengths > 150);
}

TEST_CASE("text lengths: the document bounds every text of a request") {
  for (const api::Route* route : json_routes()) {
    for (const Place& place : texts_of(*route)) {
      INFO(route->operation << " " << place.field << " " << place.schema.dump());
      CHECK((is_memo(place) || is_bounded(place.schema)));
    }
  }
}

TEST_CASE("text lengths: only a memo counts bytes, as documented") {
  Sender sender;
  int memos = 0;
  for (const api::Route* route : json_routes()) {
    for (const Place& place : texts_of(*route)) {
      if (!is_memo(place)) continue;
      INFO(route->operation << " " << place.field);
      ++memos;
      CHECK_FALSE(place.schema.contains("maxLength"));
      CHECK_FALSE(place.schema.contains("pattern"));
      CHECK_THAT(place.schema.at("description").get<std::string>(),
                 Catch::Matchers::Contains("28 bytes"));
      const Reply fits = sender.send(*route, place, repeated(kFourBytes, 7));
      CHECK(said_of(*route, fits, place.field).find("at most") == std::string::npos);
      const Reply over = sender.send(*route, place, repeated(kFourBytes, 8));
      CHECK_THAT(said_of(*route, over, place.field), Catch::Matchers::Contains("28 bytes"));
    }
  }
  CHECK(memos > 10);
}

TEST_CASE("text lengths: no text of a request contains control or invisible characters") {
  // A secret may contain any character, and a provider cannot correct what its customer wrote.
  const auto is_opaque = [](const api::Route& route, const Place& place) {
    const bool secret = place.field == "secret" || place.field == "password" ||
                        place.field == "refreshToken" || place.field == "clientSecret";
    return secret ||
           (route.operation == "takeProviderCallback" && place.field.starts_with("data."));
  };
  Sender sender;
  int texts = 0;
  for (const api::Route* route : json_routes()) {
    for (const Place& place : texts_of(*route)) {
      const Json& schema = place.schema;
      if (!is_memo(place) && (!schema.contains("maxLength") || schema.contains("pattern")))
        continue;
      if (is_opaque(*route, place)) continue;
      for (const auto& [text, kind] :
           {std::pair{"a\x07"
                      "b",
                      "control"},
            std::pair{"a\u202eb", "invisible"}, std::pair{"a\u200bb", "invisible"}}) {
        INFO(route->operation << " " << place.field << " with " << kind << " characters");
        ++texts;
        const Reply reply = sender.send(*route, place, text);
        INFO(reply.text().substr(0, 500));
        CHECK_THAT(said_of(*route, reply, place.field), Catch::Matchers::Contains(kind));
      }
    }
  }
  CHECK(texts > 400);
}

TEST_CASE("text lengths: a name of white space or invisible characters is blank") {
  Sender sender;
  for (const api::Route* route : json_routes()) {
    for (const Place& place : texts_of(*route)) {
      if (place.field != "walletName" && !place.field.ends_with(".firstName") &&
          !place.field.ends_with("ompanyName")) {
        continue;
      }
      for (const char* blank : {"\u200b", "\u00a0", "\u3000", "\ufeff \u2003"}) {
        INFO(route->operation << " " << place.field);
        CHECK_THAT(said_of(*route, sender.send(*route, place, blank), place.field),
                   Catch::Matchers::Contains("blank") || Catch::Matchers::Contains("invisible"));
      }
    }
  }
}

namespace {

/// Bytes of one character as an ordinary client may write it: two \u escapes.
constexpr std::size_t kEscaped = 12;
/// The same without escapes, which metadata at its limits needs.
constexpr std::size_t kUtf8 = 4;
/// Overhead of a member: quotes, colon, comma, and the line feed and blanks of a pretty printer.
constexpr std::size_t kAround = 24;
constexpr std::size_t kUnbounded = std::size_t{1} << 40;
/// Number of fields that a connector can require, and the longest value and name of one.
constexpr std::size_t kAdditionalFields = 50 * (200 * kEscaped + 64 + kAround);

/// Bytes of the largest JSON value that the schema allows.
std::size_t largest(const Json& schema, const std::string& name = {}) {
  const Json& target = resolved(schema);
  if (name == "memo") return 7 * kEscaped;
  if (name == "additionalFields") return kAdditionalFields;
  if (target.contains("enum") || target.contains("const")) return 64;
  std::size_t most = 0;
  for (const Json& each : alternatives(target)) most = std::max(most, largest(each));
  if (has_type(target, "string")) {
    const std::size_t each = target.contains("pattern") ? 1 : kEscaped;
    most = std::max(most, each * target.value("maxLength", std::size_t{80 / each}));
  }
  if (has_type(target, "number") || has_type(target, "integer")) most = std::max(most, kAround);
  if (target.contains("items")) {
    // A list without a limit names each code once.
    const auto count = target.value("maxItems", std::size_t{11});
    most = std::max(most, count * (largest(target.at("items")) + kAround));
  }
  if (target.contains("properties")) {
    std::size_t sum = kAround;
    for (const auto& [member, each] : target.at("properties").items()) {
      sum += member.size() + kAround + largest(each, member);
    }
    most = std::max(most, sum);
  } else if (target.contains("maxProperties")) {
    const std::size_t key = target.at("propertyNames").at("maxLength");
    const std::size_t text = largest(target.at("additionalProperties")) / kEscaped * kUtf8;
    const std::size_t each = key + kAround + text;
    most = std::max(most, kAround + target.at("maxProperties").get<std::size_t>() * each);
  } else if (has_type(target, "object")) {
    most = kUnbounded;
  }
  return most;
}

}  // namespace

TEST_CASE("text lengths: a body at the limits of its fields fits its route") {
  for (const api::Route* route : json_routes()) {
    // 500 rows at all limits are 300 MiB, and the provider protocol has its own limits.
    if (route->operation == "createBeneficiaries") continue;
    if (route->operation == "takeProviderCallback") continue;
    INFO(route->operation);
    CHECK(largest(Json{{"$ref", "#/components/schemas/" + std::string(route->request_schema)}}) <=
          route->body_bytes_max);
    const std::string method = route->method == "PATCH" ? "patch"
                               : route->method == "PUT" ? "put"
                                                        : "post";
    CHECK_THAT(document()
                   .at("paths")
                   .at(std::string(route->pattern))
                   .at(method)
                   .at("requestBody")
                   .at("description")
                   .get<std::string>(),
               Catch::Matchers::Contains(std::to_string(route->body_bytes_max / 1024) + " KiB"));
  }
}

TEST_CASE(
    "text lengths: a hundred legs at all limits are accepted, escaped like by ordinary clients") {
  TestApp app;
  const std::string from = app.wallet("USDC", "1000"), to = app.wallet("USDC");
  Json leg = transfer_body(from, to, "0.0000001");
  leg["fromRef"] = leg["toRef"] = std::string(16, 'R');
  leg["description"] = repeated(kFourBytes, 140);
  Json body = multi_body(std::vector<Json>(100, leg));
  body["transactionId"] = std::string(64, 'T');
  body["memo"] = repeated(kFourBytes, 7);
  app.listen();
  // The largest notation: indented, and every character outside ASCII as \u escapes.
  const std::string text = body.dump(4, ' ', true);
  CHECK(text.size() > 200'000);
  const Reply reply = app.me().over_wire().post_text("/v1/payments/p2p/own/multi", text);
  INFO(reply.text().substr(0, 500));
  REQUIRE(reply.status == 202);
  const Json record = app.me().record(reply.json().at("transactionRecordId"));
  CHECK(record.at("legs").at(99).at("description") == leg.at("description"));
}
