#include "api/json/fields.h"

#include <algorithm>

#include "base/check.h"
#include "base/text/characters.h"
#include "base/text/nearest.h"
#include "base/text/unicode.h"
#include "base/text/whole_number.h"

namespace coffer::api {
namespace {

/// Names from earlier versions of the contract, and their replacements.
struct Retired {
  std::string_view name;
  std::string_view remedy;
};
constexpr Retired kRetired[] = {
    {"idempotencyKey", "is no longer accepted; send transactionId"},
    {"externalReference", "is no longer accepted; send transactionId"},
};

}  // namespace

Fields::Fields(const http::JsonValue& object, ValidationErrors& errors, std::string prefix)
    : object_(object), errors_(errors), prefix_(std::move(prefix)) {
  if (object_.object() == nullptr) {
    const std::string where = prefix_.empty() ? "body" : prefix_.substr(0, prefix_.size() - 1);
    errors_.add(Slug::malformed_request, where,
                "must be an object, not " + std::string(object_.type_name()));
  }
}

const http::JsonValue* Fields::find(std::string_view name) const {
  asked_.push_back(name);
  const http::JsonValue* value = object_.find(name);
  return value == nullptr || value->is_null() ? nullptr : value;
}

const http::JsonValue* Fields::member(std::string_view name, Presence presence) {
  const http::JsonValue* value = find(name);
  if (value == nullptr && presence == required && object_.object() != nullptr) {
    add_error(Slug::malformed_request, name, "is required");
  }
  return value;
}

std::nullopt_t Fields::wrong_type(std::string_view name, const http::JsonValue& value,
                                  std::string_view wanted) {
  return add_error(Slug::malformed_request, name,
                   "must be " + std::string(wanted) + ", not " + std::string(value.type_name()));
}

std::optional<std::string> Fields::any_text(std::string_view name, Presence presence) {
  const http::JsonValue* value = member(name, presence);
  if (value == nullptr) return std::nullopt;
  if (const std::string* text = value->string()) return *text;
  return wrong_type(name, *value, "a string");
}

std::optional<std::string> Fields::text(std::string_view name, Presence presence,
                                        std::size_t length_max) {
  auto text = opaque(name, presence, length_max);
  if (!text) return std::nullopt;
  std::string fault = character_fault(*text);
  if (fault.empty()) return text;
  return add_error(Slug::malformed_request, name, std::move(fault));
}

std::optional<std::string> Fields::opaque(std::string_view name, Presence presence,
                                          std::size_t length_max) {
  auto text = any_text(name, presence);
  if (!text) return std::nullopt;
  if (presence == required && is_blank(*text)) {
    return add_error(Slug::malformed_request, name, "must not be blank");
  }
  if (character_count(*text) <= length_max) return text;
  return add_error(Slug::malformed_request, name,
                   "must have at most " + std::to_string(length_max) + " characters");
}

std::optional<std::string> Fields::optional_name(std::string_view name) {
  auto value = text(name, optional);
  if (!value || !is_blank(*value)) return value;
  return add_error(Slug::malformed_request, name, "must not be blank");
}

std::optional<std::string> Fields::memo(std::string_view name) {
  auto value = text(name, optional);
  if (!value || value->size() <= kMemoBytesMax) return value;
  return add_error(Slug::malformed_request, name,
                   "must have at most " + std::to_string(kMemoBytesMax) + " bytes");
}

std::optional<bool> Fields::boolean(std::string_view name, Presence presence) {
  const http::JsonValue* value = member(name, presence);
  if (value == nullptr) return std::nullopt;
  if (const bool* flag = value->boolean()) return *flag;
  return wrong_type(name, *value, "a boolean");
}

std::optional<Amount> Fields::amount(std::string_view name, Presence presence) {
  const http::JsonValue* value = member(name, presence);
  if (value == nullptr) return std::nullopt;
  const std::string* source = value->string();
  const Exponent exponent = source == nullptr ? Exponent::accepted : Exponent::rejected;
  if (source == nullptr && value->number() != nullptr) source = &value->number()->text;
  if (source == nullptr) return wrong_type(name, *value, "a decimal string or a number");
  const ParsedAmount parsed = parse_amount(*source, Amount::kScale, exponent);
  switch (parsed.fault) {
    case AmountFault::none:
      return parsed.amount;
    case AmountFault::not_a_number:
      return add_error(Slug::malformed_request, name, "must be a decimal such as \"12.50\"");
    case AmountFault::too_precise:
      return add_error(Slug::amount_precision, name, "must have at most 7 decimal places");
    case AmountFault::out_of_range:
      return add_error(Slug::amount_out_of_range, name,
                       "must be greater than 0 and at most 922337203685.4775807");
  }
  throw InternalError("unknown amount fault");
}

std::optional<std::int64_t> Fields::integer(std::string_view name, Presence presence,
                                            std::int64_t min, std::int64_t max) {
  const http::JsonValue* value = member(name, presence);
  if (value == nullptr) return std::nullopt;
  if (value->number() == nullptr) return wrong_type(name, *value, "a whole number");
  const std::string& text = value->number()->text;
  if (text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) != std::string::npos) {
    return add_error(Slug::malformed_request, name, "must be a whole number");
  }
  if (const auto number = whole_number(text, min, max)) return number;
  return add_error(Slug::validation_failed, name,
                   "must be from " + std::to_string(min) + " to " + std::to_string(max));
}

std::optional<AssetCode> Fields::asset_code(std::string_view name, Presence presence) {
  const auto value = text(name, presence);
  if (!value) return std::nullopt;
  if (const auto code = AssetCode::parse(*value)) return code;
  return add_error(Slug::malformed_request, name, "must be 1 to 12 letters or digits");
}

std::optional<TransactionType> Fields::transaction_type(std::string_view name) {
  const auto value = text(name, optional);
  if (!value) return std::nullopt;
  if (const auto type = parse_term_in_any_case<TransactionType>(*value)) return type;
  return add_error(Slug::malformed_request, name, "must be C2C, C2B, B2C or B2B");
}

std::optional<std::string> Fields::reference(std::string_view name) {
  const http::JsonValue* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (value->string() == nullptr) return wrong_type(name, *value, "a string");
  if (is_reference(*value->string())) return *value->string();
  return add_error(Slug::invalid_reference, name, "must be 1 to 16 letters, digits or hyphens");
}

const http::JsonValue::Object* Fields::object(std::string_view name, Presence presence) {
  const http::JsonValue* value = member(name, presence);
  if (value == nullptr) return nullptr;
  if (value->object() == nullptr) wrong_type(name, *value, "an object");
  return value->object();
}

const http::JsonValue::Array* Fields::array(std::string_view name, Presence presence) {
  const http::JsonValue* value = member(name, presence);
  if (value == nullptr) return nullptr;
  if (value->array() == nullptr) wrong_type(name, *value, "an array");
  return value->array();
}

void Fields::reject(std::string_view name, const std::string& message) {
  if (find(name) != nullptr) add_error(Slug::malformed_request, name, message);
}

void Fields::reject_removals() {
  const auto* members = object_.object();
  if (members == nullptr) return;
  for (const auto& [name, value] : *members) {
    if (!value.is_null() || errors_.names(path(name))) continue;
    if (std::ranges::find(removable_, name) != removable_.end()) continue;
    errors_.add(Slug::malformed_request, path(name),
                "cannot be removed with null; omit it to keep the present value");
  }
}

void Fields::reject_unknown() {
  if (object_.object() == nullptr) return;
  for (const auto& [name, value] : *object_.object()) {
    if (std::ranges::find(asked_, name) != asked_.end()) continue;
    std::string message = "is not a field of this request";
    if (const auto near = nearest(name, asked_))
      message += "; the nearest is `" + std::string(*near) + "`";
    for (const Retired& retired : kRetired) {
      if (retired.name == name) message = retired.remedy;
    }
    add_error(Slug::malformed_request, name, std::move(message));
  }
}

std::optional<std::string> QueryFields::text(std::string_view name) {
  const std::string* value = request_.query_value(name);
  return value == nullptr || value->empty() ? std::nullopt : std::optional(*value);
}

std::optional<Timestamp> QueryFields::time(std::string_view name) {
  const auto value = text(name);
  if (!value) return std::nullopt;
  auto parsed = Timestamp::parse(*value);
  if (!parsed) {
    add_error(Slug::malformed_request, name,
              "must be a date or an RFC 3339 time such as 2026-01-31T09:00:00Z");
  }
  return parsed;
}

std::optional<AssetCode> QueryFields::asset_code(std::string_view name) {
  return term(name, AssetCode::parse);
}

PaymentMetadata QueryFields::metadata() {
  PaymentMetadata out;
  constexpr std::string_view kOpen = "metadata[";
  for (const auto& [name, value] : request_.query) {
    if (!name.starts_with("metadata") || value.empty()) continue;
    std::string key = name.starts_with(kOpen) ? name.substr(kOpen.size()) : "]";
    key.pop_back();
    std::string fault = metadata_fault(key, value);
    if (name == "metadata") fault = "must name a key, as in metadata[order]=A-1";
    if (!fault.empty()) add_error(Slug::malformed_request, name, std::move(fault));
    out[std::move(key)] = value;
  }
  if (out.size() > kMetadataKeysMax) {
    add_error(Slug::malformed_request, "metadata", kMetadataCountRule);
  }
  return out;
}

int QueryFields::limit() {
  const auto value = text("limit");
  if (!value) return 20;
  const auto limit = whole_number(*value, 1, 100);
  if (!limit) {
    add_error(Slug::malformed_request, "limit", "must be a whole number from 1 to 100");
  }
  return limit.value_or(20);
}

http::JsonValue merge_patch(http::JsonValue target, const http::JsonValue& patch) {
  if (patch.object() == nullptr) return patch;
  if (target.object() == nullptr) target = http::JsonValue(http::JsonValue::Object{});
  auto& members = std::get<http::JsonValue::Object>(target.data());
  for (const auto& [name, value] : *patch.object()) {
    const auto it =
        std::ranges::find_if(members, [&](const auto& member) { return member.first == name; });
    if (value.is_null()) {
      if (it != members.end()) members.erase(it);
    } else if (it != members.end()) {
      it->second = merge_patch(std::move(it->second), value);
    } else {
      members.emplace_back(name, merge_patch({}, value));
    }
  }
  return target;
}

}  // namespace coffer::api
