// Removes secrets and personal data from the bodies of the request log, by the mark `x-sensitive`
// of the OpenAPI schemas (docs/operating.md#request-log).
//
// A value stays only if its schema declares it without the mark, so a misplaced member is removed
// too.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "http/json_body.h"

namespace coffer::api {

class Redactor {
 public:
  /// `schemas` is components/schemas of the document.
  explicit Redactor(Json schemas) : schemas_(std::move(schemas)) {}

  /// The body with `"[redacted]"` in place of every value that is marked or not declared; nullopt
  /// if it is not JSON. Numbers keep their text.
  std::optional<std::string> body(std::string_view schema, std::string_view text) const;
  /// A text of a schema, such as a query parameter.
  std::string value(std::string_view schema, const std::string& text) const;

 private:
  /// All schemas that apply to a value, with references and alternatives resolved.
  using Candidates = std::vector<const Json*>;
  Candidates named(std::string_view schema) const;
  void collect(const Json& schema, Candidates& out) const;
  Candidates member(const Candidates& object, const std::string& name) const;
  void write(const http::JsonValue& value, const Candidates& schemas, std::string& out) const;
  void write_object(const http::JsonValue::Object& object, const Candidates& schemas,
                    std::string& out) const;

  const Json schemas_;
};

}  // namespace coffer::api
