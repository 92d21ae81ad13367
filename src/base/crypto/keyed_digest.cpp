#include "base/crypto/keyed_digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <string>

#include "base/check.h"

namespace coffer {
namespace {

constexpr std::size_t kBlockBytes = 64;

const EVP_MD* fetched_sha256() {
  static const EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHA2-256", nullptr);
  COFFER_CHECK(algorithm != nullptr);
  return algorithm;
}

/// The key in a block, each byte combined with `pad`.
std::string padded(std::string_view key, char pad) {
  const Sha256 hashed = key.size() > kBlockBytes ? sha256(key) : Sha256{};
  if (key.size() > kBlockBytes) key = as_text(hashed);
  std::string block(kBlockBytes, pad);
  for (std::size_t i = 0; i < key.size(); ++i) block[i] = static_cast<char>(block[i] ^ key[i]);
  return block;
}

Sha256 finish(EVP_MD_CTX* state, std::string_view first, std::string_view second) {
  Sha256 out;
  COFFER_CHECK(EVP_DigestUpdate(state, first.data(), first.size()) == 1);
  COFFER_CHECK(EVP_DigestUpdate(state, second.data(), second.size()) == 1);
  COFFER_CHECK(EVP_DigestFinal_ex(state, out.data(), nullptr) == 1);
  return out;
}

}  // namespace

void KeyedDigest::FreeState::operator()(evp_md_ctx_st* state) const { EVP_MD_CTX_free(state); }

KeyedDigest::State KeyedDigest::state_after(std::string_view block) {
  State state(EVP_MD_CTX_new());
  COFFER_CHECK(EVP_DigestInit_ex2(state.get(), fetched_sha256(), nullptr) == 1);
  COFFER_CHECK(EVP_DigestUpdate(state.get(), block.data(), block.size()) == 1);
  return state;
}

KeyedDigest::KeyedDigest(std::string_view key) {
  std::string inner = padded(key, '\x36');
  std::string outer = padded(key, '\x5c');
  inner_ = state_after(inner);
  outer_ = state_after(outer);
  OPENSSL_cleanse(inner.data(), inner.size());
  OPENSSL_cleanse(outer.data(), outer.size());
}

Sha256 KeyedDigest::of(std::string_view first, std::string_view second) const {
  thread_local const State scratch(EVP_MD_CTX_new());
  COFFER_CHECK(EVP_MD_CTX_copy_ex(scratch.get(), inner_.get()) == 1);
  const Sha256 inside = finish(scratch.get(), first, second);
  COFFER_CHECK(EVP_MD_CTX_copy_ex(scratch.get(), outer_.get()) == 1);
  return finish(scratch.get(), as_text(inside), {});
}

}  // namespace coffer
