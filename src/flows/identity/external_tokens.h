// Bearer tokens of the configured external issuer (docs/contract.md#end-user-oauth).
#pragma once

#include <memory>
#include <string_view>

#include "auth/external_token.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "outbound/key_set.h"

namespace coffer::flows {

/// Thread-safe.
class ExternalTokens {
 public:
  /// `clock` must outlive this object.
  ExternalTokens(auth::ExternalIssuer expected, std::unique_ptr<outbound::KeySet> source,
                 const Clock& clock)
      : expected_(std::move(expected)), source_(std::move(source)), clock_(clock) {}

  /// `unauthorized`, `token-expired`, or `token-verification-timeout` if the issuer's keys are not
  /// available. May wait for the network.
  Result<auth::ExternalClaims> verify(std::string_view token);
  /// The same for an ID token of a sign-in.
  Result<auth::IdClaims> verify_id_token(std::string_view token, std::string_view nonce,
                                         Timestamp began);

 private:
  Result<auth::ExternalToken> parse(std::string_view token);
  Result<bool> has_key_for(const auth::ExternalToken& token, outbound::KeySet::Need need);

  const auth::ExternalIssuer expected_;
  const std::unique_ptr<outbound::KeySet> source_;
  const Clock& clock_;
  Mutex mutex_;
  std::optional<auth::JwkSet> keys_ COFFER_GUARDED_BY(mutex_);
  std::uint64_t version_ COFFER_GUARDED_BY(mutex_) = 0;  // of the last parsed document
};

}  // namespace coffer::flows
