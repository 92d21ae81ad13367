// Request and response bodies of the admin page's API.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "http/json_body.h"
#include "http/message.h"

namespace coffer::cli {

/// Text members of a JSON object, by name; a missing member is empty.
class Form {
 public:
  static Result<Form> read(const http::Request& request) {
    COFFER_TRY(auto value, http::parse_json(request.body));
    if (value.object() == nullptr) {
      return unexpected(Slug::malformed_request, "The body must be a JSON object.");
    }
    return Form(std::move(value));
  }
  std::string text(std::string_view name) const { return text_of(value_, name); }
  /// A member that is an object; nullptr otherwise.
  const http::JsonValue* part(std::string_view name) const {
    const http::JsonValue* member = value_.find(name);
    return member != nullptr && member->object() != nullptr ? member : nullptr;
  }
  const http::JsonValue& whole() const { return value_; }
  static std::string text_of(const http::JsonValue& object, std::string_view name) {
    const http::JsonValue* member = object.find(name);
    return member != nullptr && member->string() != nullptr ? *member->string() : std::string();
  }

 private:
  explicit Form(http::JsonValue value) : value_(std::move(value)) {}
  http::JsonValue value_;
};

inline http::Response json_response(std::string body) {
  http::Response response;
  response.body = std::move(body);
  return response;
}

inline http::Response no_content() {
  http::Response response;
  response.status = 204;
  response.content_type.clear();
  return response;
}

/// Recovery codes, which are shown once.
inline http::Response recovery_codes_response(const std::vector<Secret>& codes) {
  nlohmann::json list = nlohmann::json::array();
  for (const Secret& code : codes) list.push_back(code.reveal());
  return json_response(nlohmann::json{{"recoveryCodes", list}}.dump());
}

}  // namespace coffer::cli
