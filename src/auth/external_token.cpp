#include "auth/external_token.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/digest.h"

namespace coffer::auth {
namespace {

using Json = nlohmann::json;

constexpr int kRsaBitsMin = 2048;
constexpr std::size_t kCoordinateBytes = 32;

Unexpected refused() { return unexpected(Slug::unauthorized, "The bearer token is not valid."); }

template <class T, void (*kFree)(T*)>
struct Freed {
  void operator()(T* object) const { kFree(object); }
};
using PublicKeyHandle = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX, EVP_MD_CTX_free>>;
using Builder = std::unique_ptr<OSSL_PARAM_BLD, Freed<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, Freed<OSSL_PARAM, OSSL_PARAM_free>>;
using Number = std::unique_ptr<BIGNUM, Freed<BIGNUM, BN_free>>;
using EcdsaSignature = std::unique_ptr<ECDSA_SIG, Freed<ECDSA_SIG, ECDSA_SIG_free>>;

const unsigned char* in(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// nullptr when the member is missing or of another type.
const std::string* text_member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

std::optional<std::string> bytes_member(const Json& object, const char* name) {
  const std::string* text = text_member(object, name);
  return text == nullptr ? std::nullopt : from_base64url(*text);
}

std::optional<JwsAlgorithm> parse_algorithm(std::string_view text) {
  if (text == "RS256") return JwsAlgorithm::rs256;
  if (text == "ES256") return JwsAlgorithm::es256;
  if (text == "EdDSA") return JwsAlgorithm::eddsa;
  return std::nullopt;
}

Number big_number(std::string_view bytes) {
  return Number(BN_bin2bn(in(bytes), static_cast<int>(bytes.size()), nullptr));
}

PublicKeyHandle key_from(const char* type, OSSL_PARAM_BLD* builder) {
  const Params params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  COFFER_CHECK(params && context && EVP_PKEY_fromdata_init(context.get()) == 1);
  EVP_PKEY* key = nullptr;
  if (EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1)
    return nullptr;
  return PublicKeyHandle(key);
}

PublicKeyHandle rsa_key(const Json& jwk) {
  const auto modulus = bytes_member(jwk, "n");
  const auto exponent = bytes_member(jwk, "e");
  if (!modulus || !exponent || modulus->size() > 1024 || exponent->size() > 8) return nullptr;
  const Number n = big_number(*modulus), e = big_number(*exponent);
  if (BN_num_bits(n.get()) < kRsaBitsMin || !BN_is_odd(e.get()) || BN_is_one(e.get()))
    return nullptr;
  const Builder builder(OSSL_PARAM_BLD_new());
  COFFER_CHECK(OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) == 1);
  COFFER_CHECK(OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) == 1);
  return key_from("RSA", builder.get());
}

PublicKeyHandle p256_key(const Json& jwk) {
  const std::string* curve = text_member(jwk, "crv");
  const auto x = bytes_member(jwk, "x");
  const auto y = bytes_member(jwk, "y");
  if (curve == nullptr || *curve != "P-256" || !x || !y) return nullptr;
  if (x->size() != kCoordinateBytes || y->size() != kCoordinateBytes) return nullptr;
  const std::string point = "\x04" + *x + *y;
  const Builder builder(OSSL_PARAM_BLD_new());
  COFFER_CHECK(OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME,
                                               "prime256v1", 0) == 1);
  COFFER_CHECK(OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                                point.data(), point.size()) == 1);
  return key_from("EC", builder.get());
}

PublicKeyHandle ed25519_key(const Json& jwk) {
  const std::string* curve = text_member(jwk, "crv");
  const auto x = bytes_member(jwk, "x");
  if (curve == nullptr || *curve != "Ed25519" || !x || x->size() != kCoordinateBytes)
    return nullptr;
  return PublicKeyHandle(
      EVP_PKEY_new_raw_public_key_ex(nullptr, "ED25519", nullptr, in(*x), x->size()));
}

/// JWS has the two numbers of a signature side by side (RFC 7518 section 3.4), OpenSSL wants DER.
std::string der_signature(std::string_view raw) {
  if (raw.size() != 2 * kCoordinateBytes) return {};
  const EcdsaSignature signature(ECDSA_SIG_new());
  Number r = big_number(raw.substr(0, kCoordinateBytes));
  Number s = big_number(raw.substr(kCoordinateBytes));
  COFFER_CHECK(ECDSA_SIG_set0(signature.get(), r.release(), s.release()) == 1);
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  COFFER_CHECK(size > 0);
  std::string out(static_cast<std::size_t>(size), '\0');
  auto* end = reinterpret_cast<unsigned char*>(out.data());
  COFFER_CHECK(i2d_ECDSA_SIG(signature.get(), &end) == size);
  return out;
}

/// Seconds since 1970 (RFC 7519 section 2), a fraction cut off; nullopt when missing or misshapen.
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

/// False for a claim that is there and lies in the future, or is no date.
bool has_begun(const Json& claims, const char* name, Timestamp now) {
  if (!claims.contains(name)) return true;
  const auto at = numeric_date(claims, name);
  return at && *at <= now.plus_ms(kExternalSkewMs);
}

}  // namespace

struct JwkSet::Key {
  std::string id;  // empty: none
  JwsAlgorithm algorithm = JwsAlgorithm::rs256;
  PublicKeyHandle handle;

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
  Key key;
  if (id != nullptr) key.id = *id;
  if (*type == "RSA") {
    key.algorithm = JwsAlgorithm::rs256;
    key.handle = rsa_key(jwk);
  } else if (*type == "EC") {
    key.algorithm = JwsAlgorithm::es256;
    key.handle = p256_key(jwk);
  } else if (*type == "OKP") {
    key.algorithm = JwsAlgorithm::eddsa;
    key.handle = ed25519_key(jwk);
  }
  const bool for_other = algorithm != nullptr && parse_algorithm(*algorithm) != key.algorithm;
  if (!key.handle || for_other) return std::nullopt;
  return key;
}

bool JwkSet::Key::verifies(const ExternalToken& token) const {
  const std::string signature =
      algorithm == JwsAlgorithm::es256 ? der_signature(token.signature) : token.signature;
  // Ed25519 includes the hash.
  const char* digest = algorithm == JwsAlgorithm::eddsa ? nullptr : "SHA256";
  const DigestContext context(EVP_MD_CTX_new());
  COFFER_CHECK(EVP_DigestVerifyInit_ex(context.get(), nullptr, digest, nullptr, nullptr,
                                       handle.get(), nullptr) == 1);
  return EVP_DigestVerify(context.get(), in(signature), signature.size(), in(token.signed_part),
                          token.signed_part.size()) == 1;
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
    if (named && key.algorithm == token.algorithm) out.push_back(&key);
  }
  return out;
}

bool JwkSet::has_key_for(const ExternalToken& token) const { return !keys_for(token).empty(); }

bool JwkSet::verifies(const ExternalToken& token) const {
  const auto keys = keys_for(token);
  return std::any_of(keys.begin(), keys.end(),
                     [&](const Key* key) { return key->verifies(token); });
}

Result<ExternalToken> ExternalToken::parse(std::string_view token) {
  if (token.size() > kMaxBytes) return refused();
  const auto first = token.find('.');
  const auto last = token.rfind('.');
  if (first == std::string_view::npos || token.find('.', first + 1) != last || first == last) {
    return refused();
  }
  const auto header_text = from_base64url(token.substr(0, first));
  auto payload = from_base64url(token.substr(first + 1, last - first - 1));
  auto signature = from_base64url(token.substr(last + 1));
  if (!header_text || !payload || !signature || signature->empty()) return refused();
  const Json header = Json::parse(*header_text, nullptr, false);
  if (!header.is_object() || header.contains("crit")) return refused();
  const std::string* name = text_member(header, "alg");
  const auto algorithm = name == nullptr ? std::nullopt : parse_algorithm(*name);
  if (!algorithm) return refused();
  ExternalToken out;
  out.algorithm = *algorithm;
  if (header.contains("kid")) {
    const std::string* key_id = text_member(header, "kid");
    if (key_id == nullptr) return refused();
    out.key_id = *key_id;
  }
  out.signed_part = token.substr(0, last);
  out.payload = *std::move(payload);
  out.signature = *std::move(signature);
  return out;
}

Result<ExternalClaims> verify_external(const ExternalToken& token, const JwkSet& keys,
                                       const ExternalIssuer& expected, Timestamp now) {
  if (!keys.verifies(token)) return refused();
  const Json claims = Json::parse(token.payload, nullptr, false);
  if (!claims.is_object()) return refused();
  const std::string* issuer = text_member(claims, "iss");
  if (issuer == nullptr || *issuer != expected.issuer || !is_for(claims, expected.audience)) {
    return unexpected(Slug::unauthorized,
                      "The issuer or audience of the bearer token is not accepted.");
  }
  const auto expires_at = numeric_date(claims, "exp");
  if (!expires_at) return refused();
  if (!has_begun(claims, "nbf", now) || !has_begun(claims, "iat", now)) {
    return unexpected(Slug::unauthorized, "The bearer token is not valid yet.");
  }
  ExternalClaims out;
  out.expires_at = expires_at->plus_ms(kExternalSkewMs);
  if (now >= out.expires_at) {
    return unexpected(Slug::token_expired, "The bearer token has expired.");
  }
  const std::string* client = text_member(claims, "azp");
  if (client == nullptr) client = text_member(claims, "client_id");
  if (client == nullptr) {
    return unexpected(Slug::unauthorized,
                      "The bearer token names no application (azp, client_id).");
  }
  out.client_id = *client;
  return out;
}

}  // namespace coffer::auth
