#include "auth/verifying_key.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <string>

#include "base/check.h"
#include "base/crypto/openssl.h"

namespace coffer::auth {
namespace {

constexpr int kRsaBitsMin = 2048;
constexpr std::size_t kModulusBytesMax = 1024;
constexpr std::size_t kExponentBytesMax = 8;
constexpr std::size_t kCoordinateBytes = 32;

using ParameterContext = Owned<EVP_PKEY_CTX, EVP_PKEY_CTX_free>;
using Builder = Owned<OSSL_PARAM_BLD, OSSL_PARAM_BLD_free>;
using Params = Owned<OSSL_PARAM, OSSL_PARAM_free>;
using Number = Owned<BIGNUM, BN_free>;
using EcdsaSignature = Owned<ECDSA_SIG, ECDSA_SIG_free>;

using Scratch = Owned<BN_CTX, BN_CTX_free>;

Number big_number(std::string_view bytes) {
  return Number(BN_bin2bn(bytes_of(bytes), static_cast<int>(bytes.size()), nullptr));
}

// The field and the constant d of Ed25519 (RFC 8032 section 5.1).
constexpr const char* kField = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed";
constexpr const char* kD = "52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3";

Number hex_number(const char* hex) {
  BIGNUM* out = nullptr;
  COFFER_CHECK(BN_hex2bn(&out, hex) > 0);
  return Number(out);
}

}  // namespace

void VerifyingKey::Free::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

VerifyingKey::Handle VerifyingKey::from_parameters(const char* type, void* builder) {
  const Params params(OSSL_PARAM_BLD_to_param(static_cast<OSSL_PARAM_BLD*>(builder)));
  const ParameterContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  COFFER_CHECK(params && context && EVP_PKEY_fromdata_init(context.get()) == 1);
  EVP_PKEY* key = nullptr;
  if (EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1)
    return nullptr;
  Handle handle(key);
  const ParameterContext check(EVP_PKEY_CTX_new_from_pkey(nullptr, key, nullptr));
  COFFER_CHECK(check != nullptr);
  return EVP_PKEY_public_check(check.get()) == 1 ? std::move(handle) : nullptr;
}

std::optional<VerifyingKey> VerifyingKey::rsa(std::string_view modulus, std::string_view exponent) {
  if (modulus.size() > kModulusBytesMax || exponent.size() > kExponentBytesMax) return std::nullopt;
  const Number n = big_number(modulus), e = big_number(exponent);
  if (BN_num_bits(n.get()) < kRsaBitsMin || !BN_is_odd(e.get()) || BN_is_one(e.get())) {
    return std::nullopt;
  }
  const Builder builder(OSSL_PARAM_BLD_new());
  COFFER_CHECK(OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get()) == 1);
  COFFER_CHECK(OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get()) == 1);
  Handle key = from_parameters("RSA", builder.get());
  if (!key) return std::nullopt;
  return VerifyingKey(SignatureAlgorithm::rs256, std::move(key));
}

std::optional<VerifyingKey> VerifyingKey::p256(std::string_view x, std::string_view y) {
  if (x.size() != kCoordinateBytes || y.size() != kCoordinateBytes) return std::nullopt;
  const std::string point = "\x04" + std::string(x) + std::string(y);
  const Builder builder(OSSL_PARAM_BLD_new());
  COFFER_CHECK(OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME,
                                               "prime256v1", 0) == 1);
  COFFER_CHECK(OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                                point.data(), point.size()) == 1);
  Handle key = from_parameters("EC", builder.get());
  if (!key) return std::nullopt;
  return VerifyingKey(SignatureAlgorithm::es256, std::move(key));
}

std::optional<VerifyingKey> VerifyingKey::ed25519(std::string_view x) {
  if (!is_sound_ed25519_key(x)) return std::nullopt;
  Handle key(EVP_PKEY_new_raw_public_key_ex(nullptr, "ED25519", nullptr, bytes_of(x), x.size()));
  if (!key) return std::nullopt;
  return VerifyingKey(SignatureAlgorithm::eddsa, std::move(key));
}

bool VerifyingKey::verifies(std::string_view message, std::string_view signature) const {
  // Ed25519 includes the hash.
  const char* digest = algorithm_ == SignatureAlgorithm::eddsa ? nullptr : "SHA256";
  const DigestContext context(EVP_MD_CTX_new());
  COFFER_CHECK(EVP_DigestVerifyInit_ex(context.get(), nullptr, digest, nullptr, nullptr,
                                       handle_.get(), nullptr) == 1);
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                          message.size()) == 1;
}

/// The curve is -x^2 + y^2 = 1 + d x^2 y^2, so x^2 = u / v with u = y^2 - 1 and v = d y^2 + 1. A
/// point of order 1, 2, 4 or 8 has x = 0, y = 0 or x^2 = -y^2.
bool is_sound_ed25519_key(std::string_view bytes) {
  constexpr char kSign = 0x7f;
  if (bytes.size() != kCoordinateBytes) return false;
  std::string big_endian(bytes.rbegin(), bytes.rend());
  big_endian.front() = static_cast<char>(big_endian.front() & kSign);
  const Scratch scratch(BN_CTX_new());
  const Number p = hex_number(kField), d = hex_number(kD), y = big_number(big_endian);
  const Number y2(BN_new()), u(BN_new()), v(BN_new()), order8(BN_new()), square(BN_new());
  if (BN_cmp(y.get(), p.get()) >= 0) return false;
  BN_CTX* const ctx = scratch.get();
  const bool computed = BN_mod_sqr(y2.get(), y.get(), p.get(), ctx) == 1 &&
                        BN_mod_sub(u.get(), y2.get(), BN_value_one(), p.get(), ctx) == 1 &&
                        BN_mod_mul(v.get(), d.get(), y2.get(), p.get(), ctx) == 1 &&
                        BN_mod_add(v.get(), v.get(), BN_value_one(), p.get(), ctx) == 1 &&
                        BN_mod_mul(order8.get(), y2.get(), v.get(), p.get(), ctx) == 1 &&
                        BN_mod_add(order8.get(), order8.get(), u.get(), p.get(), ctx) == 1 &&
                        BN_mod_mul(square.get(), u.get(), v.get(), p.get(), ctx) == 1;
  COFFER_CHECK(computed);
  const bool is_small = BN_is_zero(y.get()) || BN_is_zero(u.get()) || BN_is_zero(order8.get());
  return !is_small && BN_kronecker(square.get(), p.get(), ctx) == 1;
}

std::string ecdsa_der(std::string_view raw) {
  if (raw.size() != 2 * kCoordinateBytes) return {};
  const EcdsaSignature signature(ECDSA_SIG_new());
  Number r = big_number(raw.substr(0, kCoordinateBytes));
  Number s = big_number(raw.substr(kCoordinateBytes));
  COFFER_CHECK(ECDSA_SIG_set0(signature.get(), r.release(), s.release()) == 1);
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  COFFER_CHECK(size > 0);
  std::string out(static_cast<std::size_t>(size), '\0');
  unsigned char* end = writable_bytes_of(out);
  COFFER_CHECK(i2d_ECDSA_SIG(signature.get(), &end) == size);
  return out;
}

}  // namespace coffer::auth
