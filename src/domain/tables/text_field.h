// The text members of a noun, each written once as a row of its table: the names in JSON and in the
// database, the member of the struct, what it may hold, and how the OpenAPI document describes it.
//
//   template <>
//   struct TextFields<PersonMetadata> {
//     static constexpr TextField<PersonMetadata> rows[] = {
//         {"taxId", "tax_id", &PersonMetadata::tax_id, rule::text, "Tax number"}};
//   };
//
// Validation (ContactReader), the store (store/rows/columns.h), the API (api/json/fields.h),
// the command line and the OpenAPI document (api/about/openapi_tables.h) go through these rows.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/unicode.h"

namespace coffer {

/// In characters. Long enough for real values, and short enough for indexes and printing.
inline constexpr std::size_t kTextMax = 200;
inline constexpr std::size_t kEmailMax = 254;  // RFC 5321 section 4.5.3.1.3, without the brackets

enum class TextKind { any, date_of_birth, country_alpha2, country_alpha3, email, phone, iban, bic };

/// What is wrong with a name that an operator chooses; empty if it is valid.
inline std::string name_fault(std::string_view name) { return line_fault(name, kTextMax); }

struct TextRule {
  TextKind kind = TextKind::any;
  std::size_t length_max = kTextMax;  // in characters
  bool masked = false;                // in lists, which show only the end of the value
};

namespace rule {
inline constexpr TextRule text;
constexpr TextRule text_up_to(std::size_t length_max) { return {TextKind::any, length_max}; }
inline constexpr TextRule date_of_birth{TextKind::date_of_birth};    // YYYY-MM-DD
inline constexpr TextRule country_alpha2{TextKind::country_alpha2};  // ISO 3166-1, upper case
inline constexpr TextRule country_alpha3{TextKind::country_alpha3};
inline constexpr TextRule email{TextKind::email, kEmailMax};
inline constexpr TextRule phone{TextKind::phone};  // E.164
inline constexpr TextRule iban{TextKind::iban};    // in electronic form
inline constexpr TextRule bic{TextKind::bic};      // ISO 9362, upper case
constexpr TextRule masked(TextRule rule) {
  rule.masked = true;
  return rule;
}
}  // namespace rule

/// The data of a row, independent of the struct to which it belongs.
struct TextFact {
  std::string_view name;    // in JSON
  std::string_view column;  // in the noun's table
  TextRule rule;
  std::string_view description;
  std::string_view example;  // empty: no example
  bool required = false;     // follows from the type of the member
};

template <class Noun>
class TextField : public TextFact {
 public:
  using Required = std::string Noun::*;
  using Optional = std::optional<std::string> Noun::*;

  constexpr TextField(std::string_view json_name, std::string_view column_name, Required member,
                      TextRule what, std::string_view text, std::string_view sample = {})
      : TextFact{json_name, column_name, what, text, sample, true}, required_(member) {}
  constexpr TextField(std::string_view json_name, std::string_view column_name, Optional member,
                      TextRule what, std::string_view text, std::string_view sample = {})
      : TextFact{json_name, column_name, what, text, sample, false}, optional_(member) {}

  /// nullptr for an optional member that is empty.
  const std::string* get(const Noun& noun) const {
    if (required) return &(noun.*required_);
    const auto& value = noun.*optional_;
    return value ? &*value : nullptr;
  }
  void set(Noun& noun, std::string value) const {
    if (required) {
      noun.*required_ = std::move(value);
    } else {
      noun.*optional_ = std::move(value);
    }
  }

 private:
  Required required_ = nullptr;
  Optional optional_ = nullptr;
};

/// The `rows` of a noun. A noun without a specialisation has no table.
template <class Noun>
struct TextFields;

/// Calls `visit(const TextFact&, const std::string&)` for each member with a value, in order.
template <class Noun, class Visit>
void each_text(const Noun& noun, Visit visit) {
  for (const auto& field : TextFields<Noun>::rows) {
    if (const std::string* value = field.get(noun)) visit(field, *value);
  }
}

/// Text members of a JSON object as received, by name. A JSON null counts as an absent member.
using TextMembers = std::map<std::string, std::string, std::less<>>;

inline std::optional<std::string> find_member(const TextMembers& members, std::string_view name) {
  const auto found = members.find(name);
  return found == members.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace coffer
