// Challenge login: SEP-10, "Stellar Web Authentication" (docs/contract.md#challenge-login).
//
// The server proves nothing and stores nothing: it hands out a transaction that could never reach a
// ledger (its sequence number is 0), names in it who should sign (source of the first operation),
// for whom (the home domain and the web_auth_domain), and until when (time bounds), adds 48 random
// bytes, and signs. Its own signature is its memory: whatever comes back with that signature on it
// is what was handed out, so asking for challenges costs no write and cannot fill a disk.
//
// What comes back has to carry that signature and one of the client's master key, and nothing else.
// Two things could go wrong at that point, and both are closed here and in flows/identity/login:
//   - A challenge used twice. The hash of an accepted one is stored until its time bounds have
//   passed;
//     the hash leaves the signatures out, so signing it again does not make it another.
//   - A signature lured out of a client by someone in the middle. The client checks the home domain
//   and
//     the web_auth_domain against where it thinks it is; that is why both are signed, and why the
//     domains are settings and never taken from the request's Host header.
//
// Everything but the signatures is checked as well, though the server's signature already says that
// it made the transaction: a key that signs one kind of thing today may sign two next year.
//
// Every refusal is `invalid-challenge` (400). Its detail says which rule was broken, because the
// caller is an integrator at work; nothing of it helps to forge a signature.
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

/// Longest home domain: with " auth" behind it, it has to fit into the name of a data entry.
inline constexpr std::size_t kHomeDomainBytesMax = 59;
inline constexpr std::size_t kWebAuthDomainBytesMax = 64;
/// Maximum length of a challenge.
inline constexpr std::size_t kChallengeBytesMax = 50 * 1024;

/// The names in a challenge. Both may carry a port.
struct ChallengeDomains {
  std::string home;
  std::string web_auth;
};

/// A challenge that was signed as it has to be. Whether it was used before is the caller's to see.
struct SignedChallenge {
  PublicKey client;
  Sha256 hash{};         // of what was signed: one per challenge, however often it is signed
  Timestamp expires_at;  // from here on its time bounds are over
};

/// Immutable after construction; safe from any thread.
class ChallengeServer {
 public:
  static constexpr std::int64_t kLifetimeS = 900;

  ChallengeServer(SigningKey key, std::string network_passphrase);

  const PublicKey& public_key() const { return key_.public_key(); }
  const std::string& network_passphrase() const { return network_passphrase_; }

  /// Base64 of a TransactionEnvelope for `client` to sign. `behind_ms`: how far a client's clock,
  /// which judges the time bounds too, may be behind `now`.
  std::string issue(const PublicKey& client, const ChallengeDomains& domains, Random& random,
                    Timestamp now, std::int64_t behind_ms = 0) const;
  /// `invalid-challenge` for everything that is not a challenge of this server for these domains,
  /// signed by this server and by the client it was made for, within its time bounds.
  Result<SignedChallenge> verify(std::string_view transaction, const ChallengeDomains& domains,
                                 Timestamp now) const;

 private:
  Sha256 hash_of(std::string_view transaction_xdr) const;

  SigningKey key_;
  std::string network_passphrase_;
  std::string network_id_;
};

}  // namespace coffer::auth
