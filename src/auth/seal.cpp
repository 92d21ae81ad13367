#include "auth/seal.h"

#include "base/crypto/aead.h"

namespace coffer::auth {
namespace {

constexpr char kFormatVersion = 1;

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
  return kFormatVersion + encrypted(key_.reveal(), random_.bytes(kAeadNonceBytes), plaintext,
                                    authenticated(context));
}

Result<Secret> Sealer::open(std::string_view sealed, std::string_view context) const {
  if (sealed.empty() || sealed[0] != kFormatVersion) return unexpected(does_not_open(context));
  auto plaintext = decrypted(key_.reveal(), sealed.substr(1), authenticated(context));
  if (!plaintext) return unexpected(does_not_open(context));
  return Secret(*std::move(plaintext));
}

}  // namespace coffer::auth
