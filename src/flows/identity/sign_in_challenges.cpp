#include "flows/identity/sign_in_challenges.h"

#include "base/digest.h"

namespace coffer::flows {
namespace {

constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kTimeBytes = 8;
constexpr std::size_t kProofBytes = 32;
constexpr std::size_t kKeyBytes = 32;

std::int64_t read_time(std::string_view bytes) {
  return static_cast<std::int64_t>(from_big_endian(bytes));
}

/// `body` has a fixed length, so the boundary between the parts is unambiguous.
std::string proof_of(const Secret& key, std::string_view body, std::string_view purpose) {
  return std::string(
      as_text(hmac_sha256(key.reveal(), "challenge\n" + std::string(body) + std::string(purpose))));
}

}  // namespace

SignInChallenges::SignInChallenges(Random& random)
    : random_(random), key_(random.bytes(kKeyBytes)) {}

std::string SignInChallenges::issue(std::string_view purpose, std::int64_t now_ms) const {
  const std::string body =
      random_.bytes(kNonceBytes) +
      to_big_endian(static_cast<std::uint64_t>(now_ms + kLifetimeMs), kTimeBytes);
  return body + proof_of(key_, body, purpose);
}

bool SignInChallenges::is_own(std::string_view challenge, std::string_view purpose,
                              std::int64_t now_ms) const {
  if (challenge.size() != kNonceBytes + kTimeBytes + kProofBytes) return false;
  const auto body = challenge.substr(0, kNonceBytes + kTimeBytes);
  return equal_constant_time(challenge.substr(body.size()), proof_of(key_, body, purpose)) &&
         now_ms < read_time(body.substr(kNonceBytes));
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
  return used_.emplace(challenge, read_time(challenge.substr(kNonceBytes, kTimeBytes))).second;
}

std::int64_t SignInChallenges::issued_ms(std::string_view challenge) {
  return read_time(challenge.substr(kNonceBytes, kTimeBytes)) - kLifetimeMs;
}

Secret SignInChallenges::derive(std::string_view challenge, std::string_view name) const {
  return Secret(std::string(as_text(hmac_sha256(
      key_.reveal(), "derived\n" + std::string(name) + '\n' + std::string(challenge)))));
}

}  // namespace coffer::flows
