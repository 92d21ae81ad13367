#include "base/crypto/multiset_hash.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "base/crypto/openssl.h"

namespace coffer {
namespace {

using Lanes = std::array<std::uint16_t, kMultisetHashBytes / 2>;  // little-endian in texts
static_assert(std::endian::native == std::endian::little);

// Fetched once, because an implicit fetch per call takes long (OpenSSL 3).
const EVP_MD* shake256() {
  static const EVP_MD* algorithm = EVP_MD_fetch(nullptr, "SHAKE256", nullptr);
  COFFER_CHECK(algorithm != nullptr);
  return algorithm;
}

Lanes lanes_of(std::string_view element) {
  Lanes out;
  const DigestContext context(EVP_MD_CTX_new());
  COFFER_CHECK(EVP_DigestInit_ex2(context.get(), shake256(), nullptr) == 1);
  COFFER_CHECK(EVP_DigestUpdate(context.get(), element.data(), element.size()) == 1);
  COFFER_CHECK(EVP_DigestFinalXOF(context.get(), reinterpret_cast<unsigned char*>(out.data()),
                                  sizeof(out)) == 1);
  return out;
}

template <class Combine>
void combine(std::string& sum, std::string_view element, const Combine& with) {
  if (sum.empty()) sum.resize(kMultisetHashBytes);
  COFFER_CHECK(sum.size() == kMultisetHashBytes);
  Lanes lanes;
  std::memcpy(lanes.data(), sum.data(), sum.size());
  std::ranges::transform(lanes, lanes_of(element), lanes.begin(), with);
  std::memcpy(sum.data(), lanes.data(), sum.size());
}

}  // namespace

void add_to_multiset(std::string& sum, std::string_view element) {
  combine(sum, element, [](std::uint16_t a, std::uint16_t b) -> std::uint16_t { return a + b; });
}

void remove_from_multiset(std::string& sum, std::string_view element) {
  combine(sum, element, [](std::uint16_t a, std::uint16_t b) -> std::uint16_t { return a - b; });
  if (std::ranges::all_of(sum, [](char byte) { return byte == 0; })) sum.clear();
}

}  // namespace coffer
