#include "base/text/nearest.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/ascii.h"

namespace coffer {
namespace {

/// Optimal string alignment: no letter is edited twice. Three rows suffice.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto same = [&](std::size_t x, std::size_t y) {
        return ascii::to_lower(a[x]) == ascii::to_lower(b[y]);
      };
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same(i - 1, j - 1) ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

/// With more differences, it is a different word.
std::size_t slips_allowed(std::string_view word) {
  constexpr std::size_t kMost = 4;
  return std::min((word.size() + 1) / 3, kMost);
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> known) {
  const std::size_t allowed = slips_allowed(word);
  std::optional<std::string_view> best;
  std::size_t best_distance = allowed + 1;
  for (const std::string_view candidate : known) {
    const auto lengths = std::minmax({word.size(), candidate.size()});
    if (lengths.second - lengths.first > allowed) continue;
    const std::size_t slips = distance(word, candidate);
    if (slips >= best_distance) continue;
    best_distance = slips;
    best = candidate;
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const auto meant = nearest(word, known);
  return meant ? "; did you mean \"" + std::string(*meant) + "\"?" : std::string();
}

}  // namespace coffer
