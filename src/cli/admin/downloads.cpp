#include "cli/admin/downloads.h"

#include <algorithm>
#include <utility>

#include "base/digest.h"

namespace coffer::cli {

std::string Downloads::add(Random& random, const std::string& session, ProducedFile file,
                           std::int64_t now_ms) {
  constexpr std::size_t kNameBytes = 16;
  const Lock lock(mutex_);
  std::erase_if(waiting_,
                [&](const Waiting& each) { return now_ms - each.since_ms > kLifetimeMs; });
  if (waiting_.size() == kMax) waiting_.pop_front();
  waiting_.push_back({to_base64url(random.bytes(kNameBytes)), session, now_ms, std::move(file)});
  return waiting_.back().name;
}

std::optional<ProducedFile> Downloads::take(const std::string& name, const std::string& session,
                                            std::int64_t now_ms) {
  const Lock lock(mutex_);
  const auto found = std::ranges::find_if(
      waiting_, [&](const Waiting& each) { return each.name == name && each.session == session; });
  if (found == waiting_.end()) return std::nullopt;
  ProducedFile file = std::move(found->file);
  const bool expired = now_ms - found->since_ms > kLifetimeMs;
  waiting_.erase(found);
  if (expired) return std::nullopt;
  return file;
}

}  // namespace coffer::cli
