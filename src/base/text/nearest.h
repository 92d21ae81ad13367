// The word that a misspelled one stands for, for "did you mean".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coffer {

/// The entry of `known` that `word` most likely misspells; nullopt when no entry is near. A letter
/// that is added, left out, changed or swapped with its neighbour counts one (Damerau-Levenshtein);
/// ASCII case does not count. A word of n letters may have (n + 1) / 3 such slips, at most 4. Of
/// several entries at the same distance, the first. The result views the same text as the entry.
/// `word` may come from outside: the time is bounded by the lengths of the entries.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known);

/// The end of a message about `word`: `; did you mean "wallet"?`, or empty when no entry is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace coffer
