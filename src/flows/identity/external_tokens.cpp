#include "flows/identity/external_tokens.h"

#include "base/telemetry/log.h"

namespace coffer::flows {

using outbound::KeySet;

/// Also updates the keys if the document has changed.
Result<bool> ExternalTokens::has_key_for(const auth::ExternalToken& token, KeySet::Need need) {
  COFFER_TRY(const outbound::KeyDocument document, source_->read(need));
  const Lock lock(mutex_);
  if (document.version > version_) {
    version_ = document.version;
    auto keys = auth::JwkSet::parse(document.text);
    if (keys) {
      keys_ = *std::move(keys);
    } else {
      log_error("auth", "the signing keys of the external issuer cannot be used",
                {{"problem", keys.error().detail}});
    }
  }
  if (!keys_) {
    return unexpected(Slug::token_verification_timeout,
                      "The signing keys of the token issuer could not be read. Retry later.");
  }
  return keys_->has_key_for(token);
}

Result<auth::ExternalToken> ExternalTokens::parse(std::string_view token) {
  COFFER_TRY(auto parsed, auth::ExternalToken::parse(token));
  COFFER_TRY(const bool known, has_key_for(parsed, KeySet::Need::usual));
  // After the issuer rotates its keys, the copy lacks the new one, so it is fetched again.
  if (!known) COFFER_TRY_VOID(has_key_for(parsed, KeySet::Need::other_key));
  return parsed;
}

Result<auth::IdClaims> ExternalTokens::verify_id_token(std::string_view token,
                                                       std::string_view nonce, Timestamp began) {
  COFFER_TRY(const auto parsed, parse(token));
  const Lock lock(mutex_);
  return auth::verify_id_token(parsed, *keys_, expected_, nonce, began, clock_.machine_now());
}

Result<auth::ExternalClaims> ExternalTokens::verify(std::string_view token) {
  COFFER_TRY(const auto parsed, parse(token));
  const Lock lock(mutex_);
  return auth::verify_external(parsed, *keys_, expected_, clock_.machine_now());
}

}  // namespace coffer::flows
