#include "base/validation_errors.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace coffer {
namespace {

/// Statuses in order of precedence, each with the general slug for several different slugs.
struct Rank {
  int status;
  Slug general;
};
constexpr std::array<Rank, 4> kRanks{{{400, Slug::malformed_request},
                                      {404, Slug::not_found},
                                      {422, Slug::validation_failed},
                                      {409, Slug::conflict}}};

std::size_t rank_of(Slug slug) {
  const auto it = std::ranges::find(kRanks, info(slug).status, &Rank::status);
  COFFER_CHECK(it != kRanks.end());
  return static_cast<std::size_t>(it - kRanks.begin());
}

}  // namespace

Problem ValidationErrors::problem() const {
  COFFER_CHECK(!errors_.empty());
  const Fault* first = &errors_.front();
  for (const Fault& fault : errors_) {
    if (rank_of(fault.slug) < rank_of(first->slug)) first = &fault;
  }
  Slug slug = first->slug;
  for (const Fault& fault : errors_) {
    if (rank_of(fault.slug) == rank_of(first->slug) && fault.slug != first->slug) {
      slug = kRanks[rank_of(first->slug)].general;
    }
  }
  Problem out(slug, first->error.field + " " + first->error.message + ".");
  for (const Fault& fault : errors_) {
    if (out.fields.size() == kShown) break;
    out.fields.push_back(fault.error);
  }
  return out;
}

Result<void> ValidationErrors::check() const {
  if (empty()) return {};
  return unexpected(problem());
}

}  // namespace coffer
