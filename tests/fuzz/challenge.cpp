// A signed challenge: XDR has one interpretation, and a transaction with both signatures passes if
// and only if it is a challenge of this server.
#include "auth/challenge.h"

#include "auth/xdr.h"
#include "base/digest.h"
#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

using namespace auth;

const ChallengeDomains kDomains{"coffer.test", "auth.coffer.test"};
constexpr std::string_view kPassphrase = "Test SDF Network ; September 2015";
constexpr Timestamp kNow{1'767'225'600'000};

SigningKey key_from(std::uint64_t number) {
  SeededRandom random(number);
  return *SigningKey::from_seed(generate_key_pair(random).seed_text);
}

/// A second implementation of the rules of SEP-10.
bool is_challenge(const Transaction& transaction, const PublicKey& server) {
  const auto now_s = static_cast<std::uint64_t>(kNow.ms / 1000);
  const auto& operations = transaction.operations;
  if (transaction.source != server || transaction.sequence != 0 || operations.empty()) return false;
  if (transaction.min_time_s > now_s || transaction.max_time_s < now_s) return false;
  if (transaction.max_time_s > INT64_MAX / 1000 - 1) return false;
  const auto nonce = from_base64(operations[0].value);
  if (operations[0].name != "coffer.test auth" || !nonce || nonce->size() != 48) return false;
  bool names_us = false;
  for (std::size_t i = 1; i < operations.size(); ++i) {
    if (operations[i].source != server) return false;
    if (operations[i].name != "web_auth_domain") continue;
    if (operations[i].value != kDomains.web_auth) return false;
    names_us = true;
  }
  return names_us;
}

void check_signed(const ChallengeServer& server, const SigningKey& server_key,
                  const SigningKey& client_key, Transaction transaction) {
  if (!transaction.operations.empty()) transaction.operations[0].source = client_key.public_key();
  transaction.source = server_key.public_key();
  const std::string xdr = write_transaction(transaction);
  const std::string payload =
      std::string(as_text(sha256(kPassphrase))).append(std::string_view("\0\0\0\2", 4)).append(xdr);
  const Sha256 hash = sha256(payload);
  std::vector<DecoratedSignature> signatures;
  for (const SigningKey* key : {&server_key, &client_key}) {
    const Signature signature = key->sign(as_text(hash));
    signatures.push_back({hint_of(key->public_key()), std::string(as_text(signature))});
  }
  const auto both = server.verify(to_base64(write_envelope(xdr, signatures)), kDomains, kNow);
  HOLDS(both.has_value() == is_challenge(transaction, server_key.public_key()));
  HOLDS(!both || (both->client == client_key.public_key() && both->hash == hash));
  signatures.pop_back();
  HOLDS(!server.verify(to_base64(write_envelope(xdr, signatures)), kDomains, kNow));
}

void check(std::string_view text) {
  static const SigningKey server_key = key_from(1), client_key = key_from(2);
  static const ChallengeServer server(key_from(1), std::string(kPassphrase));
  // Fuzzer input cannot have this server's signature.
  const auto raw = server.verify(text, kDomains, kNow);
  HOLDS(!raw && raw.error().slug == Slug::invalid_challenge);
  const auto envelope = read_envelope(text);
  HOLDS(!server.verify(to_base64(text), kDomains, kNow));
  if (!envelope) return;
  HOLDS(write_transaction(envelope->transaction) == envelope->transaction_xdr);
  HOLDS(write_envelope(envelope->transaction_xdr, envelope->signatures) == text);
  check_signed(server, server_key, client_key, envelope->transaction);
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
