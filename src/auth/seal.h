// Values that are sealed at rest: secrets that coffer must read back, such as ledger seeds, webhook
// secrets and provider keys (docs/contract.md#authentication).
#pragma once

#include <string>
#include <string_view>

#include "auth/master_key.h"
#include "base/random.h"
#include "base/result.h"
#include "base/strong.h"

namespace coffer::auth {

/// Keeps a reference to `random`, but not to the master key. Thread-safe.
class Sealer {
 public:
  Sealer(const MasterKey& master, Random& random);

  /// AES-256-GCM: version byte, 96-bit random nonce, ciphertext, 128-bit tag. `context` identifies
  /// the value and its owner, such as `wallet-seed:<wallet id>`, and is authenticated, so a sealed
  /// value that was moved to another row or column does not open.
  std::string seal(std::string_view plaintext, std::string_view context) const;
  /// `unexpected-error` for a wrong key, another context or a changed byte; GCM cannot distinguish
  /// them.
  Result<Secret> open(std::string_view sealed, std::string_view context) const;

 private:
  Secret key_;
  Random& random_;
};

}  // namespace coffer::auth
