// Reads the members of a JSON object and the query of a request, collecting every fault.
//
// A member that is absent or null counts as missing. Wrong JSON type, missing, blank or misshapen
// is a wrong shape (400); amounts out of range or too precise are wrong values (422), see
// docs/contract.md#status-codes. After reading, `check()` reports all of it at once.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/validation_errors.h"
#include "domain/ids.h"
#include "domain/ledger/money.h"
#include "domain/parties/contact.h"
#include "http/json_body.h"
#include "http/message.h"

namespace coffer::api {

enum class Presence { required, optional };
using enum Presence;

class Fields {
 public:
  /// Names given to the functions below outlive this too; they are literals. `object` and `faults`
  /// outlive this. `prefix` is put before names, as in `transfers[3].`.
  Fields(const http::JsonValue& object, ValidationErrors& errors, std::string prefix = {});

  /// At most `length_max` characters, as the `maxLength` of the document counts.
  std::optional<std::string> text(std::string_view name, Presence presence,
                                  std::size_t length_max = kTextMax);
  /// The text of a ledger memo: at most kMemoBytesMax bytes, the one length that counts bytes.
  std::optional<std::string> memo(std::string_view name);
  /// Any string, an empty one too: for what is judged by more than its shape.
  std::optional<std::string> any_text(std::string_view name, Presence presence);
  std::optional<bool> boolean(std::string_view name, Presence presence);
  /// A decimal string or a JSON number, from its source text.
  std::optional<Amount> amount(std::string_view name, Presence presence);
  std::optional<AssetCode> asset_code(std::string_view name, Presence presence);
  template <class IdType>
  std::optional<IdType> id(std::string_view name, Presence presence) {
    const auto value = text(name, presence);
    if (!value) return std::nullopt;
    auto parsed = IdType::parse(*value);
    // An id that is none cannot be one of the caller's: as with path ids, not found.
    if (!parsed) errors_.add(Slug::not_found, path(name), "is not one of yours");
    return parsed;
  }
  /// A whole number; one out of range is a wrong value (422).
  std::optional<std::int64_t> integer(std::string_view name, Presence presence, std::int64_t min,
                                      std::int64_t max);
  /// fromRef and toRef (docs/contract.md#payments).
  std::optional<std::string> reference(std::string_view name);
  const http::JsonValue::Object* object(std::string_view name, Presence presence);
  const http::JsonValue::Array* array(std::string_view name, Presence presence);
  const http::JsonValue* find(std::string_view name) const;
  /// Whether it is there at all, null included: how a change says that something is to go.
  bool present(std::string_view name) const { return object_.find(name) != nullptr; }

  /// A member that must not be there, and why.
  void refuse(std::string_view name, const std::string& message);
  /// Money and reference routes refuse what they do not know, naming retired fields apart. Known is
  /// what was asked for: call it when everything has been read.
  void refuse_unknown();
  std::string path(std::string_view name) const { return prefix_ + std::string(name); }
  ValidationErrors& errors() { return errors_; }

 private:
  /// The member when it is there and not null; a fault when it is required and is not.
  const http::JsonValue* member(std::string_view name, Presence presence);
  void wrong_type(std::string_view name, const http::JsonValue& value, std::string_view wanted);

  const http::JsonValue& object_;
  ValidationErrors& errors_;
  std::string prefix_;
  mutable std::vector<std::string_view> asked_;
};

/// `check()` of a request: the Problem of everything collected so far.
Result<void> check(const ValidationErrors& errors);

/// Query parameters. The pipeline has refused those that the route does not declare.
class QueryFields {
 public:
  QueryFields(const http::Request& request, ValidationErrors& errors)
      : request_(request), errors_(errors) {}

  std::optional<std::string> text(std::string_view name);
  std::optional<Timestamp> time(std::string_view name);
  std::optional<AssetCode> asset_code(std::string_view name);
  bool flag(std::string_view name);
  /// 1 to 100, default 20 (docs/contract.md#collections).
  int limit();
  template <class IdType>
  std::optional<IdType> id(std::string_view name) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    auto parsed = IdType::parse(*value);
    if (!parsed) errors_.add(Slug::malformed_request, std::string(name), "must be a UUID");
    return parsed;
  }
  /// A value of a vocabulary; `parse` gives nullopt for anything else.
  template <class Parse>
  auto term(std::string_view name, Parse parse) -> decltype(parse(std::string_view())) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    auto parsed = parse(*value);
    if (!parsed) {
      errors_.add(Slug::malformed_request, std::string(name),
                  "does not take the value \"" + value->substr(0, 64) + '"');
    }
    return parsed;
  }
  ValidationErrors& errors() { return errors_; }

 private:
  const http::Request& request_;
  ValidationErrors& errors_;
};

}  // namespace coffer::api
