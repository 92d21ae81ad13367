// Closed vocabularies. The names of an enum are written once, in the order of its enumerators:
//
//   template <>
//   struct Terms<WalletStatus> {
//     static constexpr auto rows = std::to_array<Term>({{"Pending"}, {"Verified"}, {"Rejected"}});
//   };
//
// name(), parse_term() and choices() follow from it, and the enums of the OpenAPI document. The
// store keeps enumerators as integers, so new ones are appended; a test compares the CHECK of each
// column with these rows.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/ascii.h"
#include "base/text/join.h"

namespace coffer {

/// A value of a closed vocabulary, as in GET /v1/payments/enums.
struct Term {
  std::string_view code;
  std::string_view label = {};  // for display
};

template <class Enum>
struct Terms;

template <class Enum>
concept Vocabulary = requires {
  Terms<Enum>::rows;
};

template <Vocabulary Enum>
constexpr std::span<const Term> terms() {
  return Terms<Enum>::rows;
}

/// In the contract's spelling.
template <Vocabulary Enum>
constexpr std::string_view name(Enum value) {
  return Terms<Enum>::rows.at(static_cast<std::size_t>(value)).code;
}

template <Vocabulary Enum>
constexpr std::string_view label(Enum value) {
  return Terms<Enum>::rows.at(static_cast<std::size_t>(value)).label;
}

/// Exact.
template <Vocabulary Enum>
constexpr std::optional<Enum> parse_term(std::string_view text) {
  for (std::size_t i = 0; i < terms<Enum>().size(); ++i) {
    if (terms<Enum>()[i].code == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// In any case of ASCII letters.
template <Vocabulary Enum>
constexpr std::optional<Enum> parse_term_in_any_case(std::string_view text) {
  for (std::size_t i = 0; i < terms<Enum>().size(); ++i) {
    if (ascii::same_word(terms<Enum>()[i].code, text)) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// The values for which `is` returns true: one bit per value, in the order of the enumerators.
template <Vocabulary Enum>
constexpr unsigned values_that(bool (*is)(Enum)) {
  unsigned out = 0;
  for (unsigned i = 0; i < terms<Enum>().size(); ++i) {
    if (is(static_cast<Enum>(i))) out |= 1U << i;
  }
  return out;
}

/// The codes of the values for which `is` returns true.
template <Vocabulary Enum, class Is>
std::string joined_terms(std::string_view separator, const Is& is) {
  std::string out;
  for (std::size_t i = 0; i < terms<Enum>().size(); ++i) {
    if (!is(static_cast<Enum>(i))) continue;
    out.append(out.empty() ? "" : separator).append(terms<Enum>()[i].code);
  }
  return out;
}

inline std::vector<std::string_view> term_codes(std::span<const Term> terms) {
  std::vector<std::string_view> out;
  for (const Term& term : terms) out.push_back(term.code);
  return out;
}

/// "Pending|Verified|Rejected", for a command-line argument.
template <Vocabulary Enum>
std::string_view choices() {
  static const std::string all = join(terms<Enum>(), "|", std::mem_fn(&Term::code));
  return all;
}

}  // namespace coffer
