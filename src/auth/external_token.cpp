#include "auth/external_token.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/digest.h"

namespace coffer::auth {
namespace {

using Json = nlohmann::json;

Unexpected rejected_token() {
  return unexpected(Slug::unauthorized, "The bearer token is not valid.");
}

/// nullptr if the member is missing or has another type.
const std::string* text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

std::optional<std::string> bytes_member(const Json& object, const char* name) {
  const std::string* text = text_member(object, name);
  return text == nullptr ? std::nullopt : from_base64url(*text);
}

std::optional<SignatureAlgorithm> parse_algorithm(std::string_view text) {
  if (text == "RS256") return SignatureAlgorithm::rs256;
  if (text == "ES256") return SignatureAlgorithm::es256;
  if (text == "EdDSA") return SignatureAlgorithm::eddsa;
  return std::nullopt;
}

std::optional<VerifyingKey> rsa_key(const Json& jwk) {
  const auto modulus = bytes_member(jwk, "n");
  const auto exponent = bytes_member(jwk, "e");
  if (!modulus || !exponent) return std::nullopt;
  return VerifyingKey::rsa(*modulus, *exponent);
}

std::optional<VerifyingKey> p256_key(const Json& jwk) {
  const std::string* curve = text_member(jwk, "crv");
  const auto x = bytes_member(jwk, "x");
  const auto y = bytes_member(jwk, "y");
  if (curve == nullptr || *curve != "P-256" || !x || !y) return std::nullopt;
  return VerifyingKey::p256(*x, *y);
}

std::optional<VerifyingKey> ed25519_key(const Json& jwk) {
  const std::string* curve = text_member(jwk, "crv");
  const auto x = bytes_member(jwk, "x");
  if (curve == nullptr || *curve != "Ed25519" || !x) return std::nullopt;
  return VerifyingKey::ed25519(*x);
}

/// Seconds since 1970 (RFC 7519 section 2), without the fraction; nullopt if missing or invalid.
std::optional<Timestamp> numeric_date(const Json& claims, const char* name) {
  const auto found = claims.find(name);
  if (found == claims.end() || !found->is_number()) return std::nullopt;
  constexpr double kMaxS = 1e12;
  const auto seconds = found->get<double>();
  if (!(seconds >= 0 && seconds <= kMaxS)) return std::nullopt;
  return Timestamp{static_cast<std::int64_t>(seconds) * 1000};
}

bool is_for(const Json& claims, const std::string& audience) {
  const auto found = claims.find("aud");
  if (found == claims.end()) return false;
  if (found->is_string()) return *found == audience;
  if (!found->is_array()) return false;
  return std::any_of(found->begin(), found->end(),
                     [&](const Json& one) { return one.is_string() && one == audience; });
}

/// False if the claim is present and is in the future or not a date.
bool has_begun(const Json& claims, const char* name, Timestamp now) {
  if (!claims.contains(name)) return true;
  const auto at = numeric_date(claims, name);
  return at && *at <= now.plus_ms(kExternalSkewMs);
}

}  // namespace

struct JwkSet::Key {
  std::string id;  // empty: none
  VerifyingKey key;

  static std::optional<Key> read(const Json& jwk);
  bool verifies(const ExternalToken& token) const;
};

std::optional<JwkSet::Key> JwkSet::Key::read(const Json& jwk) {
  if (!jwk.is_object()) return std::nullopt;
  const std::string* type = text_member(jwk, "kty");
  const std::string* use = text_member(jwk, "use");
  const std::string* algorithm = text_member(jwk, "alg");
  const std::string* id = text_member(jwk, "kid");
  if (type == nullptr || (use != nullptr && *use != "sig")) return std::nullopt;
  std::optional<VerifyingKey> key;
  if (*type == "RSA") {
    key = rsa_key(jwk);
  } else if (*type == "EC") {
    key = p256_key(jwk);
  } else if (*type == "OKP") {
    key = ed25519_key(jwk);
  }
  if (!key) return std::nullopt;
  const bool for_other = algorithm != nullptr && parse_algorithm(*algorithm) != key->algorithm();
  if (for_other) return std::nullopt;
  return Key{id == nullptr ? std::string() : *id, *std::move(key)};
}

bool JwkSet::Key::verifies(const ExternalToken& token) const {
  // JWS concatenates the two numbers of a signature (RFC 7518 section 3.4).
  const bool is_raw = key.algorithm() == SignatureAlgorithm::es256;
  return key.verifies(token.signed_part, is_raw ? ecdsa_der(token.signature) : token.signature);
}

JwkSet::JwkSet() = default;
JwkSet::JwkSet(JwkSet&&) noexcept = default;
JwkSet& JwkSet::operator=(JwkSet&&) noexcept = default;
JwkSet::~JwkSet() = default;

Result<JwkSet> JwkSet::parse(std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  const auto keys = document.is_object() ? document.find("keys") : document.end();
  if (!document.is_object() || keys == document.end() || !keys->is_array()) {
    return unexpected(Slug::validation_failed,
                      "This is not a JWK set, which is an object with a list `keys`.");
  }
  JwkSet out;
  for (const Json& jwk : *keys) {
    if (auto key = Key::read(jwk)) out.keys_.push_back(*std::move(key));
  }
  return out;
}

std::size_t JwkSet::size() const { return keys_.size(); }

std::vector<const JwkSet::Key*> JwkSet::keys_for(const ExternalToken& token) const {
  std::vector<const Key*> out;
  for (const Key& key : keys_) {
    const bool named = !token.key_id || key.id == *token.key_id;
    if (named && key.key.algorithm() == token.algorithm) out.push_back(&key);
  }
  return out;
}

bool JwkSet::has_key_for(const ExternalToken& token) const { return !keys_for(token).empty(); }

bool JwkSet::verifies(const ExternalToken& token) const {
  const auto keys = keys_for(token);
  return std::ranges::any_of(keys, [&](const Key* key) { return key->verifies(token); });
}

Result<ExternalToken> ExternalToken::parse(std::string_view token) {
  if (token.size() > kMaxBytes) return rejected_token();
  const auto first = token.find('.');
  const auto last = token.rfind('.');
  if (first == std::string_view::npos || token.find('.', first + 1) != last || first == last) {
    return rejected_token();
  }
  const auto header_text = from_base64url(token.substr(0, first));
  auto payload = from_base64url(token.substr(first + 1, last - first - 1));
  auto signature = from_base64url(token.substr(last + 1));
  if (!header_text || !payload || !signature || signature->empty()) return rejected_token();
  const Json header = Json::parse(*header_text, nullptr, false);
  if (!header.is_object() || header.contains("crit")) return rejected_token();
  const std::string* name = text_member(header, "alg");
  const auto algorithm = name == nullptr ? std::nullopt : parse_algorithm(*name);
  if (!algorithm) return rejected_token();
  ExternalToken out;
  out.algorithm = *algorithm;
  if (header.contains("kid")) {
    const std::string* key_id = text_member(header, "kid");
    if (key_id == nullptr) return rejected_token();
    out.key_id = *key_id;
  }
  out.signed_part = token.substr(0, last);
  out.payload = *std::move(payload);
  out.signature = *std::move(signature);
  return out;
}

namespace {

struct CheckedClaims {
  Json claims;
  Timestamp expires_at;  // including the permitted clock skew
};

/// The checks that access tokens and ID tokens share.
Result<CheckedClaims> check_claims(const ExternalToken& token, const JwkSet& keys,
                                   const ExternalIssuer& expected, Timestamp now) {
  if (!keys.verifies(token)) return rejected_token();
  CheckedClaims out{Json::parse(token.payload, nullptr, false), {}};
  if (!out.claims.is_object()) return rejected_token();
  const std::string* issuer = text_member(out.claims, "iss");
  if (issuer == nullptr || *issuer != expected.issuer || !is_for(out.claims, expected.audience)) {
    return unexpected(Slug::unauthorized,
                      "The issuer or audience of the bearer token is not accepted.");
  }
  const auto expires_at = numeric_date(out.claims, "exp");
  if (!expires_at) return rejected_token();
  if (!has_begun(out.claims, "nbf", now) || !has_begun(out.claims, "iat", now)) {
    return unexpected(Slug::unauthorized, "The bearer token is not valid yet.");
  }
  out.expires_at = expires_at->plus_ms(kExternalSkewMs);
  if (now >= out.expires_at) {
    return unexpected(Slug::token_expired, "The bearer token has expired.");
  }
  return out;
}

}  // namespace

Result<ExternalClaims> verify_external(const ExternalToken& token, const JwkSet& keys,
                                       const ExternalIssuer& expected, Timestamp now) {
  COFFER_TRY(const auto checked, check_claims(token, keys, expected, now));
  const std::string* client = text_member(checked.claims, "azp");
  if (client == nullptr) client = text_member(checked.claims, "client_id");
  if (client == nullptr) {
    return unexpected(
        Slug::unauthorized,
        "The bearer token does not identify an application. It must have the claim `azp` or "
        "`client_id`.");
  }
  return ExternalClaims{*client, checked.expires_at};
}

Result<IdClaims> verify_id_token(const ExternalToken& token, const JwkSet& keys,
                                 const ExternalIssuer& expected, std::string_view nonce,
                                 Timestamp began, Timestamp now) {
  COFFER_TRY(const auto checked, check_claims(token, keys, expected, now));
  const Json& claims = checked.claims;
  const auto wrong = [](const char* why) { return unexpected(Slug::unauthorized, why); };
  const bool several = claims.at("aud").is_array() && claims.at("aud").size() > 1;
  const std::string* party = text_member(claims, "azp");
  if (claims.contains("azp") ? party == nullptr || *party != expected.audience : several) {
    return wrong("The ID token is for another client.");
  }
  if (!numeric_date(claims, "iat")) return wrong("The ID token has no valid iat.");
  const std::string* sent = text_member(claims, "nonce");
  if (sent == nullptr || nonce.empty() || !equal_constant_time(*sent, nonce)) {
    return wrong("The nonce of the ID token does not match this sign-in.");
  }
  const auto authenticated_at = numeric_date(claims, "auth_time");
  if (!authenticated_at) {
    return wrong("The ID token has no valid auth_time. Configure the provider to send it.");
  }
  const bool is_fresh = authenticated_at->plus_ms(kExternalSkewMs) >= began;
  if (!is_fresh || !has_begun(claims, "auth_time", now)) {
    return wrong("The provider did not ask for the sign-in again: auth_time is of another time.");
  }
  constexpr std::size_t kSubjectBytesMax = 255;
  const std::string* subject = text_member(claims, "sub");
  if (subject == nullptr || subject->empty() || subject->size() > kSubjectBytesMax) {
    return wrong("The ID token has no valid sub.");
  }
  const std::string* email = text_member(claims, "email");
  return IdClaims{*subject, email == nullptr ? std::string() : *email};
}

}  // namespace coffer::auth
