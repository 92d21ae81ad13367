// JSON input with exact decimals: a number keeps its source text and never becomes a double.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace coffer::http {

/// A parsed JSON value. Numbers keep the token as written ("0.10", "1e2"). Object members are
/// unique and keep their order. Do not copy or compare values on hot paths.
class JsonValue {
 public:
  struct Number {
    std::string text;
  };
  using Array = std::vector<JsonValue>;
  using Object = std::vector<std::pair<std::string, JsonValue>>;
  using Data = std::variant<std::nullptr_t, bool, Number, std::string, Array, Object>;

  JsonValue() : data_(nullptr) {}
  explicit JsonValue(Data data) : data_(std::move(data)) {}

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(data_); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const Number* number() const { return std::get_if<Number>(&data_); }
  const std::string* string() const { return std::get_if<std::string>(&data_); }
  const Array* array() const { return std::get_if<Array>(&data_); }
  const Object* object() const { return std::get_if<Object>(&data_); }
  /// The text of a string, of a number as written, of true or false; nullopt for other types.
  std::optional<std::string> scalar_text() const;
  Data& data() { return data_; }
  const Data& data() const { return data_; }
  /// A member of an object; nullptr if absent or if this is not an object.
  const JsonValue* find(std::string_view name) const;
  /// "null", "a boolean", "a number", "a string", "an array" or "an object".
  std::string_view type_name() const;

 private:
  Data data_;
};

struct JsonLimits {
  /// The subject of errors about the whole text.
  std::string_view subject = "The body";
  /// For a file that a person wrote: a syntax error states its line, and every other error is added
  /// here with the path of its value, from which the caller determines the line. Only a syntax
  /// error and an exceeded limit end the reading.
  std::vector<FieldError>* errors = nullptr;
  std::size_t depth_max = 32;
  /// Maximum length of a string, in characters.
  std::size_t string_max = 4096;
  /// Maximum number of values of any type, including containers, because a value uses more memory
  /// than the two bytes that may encode it. The largest valid bodies have at least 20 bytes of text
  /// per value.
  std::size_t values_max = 50'000;
  /// Maximum size of an array or object. The longest list in the API has 500 entries.
  std::size_t children_max = 1'000;
};

/// Parses a whole text, such as a request body. Every error is `malformed-request` with its
/// position: invalid JSON, nesting beyond the limit, too many values, NUL, invalid UTF-8, or text
/// after the value. A duplicate member and an overlong string or number are errors of their field.
Result<JsonValue> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace coffer::http
