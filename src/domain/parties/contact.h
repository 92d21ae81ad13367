// What people and companies are reached by, and the reader that collects what is wrong with it:
// names, e-mail addresses, phone numbers, dates, countries. Shared by wallets and beneficiaries.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/validation_errors.h"
#include "domain/tables/text_field.h"

namespace coffer {

/// C0, DEL, and C1 in UTF-8.
bool has_control_character(std::string_view text);
/// The form people use: a dotted local part without quotes, and a domain of at least two labels.
bool is_email(std::string_view text);
/// E.164: `+`, then 7 to 15 digits of which the first is not 0.
bool is_e164(std::string_view text);
/// Lower case for the letters of ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic; everything
/// else stays. For searching, not for showing.
std::string fold_case(std::string_view utf8);

/// Takes one field after the other, trims it, and adds what is wrong with it to `faults`: missing,
/// blank, too long or misshapen is `malformed-request`, a wrong value is `validation-failed`. A
/// field that `faults` names already (it had the wrong JSON type) is not named twice.
class ContactReader {
 public:
  enum class Need { required, optional };
  using Input = std::optional<std::string>;

  /// `faults` outlives this. `prefix` is put before names, as in `addresses[3].`. `today` bounds
  /// dates of birth.
  ContactReader(ValidationErrors& errors, std::string prefix, Timestamp today)
      : errors_(errors), prefix_(std::move(prefix)), today_(today) {}

  /// The trimmed text of at most `length_max` characters; empty when it is missing or refused.
  std::string text(std::string_view field, const Input& input, Need need,
                   std::size_t length_max = kTextMax);
  std::optional<std::string> optional_text(std::string_view field, const Input& input,
                                           std::size_t length_max = kTextMax);
  /// The value of a row of a noun's table, normalised as its rule says.
  std::optional<std::string> value(const TextFact& fact, const Input& input, Need need);
  /// All text members of a noun; with Need::optional those that must be there may be missing.
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

  /// The same faults and day for members one level down: `inner` is appended to the prefix.
  ContactReader within(std::string_view inner) const {
    return {errors_, prefix_ + std::string(inner), today_};
  }
  /// Whether something is wrong with this field already.
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
  std::optional<std::string> country_alpha3(std::string_view field, const std::string& text);
  std::optional<std::string> date_of_birth(std::string_view field, const std::string& text);

  ValidationErrors& errors_;
  std::string prefix_;
  Timestamp today_;
};

/// nullopt for an empty text.
std::optional<std::string> present(std::string text);

}  // namespace coffer
