// The nearest known word to a misspelled one, for "did you mean".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace coffer {

/// The entry of `known` that `word` most likely misspells; nullopt if none is near. Each added,
/// missing, changed or transposed letter counts as one difference (Damerau-Levenshtein); ASCII case
/// does not count. A word of n letters may have (n + 1) / 3 differences, at most 4. Among entries
/// at the same distance, the first wins. The result refers to the text of the entry. `word` may
/// come from outside: the time is bounded by the lengths of the entries.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known);

/// The end of a message about `word`: `; did you mean "wallet"?`, or empty if no entry is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace coffer
