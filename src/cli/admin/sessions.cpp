#include "cli/admin/sessions.h"

#include <algorithm>

namespace coffer::cli {
namespace {

constexpr std::size_t kSecretBytes = 32;

bool is_over(const AdminSession& session, std::int64_t now_ms) {
  return now_ms - session.used_ms >= AdminSessions::kIdleMs ||
         now_ms - session.began_ms >= AdminSessions::kLongestMs;
}

}  // namespace

std::string AdminSessions::begin(Random& random, OperatorId id, std::int64_t version,
                                 std::int64_t now_ms) {
  const std::string secret = to_base64url(random.bytes(kSecretBytes));
  const std::string csrf = to_base64url(random.bytes(kSecretBytes));
  const Lock lock(mutex_);
  drop_old(now_ms);
  sessions_[sha256(secret)] = {id, version, csrf, {}, now_ms, now_ms};
  return secret;
}

std::optional<AdminSession> AdminSessions::find(const std::string& id, std::int64_t now_ms) {
  const Lock lock(mutex_);
  const auto found = sessions_.find(sha256(id));
  if (found == sessions_.end()) return std::nullopt;
  if (is_over(found->second, now_ms)) {
    sessions_.erase(found);
    return std::nullopt;
  }
  found->second.used_ms = now_ms;
  return found->second;
}

void AdminSessions::set_otp_key(const std::string& id, const Secret& key) {
  const Lock lock(mutex_);
  const auto found = sessions_.find(sha256(id));
  if (found != sessions_.end()) found->second.otp_key = key;
}

void AdminSessions::end(const std::string& id) {
  const Lock lock(mutex_);
  sessions_.erase(sha256(id));
}

void AdminSessions::drop_old(std::int64_t now_ms) {
  std::erase_if(sessions_, [&](const auto& entry) { return is_over(entry.second, now_ms); });
  if (sessions_.size() < kMax) return;
  sessions_.erase(std::min_element(
      sessions_.begin(), sessions_.end(),
      [](const auto& a, const auto& b) { return a.second.used_ms < b.second.used_ms; }));
}

}  // namespace coffer::cli
