#include "auth/password.h"

#include <openssl/evp.h>

#include <optional>

#include "base/check.h"
#include "base/crypto/openssl.h"
#include "base/digest.h"
#include "base/text/next_part.h"
#include "base/text/whole_number.h"

namespace coffer::auth {
namespace {

constexpr std::string_view kName = "scrypt";
constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kPasswordBytes = 15;
constexpr std::uint64_t kMemoryMax = 256ULL << 20;

std::string scrypt(std::string_view password, std::string_view salt, const ScryptCost& cost) {
  std::string out(kHashBytes, '\0');
  COFFER_CHECK(EVP_PBE_scrypt(password.data(), password.size(), bytes_of(salt), salt.size(),
                              std::uint64_t{1} << cost.log2_n, static_cast<std::uint64_t>(cost.r),
                              static_cast<std::uint64_t>(cost.p), kMemoryMax,
                              writable_bytes_of(out), out.size()) == 1);
  return out;
}

struct Stored {
  ScryptCost cost;
  std::string salt;
  std::string hash;
};

std::optional<Stored> parse(std::string_view text) {
  if (next_whole_part(text, '$') != kName) return std::nullopt;
  const auto log2_n = whole_number(next_whole_part(text, '$'), 1, 17);
  const auto r = whole_number(next_whole_part(text, '$'), 1, 8);
  const auto p = whole_number(next_whole_part(text, '$'), 1, 16);
  auto salt = from_base64url(next_whole_part(text, '$'));
  auto hash = from_base64url(next_whole_part(text, '$'));
  if (!log2_n || !r || !p || !salt || !hash || hash->size() != kHashBytes) return std::nullopt;
  return Stored{{*log2_n, *r, *p}, *std::move(salt), *std::move(hash)};
}

std::string stored_form(const ScryptCost& cost, std::string_view salt, std::string_view hash) {
  return std::string(kName) + "$" + std::to_string(cost.log2_n) + "$" + std::to_string(cost.r) +
         "$" + std::to_string(cost.p) + "$" + to_base64url(salt) + "$" + to_base64url(hash);
}

}  // namespace

std::string hash_password(const Secret& password, Random& random, const ScryptCost& cost) {
  const std::string salt = random.bytes(kSaltBytes);
  return stored_form(cost, salt, scrypt(password.reveal(), salt, cost));
}

bool matches_password(std::string_view stored, std::string_view presented) {
  const auto parts = parse(stored);
  if (!parts) return false;
  return equal_constant_time(scrypt(presented, parts->salt, parts->cost), parts->hash);
}

std::string no_password_hash(const ScryptCost& cost) {
  return stored_form(cost, std::string(kSaltBytes, '\0'), std::string(kHashBytes, '\0'));
}

Secret generate_password(Random& random) { return Secret(to_base32(random.bytes(kPasswordBytes))); }

}  // namespace coffer::auth
