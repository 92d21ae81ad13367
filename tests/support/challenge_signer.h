// The client's side of a challenge login: signs the server's challenge, or another one.
#pragma once

#include <string>
#include <string_view>

#include "auth/strkey.h"
#include "auth/xdr.h"
#include "base/check.h"
#include "base/digest.h"

namespace coffer::test {

/// The signed content: TransactionSignaturePayload of the protocol.
inline std::string signature_payload(std::string_view transaction_xdr,
                                     std::string_view passphrase) {
  std::string payload(as_text(sha256(passphrase)));
  payload.append("\0\0\0\2", 4).append(transaction_xdr);
  return std::string(as_text(sha256(payload)));
}

inline auth::DecoratedSignature decorated_signature(const auth::SigningKey& key,
                                                    std::string_view transaction_xdr,
                                                    std::string_view passphrase) {
  const auth::Signature signature = key.sign(signature_payload(transaction_xdr, passphrase));
  return {auth::hint_of(key.public_key()), std::string(as_text(signature))};
}

inline auth::SigningKey key_of(const std::string& seed) {
  return auth::SigningKey::from_seed(Secret(seed)).value();
}

inline auth::Envelope envelope_of(const std::string& transaction) {
  const auto envelope = auth::read_envelope(from_base64(transaction).value());
  if (!envelope) throw InternalError("no envelope: " + transaction);
  return *envelope;
}

/// The challenge with an additional signature.
inline std::string sign_challenge(const std::string& transaction, const std::string& passphrase,
                                  const std::string& seed) {
  auth::Envelope envelope = envelope_of(transaction);
  envelope.signatures.push_back(
      decorated_signature(key_of(seed), envelope.transaction_xdr, passphrase));
  return to_base64(auth::write_envelope(envelope.transaction_xdr, envelope.signatures));
}

}  // namespace coffer::test
