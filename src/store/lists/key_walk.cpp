#include "store/lists/key_walk.h"

#include <algorithm>
#include <queue>

#include "base/check.h"

namespace coffer::store {
namespace {

constexpr int kReadFirst = 4;
constexpr int kReadMax = 256;
// Rows that the last read may need beyond the budget: a read of a few sets, and the legs of a
// multi-transfer.
constexpr std::int64_t kReserve = 1'000;

std::int64_t place_of(Order order, std::int64_t key) { return order == Order::rising ? key : -key; }
std::int64_t key_of(Order order, std::int64_t place) { return place_of(order, place); }

/// Reads ahead, doubling the number of keys as long as all of them are used. A set in which most
/// keys are skipped is thus read in small pieces.
class IndexKeys final : public KeySet {
 public:
  IndexKeys(KeySource source, Order order, RowBudget& budget)
      : source_(std::move(source)), order_(order), budget_(budget) {}

  std::optional<std::int64_t> first(std::int64_t place) override {
    for (;;) {
      while (at_ < places_.size() && places_[at_] < place) ++at_;
      if (at_ < places_.size()) return places_[at_];
      if (over_) return std::nullopt;
      refill(place);
    }
  }

 private:
  void refill(std::int64_t place) {
    const bool all_used = !places_.empty() && place == places_.back() + 1;
    count_ = all_used ? std::min(2 * count_, kReadMax) : kReadFirst;
    const auto keys = source_(key_of(order_, place - 1), count_);
    budget_.spend(static_cast<std::int64_t>(keys.size()) + 1);
    over_ = keys.size() < static_cast<std::size_t>(count_);
    at_ = 0;
    places_.clear();
    for (const std::int64_t key : keys) places_.push_back(place_of(order_, key));
  }

  const KeySource source_;
  const Order order_;
  RowBudget& budget_;
  std::vector<std::int64_t> places_;
  std::size_t at_ = 0;
  int count_ = kReadFirst;
  bool over_ = false;
};

class UnitedKeys final : public KeySet {
 public:
  explicit UnitedKeys(KeySets sets) : sets_(std::move(sets)) {}

  std::optional<std::int64_t> first(std::int64_t place) override {
    if (!started_) {
      started_ = true;
      for (std::size_t i = 0; i < sets_.size(); ++i) enqueue(i, place);
    }
    while (!heads_.empty() && heads_.top().first < place) {
      const std::size_t set = heads_.top().second;
      heads_.pop();
      enqueue(set, place);
    }
    return heads_.empty() ? std::nullopt : std::optional(heads_.top().first);
  }

 private:
  using Head = std::pair<std::int64_t, std::size_t>;
  void enqueue(std::size_t set, std::int64_t place) {
    if (const auto head = sets_[set]->first(place)) heads_.emplace(*head, set);
  }

  KeySets sets_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
  bool started_ = false;
};

class KnownKeys final : public KeySet {
 public:
  explicit KnownKeys(std::vector<std::int64_t> places) : places_(std::move(places)) {
    std::ranges::sort(places_);
  }
  std::optional<std::int64_t> first(std::int64_t place) override {
    const auto at = std::ranges::lower_bound(places_, place);
    return at == places_.end() ? std::nullopt : std::optional(*at);
  }

 private:
  std::vector<std::int64_t> places_;
};

/// Finds the places that are in all sets.
class Leap {
 public:
  Leap(const KeySets& sets, std::int64_t start, const RowBudget& budget)
      : sets_(sets), start_(start), place_(start), budget_(budget) {}

  enum class Ended { at_a_place, at_the_end, at_the_budget };
  /// Moves to the first place from here on that is in all sets.
  Ended next() {
    for (std::size_t agreed = 0; agreed < sets_.size();) {
      // A page must advance by at least one place; otherwise, the next page would start at the same
      // place.
      if (budget_.spent() && place_ != start_) return Ended::at_the_budget;
      const auto head = sets_[set_]->first(place_);
      if (!head) return Ended::at_the_end;
      agreed = *head == place_ ? agreed + 1 : 1;
      place_ = *head;
      set_ = (set_ + 1) % sets_.size();
    }
    return Ended::at_a_place;
  }
  std::int64_t place() const { return place_; }
  void pass() { ++place_; }

 private:
  const KeySets& sets_;
  const std::int64_t start_;
  std::int64_t place_;
  std::size_t set_ = 0;
  const RowBudget& budget_;
};

}  // namespace

bool contains(const TenantKeys& tenants, std::int64_t key) {
  return !tenants || std::find(tenants->begin(), tenants->end(), key) != tenants->end();
}

KeySets one(std::unique_ptr<KeySet> set) {
  KeySets out;
  out.push_back(std::move(set));
  return out;
}

bool RowBudget::spent() const { return left_ < kReserve; }

std::unique_ptr<KeySet> KeyWalk::of(KeySource source) const {
  return std::make_unique<IndexKeys>(std::move(source), order_, budget_);
}

std::unique_ptr<KeySet> KeyWalk::any(KeySets sets) const {
  if (sets.size() == 1) return std::move(sets.front());
  return std::make_unique<UnitedKeys>(std::move(sets));
}

std::unique_ptr<KeySet> KeyWalk::known(std::vector<std::int64_t> keys) const {
  for (std::int64_t& key : keys) key = place_of(order_, key);
  return std::make_unique<KnownKeys>(std::move(keys));
}

KeyWalk::Found KeyWalk::read(const KeySets& sets, const Part& part,
                             const std::function<bool(std::int64_t)>& fits) const {
  COFFER_CHECK(!sets.empty());
  Found out;
  if (part.lowest >= part.below) return out;
  const bool rising = order_ == Order::rising;
  const std::int64_t last = place_of(order_, rising ? part.below - 1 : part.lowest);
  std::int64_t start = place_of(order_, rising ? part.lowest : part.below - 1);
  if (part.beyond) {
    const std::int64_t beyond = place_of(order_, *part.beyond);
    if (beyond >= last) return out;
    start = std::max(start, beyond + 1);
  }
  Leap leap(sets, start, budget_);
  while (out.keys.size() < static_cast<std::size_t>(part.limit)) {
    const Leap::Ended ended = leap.next();
    if (leap.place() > last || ended == Leap::Ended::at_the_end) return out;
    if (ended == Leap::Ended::at_the_budget) {
      out.cut_at = key_of(order_, leap.place() - 1);
      return out;
    }
    const std::int64_t key = key_of(order_, leap.place());
    if (fits(key)) out.keys.push_back(key);
    leap.pass();
  }
  return out;
}

}  // namespace coffer::store
