#include "store/operating/newest.h"

#include <algorithm>
#include <queue>

namespace coffer::store {
namespace {

constexpr int kChunkMax = 1'000;

/// One source, read in chunks that grow while it is asked for more.
class Stream {
 public:
  Stream(const KeySource& source, std::int64_t before, int chunk)
      : source_(&source), before_(before), chunk_(chunk) {}

  std::optional<std::int64_t> head() {
    if (at_ == keys_.size() && !over_) refill();
    return at_ == keys_.size() ? std::nullopt : std::optional(keys_[at_]);
  }
  void drop() { ++at_; }

 private:
  void refill() {
    keys_ = (*source_)(before_, chunk_);
    at_ = 0;
    over_ = keys_.size() < static_cast<std::size_t>(chunk_);
    if (!keys_.empty()) before_ = keys_.back();
    chunk_ = std::min(2 * chunk_, kChunkMax);
  }

  const KeySource* source_;
  std::int64_t before_;
  int chunk_;
  std::vector<std::int64_t> keys_;
  std::size_t at_ = 0;
  bool over_ = false;
};

/// All streams as one that falls and says each key once.
class Merged {
 public:
  Merged(const std::vector<KeySource>& sources, std::int64_t before, int chunk) {
    streams_.reserve(sources.size());
    for (const KeySource& source : sources) streams_.emplace_back(source, before, chunk);
    for (std::size_t i = 0; i < streams_.size(); ++i) enqueue(i);
  }

  std::optional<std::int64_t> head() const {
    return heads_.empty() ? std::nullopt : std::optional(heads_.top().first);
  }
  void drop() {
    const std::int64_t key = heads_.top().first;
    while (!heads_.empty() && heads_.top().first == key) {
      const std::size_t stream = heads_.top().second;
      heads_.pop();
      streams_[stream].drop();
      enqueue(stream);
    }
  }

 private:
  void enqueue(std::size_t stream) {
    if (const auto key = streams_[stream].head()) heads_.emplace(*key, stream);
  }

  std::vector<Stream> streams_;
  std::priority_queue<std::pair<std::int64_t, std::size_t>> heads_;
};

}  // namespace

KeyPage newest_keys(const std::vector<KeySource>& sources, const NewestAt& at,
                    std::int64_t at_least, const std::function<bool(std::int64_t)>& wanted) {
  KeyPage out;
  const std::int64_t before = at.before.value_or(std::numeric_limits<std::int64_t>::max());
  Merged all(sources, before, at.limit + 1);
  const auto full = [&] { return out.keys.size() == static_cast<std::size_t>(at.limit); };
  std::int64_t last = before;
  for (int looks = 0;; ++looks) {
    const auto key = all.head();
    if (!key || *key < at_least) return out;
    if (full() || looks == kLooksMax) break;
    if (wanted(*key)) out.keys.push_back(*key);
    last = *key;
    all.drop();
  }
  out.next = last;
  out.cut_short = !full();
  return out;
}

bool contains(const TenantKeys& tenants, std::int64_t key) {
  return !tenants || std::find(tenants->begin(), tenants->end(), key) != tenants->end();
}

}  // namespace coffer::store
