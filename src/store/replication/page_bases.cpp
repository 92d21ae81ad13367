#include "store/replication/page_bases.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace coffer::store {

std::string_view PageBases::find(std::uint32_t page) {
  const auto place = places_.find(page);
  if (place == places_.end()) return {};
  bases_.push_front(std::move(*place->second));
  bases_.erase(place->second);
  place->second = bases_.begin();
  return bases_.front().bytes;
}

void PageBases::put(std::uint32_t page, std::string_view bytes) {
  if (find(page).empty()) {
    bases_.push_front({page, {}});
    places_[page] = bases_.begin();
    end_ = std::max(end_, page);
  }
  std::string& kept = bases_.front().bytes;
  bytes_ += bytes.size() - kept.size();
  kept.assign(bytes);
  while (bytes_ > bytes_max_) drop(std::prev(bases_.end()));
}

void PageBases::forget_beyond(std::uint32_t last_page) {
  if (last_page >= end_) return;
  end_ = last_page;
  for (auto base = bases_.begin(); base != bases_.end();) {
    const auto here = base++;
    if (here->page > last_page) drop(here);
  }
}

void PageBases::drop(Bases::iterator base) {
  bytes_ -= base->bytes.size();
  places_.erase(base->page);
  bases_.erase(base);
}

}  // namespace coffer::store
