// Removes secrets and personal data from the bodies of the request log, by the mark `x-sensitive`
// of the OpenAPI schemas (docs/operating.md#request-log).
//
// A value stays only if its schema declares it without the mark and it has the declared form, so a
// misplaced member or text is removed too. A text that may be a secret stays only where its form is
// fixed, such as that of an ID.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "domain/providers/connector.h"
#include "http/json_body.h"

namespace coffer::api {

class Redactor {
 public:
  using Texts = std::vector<std::string>;

  /// `schemas` is components/schemas of the document.
  explicit Redactor(Json schemas);

  /// The body with `"[redacted]"` in place of every value that is marked, not declared or of
  /// another form; nullopt if it is not JSON. Numbers keep their text. Adds the removed texts to
  /// `removed`.
  std::optional<std::string> body(std::string_view schema, std::string_view text,
                                  Texts& removed) const;
  /// The same for a response, whose texts may quote what was removed from the request.
  std::optional<std::string> response_body(std::string_view schema, std::string_view text,
                                           Texts removed) const;
  /// A text of a schema, such as a query parameter or a segment of a path.
  std::string value(std::string_view schema, const std::string& text) const;

 private:
  /// All schemas that apply to a value, with references and alternatives resolved.
  using Candidates = std::vector<const Json*>;
  Candidates named(std::string_view schema) const;
  void collect(const Json& schema, Candidates& out) const;
  Candidates member(const Candidates& object, const std::string& name) const;
  struct Output {
    std::string text;
    Texts& removed;
    bool may_quote = false;  // `removed` is complete, and its texts are removed from others
  };
  std::optional<std::string> redacted(std::string_view schema, std::string_view text,
                                      Output out) const;
  void write(const http::JsonValue& value, const Candidates& schemas, Output& out) const;
  void write_object(const http::JsonValue::Object& object, const Candidates& schemas,
                    Output& out) const;

  bool may_show(const http::JsonValue& value, const Candidates& schemas) const;
  bool may_show(const std::string& text, const Json& schema) const;
  void compile(const Json& schema);

  const Json schemas_;
  std::map<std::string, Pattern> patterns_;
};

}  // namespace coffer::api
