#include "http/json_body.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/text/characters.h"

namespace coffer::http {
namespace {

// No valid amount, ID or count is longer. Also limits what error messages can quote.
constexpr std::size_t kNumberBytesMax = 100;
// Up to this size, a linear search is faster than a set, and most objects are smaller.
constexpr std::size_t kLinearMembers = 16;
/// The library's type of numbers that are not whole. It rejects what std::isfinite() rejects, and
/// every number of the text is finite, although a double cannot represent some of them.
class AnyNumber {
 public:
  AnyNumber(double) {}                     // NOLINT
  operator double&() { return parsed_; }   // NOLINT: strtod() writes it
  operator double() const { return 0.0; }  // NOLINT: finite

 private:
  double parsed_ = 0.0;
};
using ExactJson = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                       std::uint64_t, AnyNumber>;

/// A container that is being read.
struct Frame {
  JsonValue value;
  std::string key;                       // of the member being read
  std::unordered_set<std::string> seen;  // used only once the object is large

  /// Whether this object has the member; otherwise remembers it.
  bool has(const std::string& name) {
    const auto& members = std::get<JsonValue::Object>(value.data());
    if (members.size() < kLinearMembers) {
      return std::any_of(members.begin(), members.end(),
                         [&](const auto& member) { return member.first == name; });
    }
    if (seen.empty()) {
      for (const auto& member : members) seen.insert(member.first);
    }
    return !seen.insert(name).second;
  }
};

std::string shown(const std::string& name) {
  return name.size() <= 64 ? name : name.substr(0, 64) + "...";
}

/// The path of the value being read, such as `transfers[3].amount`. Empty at the top level.
std::string path_of(const std::vector<Frame>& stack) {
  std::string out;
  for (const Frame& frame : stack) {
    if (const auto* array = frame.value.array()) {
      out += "[" + std::to_string(array->size()) + "]";
    } else if (!frame.key.empty()) {
      out += (out.empty() ? "" : ".") + shown(frame.key);
    }
  }
  return out;
}

std::string where(const std::vector<Frame>& stack) {
  const std::string text = path_of(stack);
  return text.empty() ? "the top level" : "`" + text + "`";
}

/// `position` is the number of bytes read, including the wrong one.
std::string place(const JsonLimits& limits, std::string_view text, std::size_t position) {
  if (limits.errors == nullptr) return "byte " + std::to_string(position);
  const std::string_view before = text.substr(0, position - std::min<std::size_t>(position, 1));
  return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
}

/// Builds a JsonValue from nlohmann's SAX events, because its DOM would convert numbers to doubles
/// and keep the last of two members with the same name. The parser does not recurse, so deeply
/// nested input cannot exhaust the stack before the depth check.
class Builder {
 public:
  Builder(const JsonLimits& limits, std::string_view text) : limits_(limits), text_(text) {}

  bool null() { return add(JsonValue()); }
  bool boolean(bool value) { return add(JsonValue(value)); }
  bool number_integer(std::int64_t value) { return number(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return number(std::to_string(value)); }
  bool number_float(AnyNumber, const std::string& text) { return number(text); }
  bool string(std::string& text) {
    return check_text(text, "The text") && add(JsonValue(std::move(text)));
  }
  bool binary(ExactJson::binary_t&) { return false; }  // never occurs in JSON text

  bool start_object(std::size_t) { return open(JsonValue(JsonValue::Object{})); }
  bool start_array(std::size_t) { return open(JsonValue(JsonValue::Array{})); }
  bool end_object() { return end_array(); }
  bool end_array() {
    JsonValue done = std::move(stack_.back().value);
    stack_.pop_back();
    put(std::move(done));
    return true;
  }
  bool key(std::string& name);

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
    // Without the text there, which may be a secret, and without the library's class names.
    return fail(std::string(limits_.subject) + " is not valid JSON at " +
                place(limits_, text_, position) + ".");
  }

  /// Without detail if all errors were added to `limits.errors`.
  Problem problem() const {
    Problem out(Slug::malformed_request, error_);
    if (field_) out.fields.push_back(*field_);
    return out;
  }
  JsonValue take() { return std::move(root_); }

 private:
  bool fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    return false;
  }

  /// Adds an error for the value being read, if it is inside a container. Returns whether to read
  /// on.
  bool fail_here(const std::string& what, const std::string& why) {
    const std::string path = path_of(stack_);
    if (limits_.errors != nullptr) {
      limits_.errors->push_back({path, why});
      return true;
    }
    if (error_.empty() && !path.empty()) field_ = FieldError{path, why};
    return fail(what + " at " + where(stack_) + " " + why + ".");
  }

  bool fail_within(const std::string& why_here, std::string why) {
    if (limits_.errors == nullptr) return fail(std::move(why));
    limits_.errors->push_back({path_of(stack_), why_here});
    return false;
  }

  bool number(std::string text) {
    if (text.size() > kNumberBytesMax && !fail_here("The number", "is too long")) return false;
    return add(JsonValue(JsonValue::Number{std::move(text)}));
  }

  bool check_text(const std::string& text, const char* what) {
    if (text.find('\0') != std::string::npos) return fail_here(what, "contains a NUL character");
    if (character_count(text) > limits_.string_max) {
      return fail_here(what,
                       "is longer than " + std::to_string(limits_.string_max) + " characters");
    }
    return true;
  }

  /// Called before the value is created.
  bool count_value() {
    if (++values_ > limits_.values_max)
      return too_many(std::string(limits_.subject), limits_.values_max);
    if (stack_.empty()) return true;
    const auto& data = stack_.back().value.data();
    const auto* array = std::get_if<JsonValue::Array>(&data);
    const std::size_t children =
        array != nullptr ? array->size() : std::get<JsonValue::Object>(data).size();
    if (children < limits_.children_max) return true;
    return too_many(array != nullptr ? "An array" : "An object", limits_.children_max);
  }

  bool too_many(const std::string& what, std::size_t most) {
    const std::string why = " contains more than " + std::to_string(most) + " values";
    return fail_within("exceeds the limit: " + what + why,
                       what + why + "; the limit is exceeded at " + where(stack_) + ".");
  }

  bool open(JsonValue container) {
    if (stack_.size() >= limits_.depth_max) {
      const std::string why =
          "is nested more than " + std::to_string(limits_.depth_max) + " levels deep";
      return fail_within(why, std::string(limits_.subject) + " " + why + ".");
    }
    if (!count_value()) return false;
    stack_.push_back({std::move(container), {}, {}});
    return true;
  }

  bool add(JsonValue&& value) {
    if (!count_value()) return false;
    put(std::move(value));
    return true;
  }

  void put(JsonValue&& value);

  const JsonLimits& limits_;
  const std::string_view text_;
  std::vector<Frame> stack_;
  JsonValue root_;
  std::string error_;
  std::optional<FieldError> field_;
  std::size_t values_ = 0;
};

void Builder::put(JsonValue&& value) {
  if (stack_.empty()) {
    root_ = std::move(value);
    return;
  }
  Frame& frame = stack_.back();
  if (auto* array = std::get_if<JsonValue::Array>(&frame.value.data())) {
    array->push_back(std::move(value));
  } else {
    std::get<JsonValue::Object>(frame.value.data())
        .emplace_back(std::move(frame.key), std::move(value));
  }
}

bool Builder::key(std::string& name) {
  Frame& frame = stack_.back();
  frame.key.clear();
  if (!check_text(name, "A member name")) return false;
  const bool is_new = !frame.has(name);
  frame.key = std::move(name);
  return is_new || fail_here("The member", "appears twice");
}

}  // namespace

const JsonValue* JsonValue::find(std::string_view name) const {
  const Object* members = object();
  if (members == nullptr) return nullptr;
  for (const auto& [key, value] : *members) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::optional<std::string> JsonValue::scalar_text() const {
  if (const auto* text = string()) return *text;
  if (const auto* value = number()) return value->text;
  if (const auto* value = boolean()) return *value ? "true" : "false";
  return std::nullopt;
}

std::string_view JsonValue::type_name() const {
  constexpr std::string_view kNames[] = {"null",     "a boolean", "a number",
                                         "a string", "an array",  "an object"};
  static_assert(std::size(kNames) == std::variant_size_v<Data>);
  return kNames[data_.index()];
}

Result<JsonValue> parse_json(std::string_view text, const JsonLimits& limits) {
  const auto rejected = [&](const std::string& why) {
    return unexpected(Slug::malformed_request, std::string(limits.subject) + why);
  };
  Builder builder(limits, text);
  if (text.empty()) return rejected(" is empty; send JSON.");
  // The library interprets NUL as the end and would accept anything after it, and it skips a BOM.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return rejected(" contains a NUL character at " + place(limits, text, nul + 1) + ".");
  }
  if (text.starts_with("\xef\xbb\xbf")) return rejected(" starts with a byte order mark.");
  if (ExactJson::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
  return unexpected(builder.problem());
}

}  // namespace coffer::http
