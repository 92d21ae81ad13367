// Challenge login: SEP-10, "Stellar Web Authentication" (docs/contract.md#challenge-login).
//
// The server stores no challenge that it issues. A challenge is a transaction that no ledger can
// accept (its sequence number is 0). It states the account that must sign (source of the first
// operation), the domains (home domain and web_auth_domain) and the validity (time bounds),
// contains 48 random bytes, and is signed by the server. That signature later proves that the
// server issued it. Requests for challenges therefore cost no write and cannot fill the disk.
//
// A response must have exactly two signatures: the server's, and one of the client's master key.
// Two attacks are prevented here and in flows/identity/login:
//   - Replay. The hash of an accepted challenge is stored until its time bounds have passed. The
//     hash does not cover the signatures, so signing the challenge again does not change it.
//   - A man in the middle who obtains a client's signature. The client compares the home domain and
//     the web_auth_domain with the site that it wants to reach. Both are therefore signed, and come
//     from the settings, never from the request's Host header.
//
// The content is checked too, although the server's signature already proves that the server
// created it: a later version may sign other transactions with the same key.
//
// Every rejection is `invalid-challenge` (400). Its detail states the broken rule, because the
// readers are integrators; it does not help to forge a signature.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "auth/strkey.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/random.h"
#include "base/result.h"

namespace coffer::auth {

/// Maximum length of a home domain: with " auth" appended, it must fit into the name of a data
/// entry.
inline constexpr std::size_t kHomeDomainBytesMax = 59;
inline constexpr std::size_t kWebAuthDomainBytesMax = 64;
/// Maximum length of a challenge.
inline constexpr std::size_t kChallengeBytesMax = 50 * 1024;

/// The domains in a challenge. Both may include a port.
struct ChallengeDomains {
  std::string home;
  std::string web_auth;
};

/// A challenge with valid signatures. The caller checks whether it was used before.
struct SignedChallenge {
  PublicKey client;
  Sha256 hash{};         // of the signed content, without the signatures
  Timestamp expires_at;  // end of the time bounds
};

/// Immutable after construction; safe from any thread.
class ChallengeServer {
 public:
  static constexpr std::int64_t kLifetimeS = 900;

  ChallengeServer(SigningKey key, std::string network_passphrase);

  const PublicKey& public_key() const { return key_.public_key(); }
  const std::string& network_passphrase() const { return network_passphrase_; }

  /// Base64 of a TransactionEnvelope for `client` to sign. `behind_ms` is how far the clock of a
  /// client, which also checks the time bounds, may be behind `now`.
  std::string issue(const PublicKey& client, const ChallengeDomains& domains, Random& random,
                    Timestamp now, std::int64_t behind_ms = 0) const;
  /// `invalid-challenge` unless `transaction` is a challenge of this server for these domains,
  /// within its time bounds, and signed by this server and by the client for which it was issued.
  Result<SignedChallenge> verify(std::string_view transaction, const ChallengeDomains& domains,
                                 Timestamp now) const;

 private:
  Sha256 hash_of(std::string_view transaction_xdr) const;

  SigningKey key_;
  std::string network_passphrase_;
  std::string network_id_;
};

}  // namespace coffer::auth
