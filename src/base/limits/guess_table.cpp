#include "base/limits/guess_table.h"

#include <algorithm>
#include <cstring>

namespace coffer {
namespace {

std::int64_t delay_after(const GuessRule& rule, int failures) {
  constexpr int kDoublingsMax = 30;
  const int beyond = failures - rule.free;
  if (beyond <= 0) return 0;
  return std::min(rule.longest_ms, rule.first_ms << std::min(beyond - 1, kDoublingsMax));
}

}  // namespace

std::size_t GuessTable::DigestHash::operator()(const Sha256& digest) const {
  std::size_t out = 0;
  std::memcpy(&out, digest.data(), sizeof out);
  return out;
}

GuessTable::Entries::iterator GuessTable::find(const Sha256& key, std::int64_t now_ms) {
  const auto found = index_.find(key);
  if (found == index_.end()) return none_.end();
  const Entry& entry = *found->second;
  if (now_ms - entry.last_ms < std::max(entry.memory_ms, entry.delay_ms)) return found->second;
  forget(found->second);
  return none_.end();
}

void GuessTable::forget(Entries::iterator entry) {
  index_.erase(entry->key);
  levels_.at(entry->level).erase(entry);
}

void GuessTable::forget_least_dangerous() {
  for (Entries& level : levels_) {
    if (!level.empty()) return forget(level.begin());
  }
}

std::int64_t GuessTable::wait_ms(std::string_view key, std::int64_t now_ms) {
  const Sha256 digest = sha256(key);
  const Lock lock(mutex_);
  const auto entry = find(digest, now_ms);
  if (entry == none_.end()) return 0;
  return std::max<std::int64_t>(0, entry->last_ms + entry->delay_ms - now_ms);
}

void GuessTable::failed(std::string_view key, const GuessRule& rule, std::int64_t now_ms) {
  const Sha256 digest = sha256(key);
  const Lock lock(mutex_);
  auto entry = find(digest, now_ms);
  if (entry == none_.end()) {
    if (index_.size() >= entries_max_) forget_least_dangerous();
    entry = none_.insert(none_.end(), Entry{.key = digest});
    index_.emplace(digest, entry);
  }
  Entries& from = entry->failures == 0 ? none_ : levels_.at(entry->level);
  ++entry->failures;
  entry->last_ms = now_ms;
  entry->delay_ms = delay_after(rule, entry->failures);
  entry->memory_ms = rule.memory_ms;
  const auto steps = static_cast<std::size_t>(entry->failures - 1);
  entry->level = static_cast<std::size_t>(rule.weight) * kLevelsPerWeight +
                 std::min(steps, kLevelsPerWeight - 1);
  Entries& to = levels_.at(entry->level);
  const Entry moved = *entry;
  from.erase(entry);
  index_[digest] = to.insert(to.end(), moved);
}

void GuessTable::succeeded(std::string_view key) {
  const Sha256 digest = sha256(key);
  const Lock lock(mutex_);
  const auto found = index_.find(digest);
  if (found != index_.end()) forget(found->second);
}

std::size_t GuessTable::size() {
  const Lock lock(mutex_);
  return index_.size();
}

}  // namespace coffer
