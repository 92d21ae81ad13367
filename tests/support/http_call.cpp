#include "support/http_call.h"

#include <catch2/catch.hpp>

#include "http/message.h"

namespace coffer::test {
namespace {

constexpr std::string_view kUrn = "urn:coffer:problem:";

/// The body as an object, or an empty one.
Json object_of(const std::string& body) {
  Json json = Json::parse(body, nullptr, false);
  return json.is_object() ? json : Json::object();
}

}  // namespace

std::string Reply::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (http::same_name(key, name)) return value;
  }
  return {};
}

bool Reply::has_header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (http::same_name(key, name)) return true;
  }
  return false;
}

Json Reply::json() const {
  Json json = Json::parse(body, nullptr, false);
  INFO(text());
  REQUIRE_FALSE(json.is_discarded());
  return json;
}

std::string Reply::slug() const {
  // Most responses are no problem, and parsing a large body is slow.
  if (body.find(kUrn) == std::string::npos) return {};
  const std::string type = object_of(body).value("type", "");
  return type.starts_with(kUrn) ? type.substr(kUrn.size()) : std::string();
}

std::vector<std::string> Reply::fields() const {
  std::vector<std::string> out;
  for (const Json& error : object_of(body).value("errors", Json::array())) {
    out.push_back(error.at("field"));
  }
  return out;
}

std::string Reply::message(std::string_view field) const {
  for (const Json& error : object_of(body).value("errors", Json::array())) {
    if (error.at("field") != field) continue;
    std::string out = error.at("message");
    // Every message is a sentence, mostly with the field as its subject.
    CHECK((out.ends_with('.') || out.ends_with('?')));
    if (out.ends_with('.')) out.pop_back();
    const std::string subject = std::string(field) + " ";
    return out.starts_with(subject) ? out.substr(subject.size()) : out;
  }
  return {};
}

std::string Reply::text() const { return std::to_string(status) + " " + body; }

std::string without_identity(const Reply& reply) {
  Json json = Json::parse(reply.body, nullptr, false);
  if (!json.is_object()) return reply.text();
  json.erase("instance");
  json.erase("requestId");
  return std::to_string(reply.status) + " " + json.dump();
}

std::string escaped(std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

}  // namespace coffer::test
