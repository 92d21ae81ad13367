#include "auth/seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "base/check.h"
#include "base/crypto/openssl.h"

namespace coffer::auth {
namespace {

constexpr char kFormatVersion = 1;
constexpr std::size_t kSealNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kHeaderBytes = 1 + kSealNonceBytes;
// EVP takes lengths as int. Sealed values are short: keys, secrets and seeds.
constexpr std::size_t kMaxPlaintextBytes = 1 << 20;

// Fetched once, because an implicit fetch per call takes longer than sealing a short value.
const EVP_CIPHER* aes_256_gcm() {
  static const EVP_CIPHER* algorithm = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
  COFFER_CHECK(algorithm != nullptr);
  return algorithm;
}

using CipherContext = Owned<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;

/// The version byte is authenticated with the context, so it cannot be changed either.
std::string authenticated(std::string_view context) {
  return std::string(1, kFormatVersion).append(context);
}

Problem does_not_open(std::string_view context) {
  // The part before the colon is the kind of the value; the part after it may be an ID.
  return Problem(
      Slug::unexpected_error,
      "A sealed value (" + std::string(context.substr(0, context.find(':'))) +
          ") cannot be opened: it was sealed with a different master key, or it is damaged.");
}

}  // namespace

Sealer::Sealer(const MasterKey& master, Random& random)
    : key_(master.derive(kSealLabel)), random_(random) {}

std::string Sealer::seal(std::string_view plaintext, std::string_view context) const {
  COFFER_CHECK(plaintext.size() <= kMaxPlaintextBytes && context.size() <= kMaxPlaintextBytes);
  const std::string aad = authenticated(context);
  std::string sealed(1, kFormatVersion);
  sealed.append(random_.bytes(kSealNonceBytes));
  sealed.resize(kHeaderBytes + plaintext.size() + kTagBytes);

  const CipherContext cipher(EVP_CIPHER_CTX_new());
  int length = 0;
  COFFER_CHECK(EVP_EncryptInit_ex2(cipher.get(), aes_256_gcm(), bytes_of(key_.reveal()),
                                   writable_bytes_of(sealed, 1), nullptr) == 1);
  COFFER_CHECK(EVP_EncryptUpdate(cipher.get(), nullptr, &length, bytes_of(aad),
                                 static_cast<int>(aad.size())) == 1);
  COFFER_CHECK(EVP_EncryptUpdate(cipher.get(), writable_bytes_of(sealed, kHeaderBytes), &length,
                                 bytes_of(plaintext), static_cast<int>(plaintext.size())) == 1);
  COFFER_CHECK(EVP_EncryptFinal_ex(cipher.get(),
                                   writable_bytes_of(sealed, kHeaderBytes + plaintext.size()),
                                   &length) == 1);
  COFFER_CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes,
                                   writable_bytes_of(sealed, kHeaderBytes + plaintext.size())) ==
               1);
  return sealed;
}

Result<Secret> Sealer::open(std::string_view sealed, std::string_view context) const {
  if (sealed.size() < kHeaderBytes + kTagBytes || sealed[0] != kFormatVersion ||
      sealed.size() > kHeaderBytes + kMaxPlaintextBytes + kTagBytes) {
    return unexpected(does_not_open(context));
  }
  const std::size_t size = sealed.size() - kHeaderBytes - kTagBytes;
  const std::string aad = authenticated(context);
  std::string tag(sealed.substr(kHeaderBytes + size));
  // One byte more, because EVP requires a buffer even for an empty value.
  std::string plaintext(size + 1, '\0');

  const CipherContext cipher(EVP_CIPHER_CTX_new());
  int length = 0;
  COFFER_CHECK(EVP_DecryptInit_ex2(cipher.get(), aes_256_gcm(), bytes_of(key_.reveal()),
                                   bytes_of(sealed.substr(1, kSealNonceBytes)), nullptr) == 1);
  COFFER_CHECK(EVP_DecryptUpdate(cipher.get(), nullptr, &length, bytes_of(aad),
                                 static_cast<int>(aad.size())) == 1);
  COFFER_CHECK(EVP_DecryptUpdate(cipher.get(), writable_bytes_of(plaintext, 0), &length,
                                 bytes_of(sealed.substr(kHeaderBytes)),
                                 static_cast<int>(size)) == 1);
  COFFER_CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes,
                                   writable_bytes_of(tag, 0)) == 1);
  if (EVP_DecryptFinal_ex(cipher.get(), writable_bytes_of(plaintext, size), &length) != 1) {
    OPENSSL_cleanse(plaintext.data(), plaintext.size());
    return unexpected(does_not_open(context));
  }
  plaintext.pop_back();
  return Secret(std::move(plaintext));
}

}  // namespace coffer::auth
