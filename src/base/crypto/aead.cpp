#include "base/crypto/aead.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "base/crypto/openssl.h"

namespace coffer {
namespace {

// EVP takes lengths as int.
constexpr std::size_t kMaxPlaintextBytes = 1 << 20;

using CipherContext = Owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;

/// Fetched once, because an implicit fetch per call takes longer than sealing a short value.
const EVP_CIPHER* aes_256_gcm() {
  static const EVP_CIPHER* algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  COFFER_CHECK(algorithm != nullptr);
  return algorithm;
}

/// With the key, the nonce and the context.
CipherContext keyed_cipher(std::string_view key, std::string_view nonce, std::string_view context,
                           bool encrypts) {
  COFFER_CHECK(key.size() == kAeadKeyBytes && nonce.size() == kAeadNonceBytes);
  COFFER_CHECK(context.size() <= kMaxPlaintextBytes);
  CipherContext cipher(EVP_CIPHER_CTX_new());
  int length = 0;
  COFFER_CHECK(EVP_CipherInit_ex2(cipher.get(), aes_256_gcm(), bytes_of(key), bytes_of(nonce),
                                  encrypts ? 1 : 0, nullptr) == 1);
  COFFER_CHECK(EVP_CipherUpdate(cipher.get(), nullptr, &length, bytes_of(context),
                                static_cast<int>(context.size())) == 1);
  return cipher;
}

}  // namespace

std::string encrypted(std::string_view key, std::string_view nonce, std::string_view plaintext,
                      std::string_view context) {
  COFFER_CHECK(plaintext.size() <= kMaxPlaintextBytes);
  const CipherContext cipher = keyed_cipher(key, nonce, context, true);
  std::string out(nonce);
  const std::size_t end = kAeadNonceBytes + plaintext.size();
  out.resize(end + kAeadTagBytes);
  int length = 0;
  COFFER_CHECK(EVP_EncryptUpdate(cipher.get(), writable_bytes_of(out, kAeadNonceBytes), &length,
                                 bytes_of(plaintext), static_cast<int>(plaintext.size())) == 1);
  COFFER_CHECK(EVP_EncryptFinal_ex(cipher.get(), writable_bytes_of(out, end), &length) == 1);
  COFFER_CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kAeadTagBytes,
                                   writable_bytes_of(out, end)) == 1);
  return out;
}

std::optional<std::string> decrypted(std::string_view key, std::string_view sealed,
                                     std::string_view context) {
  constexpr std::size_t kOwnBytes = kAeadNonceBytes + kAeadTagBytes;
  if (sealed.size() < kOwnBytes || sealed.size() > kOwnBytes + kMaxPlaintextBytes) return {};
  const std::size_t size = sealed.size() - kOwnBytes;
  const CipherContext cipher = keyed_cipher(key, sealed.substr(0, kAeadNonceBytes), context, false);
  std::string tag(sealed.substr(kAeadNonceBytes + size));
  // One byte more, because EVP requires a buffer even for an empty value.
  std::string plaintext(size + 1, '\0');
  int length = 0;
  COFFER_CHECK(EVP_DecryptUpdate(cipher.get(), writable_bytes_of(plaintext), &length,
                                 bytes_of(sealed.substr(kAeadNonceBytes)),
                                 static_cast<int>(size)) == 1);
  COFFER_CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kAeadTagBytes,
                                   writable_bytes_of(tag)) == 1);
  if (EVP_DecryptFinal_ex(cipher.get(), writable_bytes_of(plaintext, size), &length) != 1) {
    OPENSSL_cleanse(plaintext.data(), plaintext.size());
    return {};
  }
  plaintext.pop_back();
  return plaintext;
}

}  // namespace coffer
