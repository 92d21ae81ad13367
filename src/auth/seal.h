// Values sealed at rest: secrets that must be read back, such as ledger seeds, webhook secrets and
// provider keys (docs/contract.md#authentication).
#pragma once

#include <string>
#include <string_view>

#include "auth/master_key.h"
#include "base/random.h"
#include "base/result.h"
#include "base/strong.h"

namespace coffer::auth {

/// Keeps a reference to `random`, not to the master key. Safe from any thread.
class Sealer {
 public:
  Sealer(const MasterKey& master, Random& random);

  /// AES-256-GCM: version byte, 96-bit random nonce, ciphertext, 128-bit tag. `context` names what
  /// the value is and whose, as in `wallet-seed:<wallet id>`, and is authenticated with it: a
  /// sealed value moved to another row or column does not open.
  std::string seal(std::string_view plaintext, std::string_view context) const;
  /// `unexpected-error` for a wrong key, another context or a changed byte (GCM cannot tell which).
  Result<Secret> open(std::string_view sealed, std::string_view context) const;

 private:
  Secret key_;
  Random& random_;
};

}  // namespace coffer::auth
