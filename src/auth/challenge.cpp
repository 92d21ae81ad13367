#include "auth/challenge.h"

#include "auth/xdr.h"
#include "base/digest.h"

namespace coffer::auth {
namespace {

constexpr std::size_t kNonceBytes = 48;
constexpr std::uint32_t kFee = 100;  // stroops per operation, the minimum; never paid
constexpr std::string_view kWebAuthDomain = "web_auth_domain";

Unexpected rejected(const char* detail) { return unexpected(Slug::invalid_challenge, detail); }

std::string entry_name(const ChallengeDomains& domains) { return domains.home + " auth"; }

/// The first operation: the account that must sign, the home domain, and the nonce.
Result<void> check_first(const ManageData& first, const ChallengeDomains& domains) {
  if (first.name != entry_name(domains)) {
    return rejected("The first operation names a different home domain.");
  }
  const auto nonce = from_base64(first.value);
  if (!nonce || nonce->size() != kNonceBytes) {
    return rejected("The first operation does not contain a nonce of 48 bytes in base64.");
  }
  return {};
}

Result<void> check_others(const Transaction& transaction, const PublicKey& server,
                          const ChallengeDomains& domains) {
  bool names_us = false;
  for (std::size_t i = 1; i < transaction.operations.size(); ++i) {
    const ManageData& operation = transaction.operations[i];
    if (operation.source != server) {
      return rejected("The source of an operation after the first is not the server.");
    }
    if (operation.name != kWebAuthDomain) continue;
    if (operation.value != domains.web_auth) {
      return rejected("The challenge was created for a different web_auth_domain.");
    }
    names_us = true;
  }
  if (!names_us) return rejected("The operation web_auth_domain is missing.");
  return {};
}

Result<void> check_content(const Transaction& transaction, const PublicKey& server,
                           const ChallengeDomains& domains) {
  if (transaction.source != server) {
    return rejected("The source of the transaction is not the signing key of this server.");
  }
  if (transaction.sequence != 0) return rejected("The sequence number is not 0.");
  if (transaction.operations.empty()) return rejected("The transaction has no operation.");
  COFFER_TRY_VOID(check_first(transaction.operations.front(), domains));
  if (transaction.operations.front().source == server) {
    return rejected("The source of the first operation is the server, but must be the client.");
  }
  return check_others(transaction, server, domains);
}

Result<void> check_time(const Transaction& transaction, Timestamp now) {
  const auto now_s = static_cast<std::uint64_t>(now.ms / 1000);
  constexpr std::uint64_t kMaxS = INT64_MAX / 1000 - 1;
  if (transaction.max_time_s == 0 || transaction.max_time_s > kMaxS) {
    return rejected("The time bounds of the challenge have no end.");
  }
  if (now_s < transaction.min_time_s) return rejected("The challenge is not valid yet.");
  if (now_s > transaction.max_time_s) {
    return rejected("The challenge has expired. Request a new one.");
  }
  return {};
}

}  // namespace

ChallengeServer::ChallengeServer(SigningKey key, std::string network_passphrase)
    : key_(std::move(key)),
      network_passphrase_(std::move(network_passphrase)),
      network_id_(as_text(sha256(network_passphrase_))) {}

/// TransactionSignaturePayload: network, envelope type, transaction.
Sha256 ChallengeServer::hash_of(std::string_view transaction_xdr) const {
  return sha256(
      std::string(network_id_).append(to_big_endian(kEnvelopeTypeTx, 4)).append(transaction_xdr));
}

std::string ChallengeServer::issue(const PublicKey& client, const ChallengeDomains& domains,
                                   Random& random, Timestamp now, std::int64_t behind_ms) const {
  Transaction transaction;
  transaction.source = public_key();
  transaction.min_time_s = static_cast<std::uint64_t>((now.ms - behind_ms) / 1000);
  transaction.max_time_s = static_cast<std::uint64_t>(now.ms / 1000) + kLifetimeS;
  transaction.operations = {
      {client, entry_name(domains), to_base64(random.bytes(kNonceBytes))},
      {public_key(), std::string(kWebAuthDomain), domains.web_auth},
  };
  transaction.fee = kFee * static_cast<std::uint32_t>(transaction.operations.size());
  const std::string xdr = write_transaction(transaction);
  const Signature signature = key_.sign(as_text(hash_of(xdr)));
  return to_base64(write_envelope(xdr, {{hint_of(public_key()), std::string(as_text(signature))}}));
}

Result<SignedChallenge> ChallengeServer::verify(std::string_view transaction,
                                                const ChallengeDomains& domains,
                                                Timestamp now) const {
  if (transaction.size() > kChallengeBytesMax)
    return rejected("The challenge is larger than 50 KB.");
  const auto xdr = from_base64(transaction);
  const auto envelope = xdr ? read_envelope(*xdr) : std::nullopt;
  if (!envelope) {
    return rejected(
        "This is not the base64 XDR of a challenge: a version 1 envelope with time "
        "bounds, no memo, and only manageData operations.");
  }
  COFFER_TRY_VOID(check_content(envelope->transaction, public_key(), domains));
  COFFER_TRY_VOID(check_time(envelope->transaction, now));

  SignedChallenge out;
  out.client = envelope->transaction.operations.front().source;
  out.hash = hash_of(envelope->transaction_xdr);
  out.expires_at = {static_cast<std::int64_t>(envelope->transaction.max_time_s + 1) * 1000};
  // Ed25519 is deterministic, so the server's signature is computed again and compared. That takes
  // half the time of verifying it, and accepts no variant of it.
  const Signature own = key_.sign(as_text(out.hash));
  bool by_server = false, by_client = false;
  for (const DecoratedSignature& signature : envelope->signatures) {
    if (!by_server && signature.hint == hint_of(public_key()) &&
        equal_constant_time(as_text(own), signature.signature)) {
      by_server = true;
    } else if (!by_client && signature.hint == hint_of(out.client) &&
               auth::verify(out.client, as_text(out.hash), signature.signature)) {
      by_client = true;
    } else {
      return rejected("A signature is not from the server or the client, or is repeated.");
    }
  }
  if (!by_server) return rejected("The signature of this server is missing.");
  if (!by_client) {
    return rejected(
        "The signature of the client is missing. Sign the challenge with the key of the requested "
        "account and the network passphrase from the response.");
  }
  return out;
}

}  // namespace coffer::auth
