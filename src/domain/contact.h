// Contact data of people and companies: names, e-mail addresses, phone numbers, dates, countries.
// Shared by wallets and beneficiaries.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/validation_errors.h"
#include "domain/tables/text_field.h"

namespace coffer {

/// The common form: a dotted local part without quotes, and a domain with at least two labels.
bool is_email(std::string_view text);
/// E.164: `+`, then 7 to 15 digits, the first of which is not 0.
bool is_e164(std::string_view text);

/// Whether the text is how a list, a statement or a screen shows a number of which it hides a part.
/// Such a text is never accepted as a number.
bool is_masked(std::string_view text);
inline constexpr const char* kMaskedFault = "is masked, as lists show it; send it in full";

/// Reads one field after another, trims it, and adds errors to `errors`: `malformed-request` for a
/// missing, blank, overlong or malformed field, `validation-failed` for an invalid value. A field
/// that already has an error (a wrong JSON type) gets no second one.
class ContactReader {
 public:
  enum class Need { required, optional };
  using Input = std::optional<std::string>;

  /// `errors` must outlive this object. `prefix` is prepended to names, such as `addresses[3].`.
  /// `today` limits dates of birth.
  ContactReader(ValidationErrors& errors, std::string prefix, Timestamp today)
      : errors_(errors), prefix_(std::move(prefix)), today_(today) {}

  /// The text without outer white space, as line_fault() permits it; empty if it is missing or
  /// invalid.
  std::string text(std::string_view field, const Input& input, Need need,
                   std::size_t length_max = kTextMax);
  std::optional<std::string> optional_text(std::string_view field, const Input& input,
                                           std::size_t length_max = kTextMax);
  /// The value of a row of a noun's table, normalised according to its rule.
  std::optional<std::string> value(const TextFact& fact, const Input& input, Need need);
  /// All text members of a noun. With Need::optional, required members may be missing.
  template <class Noun>
  Noun read(const TextMembers& members, Need need_required = Need::required) {
    Noun noun;
    for (const auto& field : TextFields<Noun>::rows) {
      auto text = value(field, find_member(members, field.name),
                        field.required ? need_required : Need::optional);
      if (text) field.set(noun, *std::move(text));
    }
    return noun;
  }

  /// A reader for nested members, with the same errors and date; `inner` is appended to the prefix.
  ContactReader within(std::string_view inner) const {
    return {errors_, prefix_ + std::string(inner), today_};
  }
  /// Whether this field already has an error.
  bool named(std::string_view field) const { return errors_.names(prefix_ + std::string(field)); }
  void malformed(std::string_view field, std::string message) {
    add(Slug::malformed_request, field, std::move(message));
  }
  void invalid(std::string_view field, std::string message) {
    add(Slug::validation_failed, field, std::move(message));
  }
  void add(Slug slug, std::string_view field, std::string message);

 private:
  std::optional<std::string> country_alpha2(std::string_view field, const std::string& text);
  std::optional<std::string> iban(std::string_view field, const std::string& text);
  std::optional<std::string> country_alpha3(std::string_view field, const std::string& text);
  std::optional<std::string> date_of_birth(std::string_view field, const std::string& text);

  ValidationErrors& errors_;
  std::string prefix_;
  Timestamp today_;
};

/// nullopt for an empty text.
std::optional<std::string> present(std::string text);

}  // namespace coffer
