// Reads the members of a JSON object and the query of a request, and collects all errors.
//
// A member that is null counts as missing. A wrong JSON type and a missing, blank or malformed
// member are errors of shape (400); amounts that are out of range or too precise are invalid values
// (422), see docs/contract.md#status-codes. After reading, `check()` reports all errors together.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/clock.h"
#include "base/validation_errors.h"
#include "domain/contact.h"
#include "domain/ids.h"
#include "domain/ledger/money.h"
#include "domain/payments/payment.h"
#include "domain/providers/connector.h"
#include "domain/tables/text_field.h"
#include "http/json_body.h"
#include "http/message.h"

namespace coffer::api {

enum class Presence { required, optional };
using enum Presence;

class Fields {
 public:
  /// `object`, `errors` and the names passed to the functions below (string literals) must outlive
  /// this object.
  explicit Fields(const http::JsonValue& object) : Fields(object, own_errors_) {}
  /// Part of a larger body: adds its errors to `errors`. `prefix` is prepended to names, such as
  /// `transfers[3].`.
  Fields(const http::JsonValue& object, ValidationErrors& errors, std::string prefix = {});
  Fields(const Fields&) = delete;

  /// At most `length_max` characters, counted like `maxLength` in the OpenAPI document, each
  /// without a fault (base/text/unicode.h).
  std::optional<std::string> text(std::string_view name, Presence presence,
                                  std::size_t length_max = kTextMax);
  /// The same with any characters, for a secret, or a text of one who cannot correct it.
  std::optional<std::string> opaque(std::string_view name, Presence presence,
                                    std::size_t length_max = kTextMax);
  /// An optional name: not blank if it is present.
  std::optional<std::string> optional_name(std::string_view name);
  /// The text of a ledger memo: at most kMemoBytesMax bytes. No other length is counted in bytes.
  std::optional<std::string> memo(std::string_view name);
  /// Any string, including an empty one, for values that the caller checks in another way.
  std::optional<std::string> any_text(std::string_view name, Presence presence);
  std::optional<bool> boolean(std::string_view name, Presence presence);
  /// A decimal string or a JSON number, read from its source text.
  std::optional<Amount> amount(std::string_view name, Presence presence);
  std::optional<AssetCode> asset_code(std::string_view name, Presence presence);
  std::optional<TransactionType> transaction_type(std::string_view name);
  template <class IdType>
  std::optional<IdType> id(std::string_view name, Presence presence) {
    const auto value = text(name, presence);
    if (!value) return std::nullopt;
    auto parsed = IdType::parse(*value);
    // A malformed ID cannot belong to the caller, so it is not found, as in a path.
    if (!parsed) add_error(Slug::not_found, name, "is not one of yours");
    return parsed;
  }
  /// An integer; out of range is an invalid value (422).
  std::optional<std::int64_t> integer(std::string_view name, Presence presence, std::int64_t min,
                                      std::int64_t max);
  /// fromRef and toRef (docs/contract.md#payments).
  std::optional<std::string> reference(std::string_view name);
  const http::JsonValue::Object* object(std::string_view name, Presence presence);
  const http::JsonValue::Array* array(std::string_view name, Presence presence);
  const http::JsonValue* find(std::string_view name) const;
  /// Whether the member is present, including null, with which a change removes a value.
  bool present(std::string_view name) const {
    removable_.push_back(name);
    return object_.find(name) != nullptr;
  }

  /// Adds an error for a member that must be absent, with the reason.
  void reject(std::string_view name, const std::string& message);
  /// Rejects unknown members, for routes that move money or register references; retired members
  /// get their own messages. Members that were read count as known, so call this last.
  void reject_unknown();
  /// Rejects null for every member that was not asked for with present(), because null does not
  /// remove its value. For declarations, which are applied to existing data.
  void reject_removals();
  std::string path(std::string_view name) const { return prefix_ + std::string(name); }
  ValidationErrors& errors() { return errors_; }
  std::nullopt_t add_error(Slug slug, std::string_view name, std::string message) {
    errors_.add(slug, path(name), std::move(message));
    return std::nullopt;
  }
  Result<void> check() const { return errors_.check(); }

 private:
  /// The member if it is present and not null; adds an error if it is required but missing.
  const http::JsonValue* member(std::string_view name, Presence presence);
  std::nullopt_t wrong_type(std::string_view name, const http::JsonValue& value,
                            std::string_view wanted);

  const http::JsonValue& object_;
  ValidationErrors own_errors_;
  ValidationErrors& errors_;
  std::string prefix_;
  mutable std::vector<std::string_view> asked_;
  mutable std::vector<std::string_view> removable_;
};

/// Query parameters. The pipeline has already rejected undeclared parameters.
class QueryFields {
 public:
  explicit QueryFields(const http::Request& request) : request_(request) {}

  std::optional<std::string> text(std::string_view name);
  std::optional<Timestamp> time(std::string_view name);
  std::optional<AssetCode> asset_code(std::string_view name);
  /// The values of `metadata[KEY]=VALUE` by key.
  PaymentMetadata metadata();
  /// 1 to 100, 20 by default (docs/contract.md#collections).
  int limit();
  template <class IdType>
  std::optional<IdType> id(std::string_view name) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    auto parsed = IdType::parse(*value);
    if (!parsed) add_error(Slug::malformed_request, name, "must be a UUID");
    return parsed;
  }
  /// A value of a vocabulary. `parse` returns nullopt for any other text.
  template <class Parse>
  auto term(std::string_view name, Parse parse) -> decltype(parse(std::string_view())) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    auto parsed = parse(*value);
    if (!parsed) {
      add_error(Slug::malformed_request, name,
                "does not take the value \"" + value->substr(0, 64) + '"');
    }
    return parsed;
  }
  const ValidationErrors& errors() const { return errors_; }
  void add_error(Slug slug, std::string_view name, std::string message) {
    errors_.add(slug, std::string(name), std::move(message));
  }
  Result<void> check() const { return errors_.check(); }

 private:
  const http::Request& request_;
  ValidationErrors errors_;
};

/// JSON Merge Patch (RFC 7396): `target` with `patch` applied: objects are merged by member, null
/// removes a member, and any other value (including arrays) replaces the previous value. The result
/// nests no deeper than both bodies.
http::JsonValue merge_patch(http::JsonValue target, const http::JsonValue& patch);

// The text members of a noun (domain/tables/text_field.h), read from requests and written to JSON.

// The maximum length of any text. The domain determines the maximum of each member.
inline constexpr std::size_t kAnyText = 4096;

/// Checks only the JSON type. The domain determines required members and their format.
inline void read_text(Fields& fields, std::string_view name, TextMembers& out) {
  if (fields.errors().names(fields.path(name))) return;
  if (auto value = fields.text(name, optional, kAnyText)) out.emplace(name, *std::move(value));
}

template <class Noun>
void read_texts(Fields& fields, TextMembers& out) {
  for (const TextFact& fact : TextFields<Noun>::rows) read_text(fields, fact.name, out);
}

/// The members of a nested object; empty if it is absent.
template <class... Nouns>
std::optional<TextMembers> read_inner_texts(Fields& fields, const char* name) {
  if (fields.object(name, optional) == nullptr) return std::nullopt;
  Fields inner(*fields.find(name), fields.errors(), fields.path(name) + ".");
  TextMembers out;
  (read_texts<Nouns>(inner, out), ...);
  return out;
}

template <class Noun>
void put_texts(Json& object, const Noun& noun) {
  each_text(noun, [&](const TextFact& fact, const std::string& value) {
    object[std::string(fact.name)] = value;
  });
}

template <class Noun>
Json texts_json(const Noun& noun) {
  Json out = Json::object();
  put_texts(out, noun);
  return out;
}

}  // namespace coffer::api
