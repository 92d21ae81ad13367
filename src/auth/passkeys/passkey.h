// Passkeys (Web Authentication, https://www.w3.org/TR/webauthn-2/): verifies what a browser sends
// when it creates a passkey and when it signs with one. Attestation is neither requested nor
// checked, because the model of an authenticator does not matter. Stores nothing; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "auth/verifying_key.h"
#include "base/result.h"

namespace coffer::auth {

/// The site for which a passkey is created.
struct RelyingParty {
  std::string id;      // a host name
  std::string origin;  // the only accepted origin, such as `https://pay.example`
};

/// Raw bytes, as the browser sent them.
struct PasskeyRegistration {
  std::string client_data;
  std::string attestation_object;
};
struct PasskeyAssertion {
  std::string credential_id;
  std::string client_data;
  std::string authenticator_data;
  std::string signature;
  std::string user_handle = {};  // empty: not sent
};

/// Attestation objects are a few hundred bytes.
inline constexpr std::size_t kPasskeyPartBytesMax = 3'072;
inline constexpr std::size_t kCredentialIdBytesMin = 16;
inline constexpr std::size_t kCredentialIdBytesMax = 1'023;

struct NewPasskey {
  std::string credential_id;
  std::string public_key;  // COSE; accepted by read_cose_key
  std::uint32_t sign_count = 0;
  std::string challenge;  // raw; the caller compares it with the one that it issued
};
/// Registering a New Credential. `validation-failed` with the reason.
Result<NewPasskey> verify_registration(const PasskeyRegistration& response,
                                       const RelyingParty& party);

struct VerifiedAssertion {
  std::uint32_t sign_count = 0;
  bool user_verified = false;  // by PIN, fingerprint or similar
  std::string challenge;       // raw; the caller compares it with the one that it issued
};
/// Verifying an Authentication Assertion, with the stored COSE key. `unauthorized`; do not include
/// its reason in the response.
Result<VerifiedAssertion> verify_assertion(const PasskeyAssertion& response,
                                           std::string_view public_key, const RelyingParty& party);

/// False if the counter suggests a cloned passkey. Authenticators without a counter send 0.
bool is_next_sign_count(std::uint32_t stored, std::uint32_t sent);

/// ES256 on P-256, EdDSA on Ed25519, and RS256 (RFC 9053). nullopt for other keys, or if bytes
/// follow the key.
std::optional<VerifyingKey> read_cose_key(std::string_view bytes);

}  // namespace coffer::auth
