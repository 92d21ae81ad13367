// An external issuer of tokens: signing keys of all types, their JWKs, and JWTs signed with them.
#pragma once

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/check.h"
#include "base/digest.h"

namespace coffer::test {

class IssuerKey {
 public:
  using Json = nlohmann::json;

  static IssuerKey rsa(const std::string& id, unsigned bits = 2048) {
    return {"RS256", id, EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{bits})};
  }
  static IssuerKey p256(const std::string& id) {
    return {"ES256", id, EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")};
  }
  static IssuerKey ed25519(const std::string& id) {
    return {"EdDSA", id, EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")};
  }

  const std::string& id() const { return id_; }

  Json jwk() const {
    Json out{{"kid", id_}, {"use", "sig"}, {"alg", algorithm_}};
    if (algorithm_ == "RS256") {
      out["kty"] = "RSA";
      out["n"] = number(OSSL_PKEY_PARAM_RSA_N, 0);
      out["e"] = number(OSSL_PKEY_PARAM_RSA_E, 0);
    } else if (algorithm_ == "ES256") {
      out["kty"] = "EC";
      out["crv"] = "P-256";
      out["x"] = number(OSSL_PKEY_PARAM_EC_PUB_X, 32);
      out["y"] = number(OSSL_PKEY_PARAM_EC_PUB_Y, 32);
    } else {
      std::string raw(32, '\0');
      std::size_t size = raw.size();
      COFFER_CHECK(EVP_PKEY_get_raw_public_key(key_.get(), bytes(raw), &size) == 1);
      out["kty"] = "OKP";
      out["crv"] = "Ed25519";
      out["x"] = to_base64url(raw);
    }
    return out;
  }

  Json header() const { return {{"alg", algorithm_}, {"typ", "JWT"}, {"kid", id_}}; }
  std::string token(const Json& claims) const { return token(header(), claims); }
  /// Signed according to its header, or not: the header is arbitrary.
  std::string token(const Json& header, const Json& claims) const {
    const std::string text = to_base64url(header.dump()) + "." + to_base64url(claims.dump());
    return text + "." + to_base64url(sign(text));
  }

  /// As OpenSSL signs: ES256 in DER.
  std::string sign_der(const std::string& text) const {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    const char* digest = algorithm_ == "EdDSA" ? nullptr : "SHA256";
    const auto* data = reinterpret_cast<const unsigned char*>(text.data());
    std::size_t size = 0;
    COFFER_CHECK(EVP_DigestSignInit_ex(context, nullptr, digest, nullptr, nullptr, key_.get(),
                                       nullptr) == 1);
    COFFER_CHECK(EVP_DigestSign(context, nullptr, &size, data, text.size()) == 1);
    std::string out(size, '\0');
    COFFER_CHECK(EVP_DigestSign(context, bytes(out), &size, data, text.size()) == 1);
    out.resize(size);
    EVP_MD_CTX_free(context);
    return out;
  }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  IssuerKey(std::string algorithm, std::string id, EVP_PKEY* key)
      : algorithm_(std::move(algorithm)), id_(std::move(id)), key_(key) {
    COFFER_CHECK(key_ != nullptr);
  }

  static unsigned char* bytes(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
  }

  std::string number(const char* name, int bytes_min) const {
    BIGNUM* value = nullptr;
    COFFER_CHECK(EVP_PKEY_get_bn_param(key_.get(), name, &value) == 1);
    const int size = std::max(bytes_min, BN_num_bytes(value));
    std::string raw(static_cast<std::size_t>(size), '\0');
    COFFER_CHECK(BN_bn2binpad(value, bytes(raw), size) == size);
    BN_free(value);
    return to_base64url(raw);
  }

  std::string sign(const std::string& text) const {
    const std::string out = sign_der(text);
    return algorithm_ == "ES256" ? raw_signature(out) : out;
  }

  static std::string raw_signature(const std::string& der) {
    const auto* from = reinterpret_cast<const unsigned char*>(der.data());
    ECDSA_SIG* signature = d2i_ECDSA_SIG(nullptr, &from, static_cast<long>(der.size()));
    std::string out(64, '\0');
    BN_bn2binpad(ECDSA_SIG_get0_r(signature), bytes(out), 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(signature), bytes(out) + 32, 32);
    ECDSA_SIG_free(signature);
    return out;
  }

  std::string algorithm_;
  std::string id_;
  std::unique_ptr<EVP_PKEY, Free> key_;
};

inline std::string jwk_set(std::initializer_list<const IssuerKey*> keys) {
  nlohmann::json list = nlohmann::json::array();
  for (const IssuerKey* key : keys) list.push_back(key->jwk());
  return nlohmann::json{{"keys", list}}.dump();
}

}  // namespace coffer::test
