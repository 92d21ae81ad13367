// Tokens of an external issuer: the input as a token, as a JWK set, and as header and payload (one
// line each) with a valid signature.
#include "auth/external_token.h"

#include "auth/strkey.h"
#include "base/digest.h"
#include "fuzz/property.h"

namespace coffer::fuzz {
namespace {

using namespace auth;

constexpr Timestamp kNow{1'767'225'600'000};

struct Issuer {
  SigningKey key;
  JwkSet keys;
  ExternalIssuer expected{"https://issuer.test", "coffer"};
};

Issuer make_issuer() {
  SeededRandom random(3);
  SigningKey key = *SigningKey::from_seed(generate_key_pair(random).seed_text);
  const std::string jwk = R"({"kty":"OKP","crv":"Ed25519","use":"sig","kid":"k","x":")" +
                          to_base64url(as_text(key.public_key().bytes)) + "\"}";
  auto keys = JwkSet::parse(R"({"keys":[)" + jwk + "]}");
  HOLDS(keys && keys->size() == 1);
  return {std::move(key), *std::move(keys)};
}

void check_parsed(const ExternalToken& token, std::string_view text) {
  HOLDS(text.size() <= ExternalToken::kMaxBytes && text.starts_with(token.signed_part));
  HOLDS(text[token.signed_part.size()] == '.' && !token.signature.empty());
  HOLDS(from_base64url(text.substr(token.signed_part.size() + 1)) == token.signature);
}

void check(std::string_view input) {
  static const Issuer issuer = make_issuer();
  if (const auto token = ExternalToken::parse(input)) {
    check_parsed(*token, input);
    // Fuzzer input cannot be signed without the key.
    HOLDS(!issuer.keys.verifies(*token));
    HOLDS(!verify_external(*token, issuer.keys, issuer.expected, kNow));
  }

  const auto [header, payload] = split(input, '\n');
  const std::string signed_part = to_base64url(header) + "." + to_base64url(payload);
  const Signature signature = issuer.key.sign(signed_part);
  const std::string text = signed_part + "." + to_base64url(as_text(signature));
  const auto token = ExternalToken::parse(text);
  if (token) {
    check_parsed(*token, text);
    HOLDS(token->payload == payload);
    HOLDS(!issuer.keys.has_key_for(*token) || token->algorithm == SignatureAlgorithm::eddsa);
    HOLDS(issuer.keys.verifies(*token) == issuer.keys.has_key_for(*token));
    if (const auto claims = verify_external(*token, issuer.keys, issuer.expected, kNow)) {
      HOLDS(claims->expires_at > kNow && payload.find("issuer.test") != std::string::npos);
      HOLDS(!verify_external(*token, issuer.keys, issuer.expected, claims->expires_at));
      HOLDS(!verify_external(*token, issuer.keys, {"https://other.test", "coffer"}, kNow));
      // A list may contain both.
      const bool list = payload.find('[') != std::string_view::npos;
      const ExternalIssuer other{"https://issuer.test", "other"};
      HOLDS(list || !verify_external(*token, issuer.keys, other, kNow));
    }
    if (const auto who = verify_id_token(*token, issuer.keys, issuer.expected, "n-1", kNow, kNow)) {
      HOLDS(!who->subject.empty() && payload.find("n-1") != std::string::npos);
      HOLDS(!verify_id_token(*token, issuer.keys, issuer.expected, "n-2", kNow, kNow));
      HOLDS(!verify_id_token(*token, issuer.keys, issuer.expected, "", kNow, kNow));
    }
  }
  if (const auto keys = JwkSet::parse(input); keys && token && keys->has_key_for(*token)) {
    HOLDS(keys->size() > 0);
    static_cast<void>(keys->verifies(*token));
  }
  if (const auto keys = JwkSet::parse(input); keys && keys->size() > 0) {
    for (const auto algorithm :
         {SignatureAlgorithm::rs256, SignatureAlgorithm::es256, SignatureAlgorithm::eddsa}) {
      ExternalToken unsigned_token;
      unsigned_token.algorithm = algorithm;
      unsigned_token.signed_part = "a.b";
      unsigned_token.signature = std::string(64, '\1');
      HOLDS(!keys->verifies(unsigned_token));
    }
  }
}

}  // namespace
}  // namespace coffer::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  coffer::fuzz::check(coffer::fuzz::text_of(data, size));
  return 0;
}
