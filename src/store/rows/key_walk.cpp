#include "store/rows/key_walk.h"

#include <algorithm>
#include <queue>

#include "base/check.h"

namespace coffer::store {
namespace {

constexpr int kReadFirst = 4;
constexpr int kAheadMax = 256;
// Filters are compared by how far their first keys reach.
constexpr std::size_t kCompared = 32;
// Rows that the last read may need beyond the maximum: a read of a few sources, and the legs of a
// multi-transfer.
constexpr std::int64_t kReserve = 1'000;

/// Places increase in reading order, so in a descending list a later place is a lower key.
std::int64_t place_of(Order order, std::int64_t key) {
  return order == Order::ascending ? key : -key;
}
std::int64_t key_of(Order order, std::int64_t place) { return place_of(order, place); }

struct Places {
  std::int64_t first;
  std::int64_t last;
};

/// The places of one filter, each once. Every source is read ahead, in pieces that grow.
class Merged {
 public:
  Merged(const KeySources& sources, Order order, const Places& range, KeyWalk& walk)
      : order_(order), range_(range), walk_(walk) {
    for (const KeySource& source : sources) ahead_.push_back({&source, {}});
    for (std::size_t i = 0; i < ahead_.size(); ++i) refill(i, range.first - 1);
  }

  /// The place of the last of the first keys, or the maximum if there are fewer.
  std::int64_t reach() {
    while (compared_.size() < kCompared) {
      const auto place = merged();
      if (!place) return INT64_MAX;
      compared_.push(*place);
    }
    return compared_.back();
  }
  std::optional<std::int64_t> next() {
    if (compared_.empty()) return merged();
    const std::int64_t place = compared_.front();
    compared_.pop();
    return place;
  }

 private:
  struct Ahead {
    const KeySource* source;
    std::vector<std::int64_t> keys;
    std::size_t at = 0;
    int count = kReadFirst;
  };
  using Head = std::pair<std::int64_t, std::size_t>;

  std::optional<std::int64_t> merged() {
    while (!heads_.empty()) {
      const auto [place, source] = heads_.top();
      heads_.pop();
      advance(source, place);
      if (place == passed_) continue;  // also in another source
      passed_ = place;
      return place;
    }
    return std::nullopt;
  }
  void advance(std::size_t source, std::int64_t place) {
    Ahead& ahead = ahead_[source];
    if (++ahead.at < ahead.keys.size()) {
      push_head(source);
    } else if (ahead.keys.size() == static_cast<std::size_t>(ahead.count)) {
      ahead.count = std::min(4 * ahead.count, kAheadMax);
      refill(source, place);
    }
  }
  void refill(std::size_t source, std::int64_t place) {
    Ahead& ahead = ahead_[source];
    ahead.keys = (*ahead.source)(key_of(order_, place), ahead.count);
    ahead.at = 0;
    walk_.spend(static_cast<std::int64_t>(ahead.keys.size()) + 1);
    if (!ahead.keys.empty()) push_head(source);
  }
  void push_head(std::size_t source) {
    const std::int64_t place = place_of(order_, ahead_[source].keys[ahead_[source].at]);
    if (place <= range_.last) heads_.emplace(place, source);
  }

  const Order order_;
  const Places range_;
  KeyWalk& walk_;
  std::vector<Ahead> ahead_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
  std::queue<std::int64_t> compared_;
  std::optional<std::int64_t> passed_;
};

}  // namespace

bool contains(const TenantKeys& tenants, std::int64_t key) {
  return !tenants || std::ranges::find(*tenants, key) != tenants->end();
}

KeyWalk::KeyWalk(Connection& db, const PageAt& page, Order order)
    : db_(db),
      page_(page),
      order_((order == Order::ascending) != page.backward ? Order::ascending : Order::descending) {}

KeySource KeyWalk::known(std::vector<std::int64_t> keys) const {
  std::vector<std::int64_t> places;
  for (const std::int64_t key : keys) places.push_back(place_of(order_, key));
  std::ranges::sort(places);
  return [places = std::move(places), order = order_](std::int64_t beyond, int count) {
    std::vector<std::int64_t> out;
    auto at = std::ranges::upper_bound(places, place_of(order, beyond));
    for (; at != places.end() && out.size() < static_cast<std::size_t>(count); ++at) {
      out.push_back(key_of(order, *at));
    }
    return out;
  };
}

KeyPage KeyWalk::read(const std::vector<KeySources>& filters,
                      const std::function<bool(std::int64_t)>& fits, const ListRange& range) {
  COFFER_CHECK(!filters.empty());
  KeyPage out;
  if (range.lowest >= range.below) return out;
  const bool ascending = order_ == Order::ascending;
  Places places{place_of(order_, ascending ? range.lowest : range.below - 1),
                place_of(order_, ascending ? range.below - 1 : range.lowest)};
  if (page_.key) {
    const std::int64_t beyond = place_of(order_, *page_.key);
    if (beyond >= places.last) return out;
    places.first = std::max(places.first, beyond + 1);
  }
  std::vector<Merged> all;
  for (const KeySources& sources : filters) all.emplace_back(sources, order_, places, *this);
  const auto best =
      all.size() == 1 ? all.begin() : std::ranges::max_element(all, {}, &Merged::reach);
  while (const auto place = best->next()) {
    spend(1);
    const std::int64_t key = key_of(order_, *place);
    if (fits(key)) {
      if (out.keys.size() == static_cast<std::size_t>(page_.limit)) {
        out.next = out.keys.back();
        return out;
      }
      out.keys.push_back(key);
    }
    // A page advances by at least one key; otherwise, the next page would start at the same key.
    if (left_ < kReserve) {
      out.next = key;
      out.cut_short = out.keys.size() < static_cast<std::size_t>(page_.limit);
      return out;
    }
  }
  return out;
}

}  // namespace coffer::store
