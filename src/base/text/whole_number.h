// Whole numbers in text.
#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace coffer {

/// The decimal number that the whole text is, without spaces or a plus sign; nullopt if it is not
/// one within these bounds.
template <class Integer>
std::optional<Integer> whole_number(std::string_view text,
                                    Integer min = std::numeric_limits<Integer>::min(),
                                    Integer max = std::numeric_limits<Integer>::max()) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= min && value <= max ? std::optional(value) : std::nullopt;
}

}  // namespace coffer
