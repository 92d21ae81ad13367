// JSON in, with exact decimals: a number keeps its source text and never becomes a double.
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

/// A parsed JSON value. Numbers hold the token as written ("0.10", "1e2"). Object members keep
/// their order and are unique. Move-only in spirit: never copied or compared on hot paths.
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
  /// Text of a string, a number as written, true or false; nothing for the others.
  std::optional<std::string> scalar_text() const;
  Data& data() { return data_; }
  const Data& data() const { return data_; }
  /// Member of an object; nullptr when absent or when this is no object.
  const JsonValue* find(std::string_view name) const;
  /// "null", "a boolean", "a number", "a string", "an array" or "an object".
  std::string_view type_name() const;

 private:
  Data data_;
};

struct JsonLimits {
  std::size_t depth_max = 32;
  /// Longest string, in characters.
  std::size_t string_max = 4096;
  /// Values of any kind, also containers: a value takes more memory than the two bytes that may
  /// write it. The largest bodies have 20 bytes of text for each and more.
  std::size_t values_max = 50'000;
  /// Of one array or object; the longest list that the API takes has 500.
  std::size_t children_max = 1'000;
};

/// Parses a whole request body. Every refusal is `malformed-request` and says where: broken JSON,
/// nesting over the limit, too many values, NUL or invalid UTF-8, anything after the value; and, as
/// an error of that field, a duplicate member, an over-long string or number.
Result<JsonValue> parse_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace coffer::http
