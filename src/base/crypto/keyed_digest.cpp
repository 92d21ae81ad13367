#include "base/crypto/keyed_digest.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <string>

#include "base/check.h"
#include "base/crypto/openssl.h"

namespace coffer {
namespace {

EVP_MAC* fetched_hmac() {
  static EVP_MAC* algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  COFFER_CHECK(algorithm != nullptr);
  return algorithm;
}

}  // namespace

void KeyedDigest::FreeState::operator()(evp_mac_ctx_st* state) const { EVP_MAC_CTX_free(state); }

KeyedDigest::KeyedDigest(std::string_view key) : state_(EVP_MAC_CTX_new(fetched_hmac())) {
  std::string name = "SHA2-256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.data(), 0),
      OSSL_PARAM_construct_end()};
  COFFER_CHECK(state_ != nullptr);
  COFFER_CHECK(EVP_MAC_init(state_.get(), bytes_of(key), key.size(), parameters) == 1);
}

Sha256 KeyedDigest::of(std::string_view first, std::string_view second) const {
  Sha256 out;
  std::size_t size = 0;
  COFFER_CHECK(EVP_MAC_init(state_.get(), nullptr, 0, nullptr) == 1);  // with the same key
  COFFER_CHECK(EVP_MAC_update(state_.get(), bytes_of(first), first.size()) == 1);
  COFFER_CHECK(EVP_MAC_update(state_.get(), bytes_of(second), second.size()) == 1);
  COFFER_CHECK(EVP_MAC_final(state_.get(), out.data(), &size, out.size()) == 1);
  COFFER_CHECK(size == out.size());
  return out;
}

}  // namespace coffer
