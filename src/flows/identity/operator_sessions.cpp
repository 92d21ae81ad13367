#include "flows/identity/operator_sessions.h"

#include <algorithm>

#include "base/numbers.h"

namespace coffer::flows {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kIdBytes = 8;

bool is_over(const OperatorSession& session, std::int64_t now_ms) {
  return now_ms - session.used_ms >= OperatorSessions::kIdleMs ||
         now_ms - session.began_ms >= OperatorSessions::kLongestMs;
}

std::string id_of(const Sha256& hash) { return to_hex(std::span(hash).first(kIdBytes)); }

constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kTimeBytes = 8;
constexpr std::size_t kProofBytes = 32;
constexpr std::size_t kKeyBytes = 32;

/// `body` has a fixed length, so the boundary between the parts is unambiguous.
std::string proof_of(const Secret& key, std::string_view body, std::string_view purpose) {
  return std::string(
      as_text(hmac_sha256(key.reveal(), "challenge\n" + std::string(body) + std::string(purpose))));
}

}  // namespace

std::string OperatorSessions::begin(Random& random, OperatorSession session, std::int64_t now_ms) {
  const std::string secret = to_base64url(random.bytes(kSecretBytes));
  session.csrf = to_base64url(random.bytes(kSecretBytes));
  session.began_ms = now_ms;
  session.used_ms = now_ms;
  const Lock lock(mutex_);
  drop_old(now_ms);
  make_room(session.operator_id, kPerOperatorMax);
  make_room(std::nullopt, kMax);
  sessions_[sha256(secret)] = std::move(session);
  return secret;
}

std::optional<OperatorSession> OperatorSessions::find(const std::string& secret,
                                                      std::int64_t now_ms) {
  const Lock lock(mutex_);
  const auto found = sessions_.find(sha256(secret));
  if (found == sessions_.end()) return std::nullopt;
  if (is_over(found->second, now_ms)) {
    sessions_.erase(found);
    return std::nullopt;
  }
  found->second.used_ms = now_ms;
  return found->second;
}

void OperatorSessions::set_otp_key(const std::string& secret, const Secret& key) {
  const Lock lock(mutex_);
  const auto found = sessions_.find(sha256(secret));
  if (found != sessions_.end()) found->second.otp_key = key;
}

void OperatorSessions::end(const std::string& secret) {
  const Lock lock(mutex_);
  sessions_.erase(sha256(secret));
}

std::vector<ListedSession> OperatorSessions::list(std::optional<OperatorId> of,
                                                  std::int64_t now_ms) {
  std::vector<ListedSession> out;
  {
    const Lock lock(mutex_);
    drop_old(now_ms);
    for (const auto& [hash, session] : sessions_) {
      if (!of || session.operator_id == *of) out.push_back({id_of(hash), session});
    }
  }
  std::ranges::sort(out, [](const ListedSession& a, const ListedSession& b) {
    return a.session.used_ms > b.session.used_ms;
  });
  return out;
}

bool OperatorSessions::end_listed(const std::string& id, std::optional<OperatorId> of) {
  const Lock lock(mutex_);
  return std::erase_if(sessions_, [&](const auto& entry) {
           return id_of(entry.first) == id && (!of || entry.second.operator_id == *of);
         }) > 0;
}

std::string OperatorSessions::listed_id(const std::string& secret) { return id_of(sha256(secret)); }

void OperatorSessions::drop_old(std::int64_t now_ms) {
  std::erase_if(sessions_, [&](const auto& entry) { return is_over(entry.second, now_ms); });
}

void OperatorSessions::make_room(std::optional<OperatorId> of, std::size_t max) {
  std::size_t count = 0;
  auto oldest = sessions_.end();
  for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
    if (of && it->second.operator_id != *of) continue;
    ++count;
    if (oldest == sessions_.end() || it->second.used_ms < oldest->second.used_ms) oldest = it;
  }
  if (count >= max) sessions_.erase(oldest);
}

SignInChallenges::SignInChallenges(Random& random)
    : random_(random), key_(random.bytes(kKeyBytes)) {}

std::string SignInChallenges::issue(std::string_view purpose, std::int64_t now_ms) const {
  const std::string body = random_.bytes(kNonceBytes) + eight_bytes(now_ms + kLifetimeMs);
  return body + proof_of(key_, body, purpose);
}

bool SignInChallenges::is_own(std::string_view challenge, std::string_view purpose,
                              std::int64_t now_ms) const {
  if (challenge.size() != kNonceBytes + kTimeBytes + kProofBytes) return false;
  const auto body = challenge.substr(0, kNonceBytes + kTimeBytes);
  return equal_constant_time(challenge.substr(body.size()), proof_of(key_, body, purpose)) &&
         now_ms < number_at(body, kNonceBytes);
}

bool SignInChallenges::is_valid(std::string_view challenge, std::string_view purpose,
                                std::int64_t now_ms) {
  if (!is_own(challenge, purpose, now_ms)) return false;
  const Lock lock(mutex_);
  return !used_.contains(challenge);
}

bool SignInChallenges::use(std::string_view challenge, std::string_view purpose,
                           std::int64_t now_ms) {
  if (!is_own(challenge, purpose, now_ms)) return false;
  const Lock lock(mutex_);
  if (used_.size() >= kUsedMax) {
    std::erase_if(used_, [&](const auto& entry) { return entry.second <= now_ms; });
    if (used_.size() >= kUsedMax) return false;
  }
  return used_.emplace(challenge, number_at(challenge, kNonceBytes)).second;
}

std::int64_t SignInChallenges::issued_ms(std::string_view challenge) {
  return number_at(challenge, kNonceBytes) - kLifetimeMs;
}

Secret SignInChallenges::derive(std::string_view challenge, std::string_view name) const {
  return Secret(std::string(as_text(hmac_sha256(
      key_.reveal(), "derived\n" + std::string(name) + '\n' + std::string(challenge)))));
}

}  // namespace coffer::flows
