// Four-eyes approval: decides which commands of an operator wait for a second operator
// (docs/operating.md#four-eyes).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/ledger/money.h"
#include "domain/tables/terms.h"

namespace coffer {

/// The amount that a command moves.
struct MovedAmount {
  AssetCode asset;
  Amount amount;
};

/// The value of the setting four_eyes. By default, no command waits.
class FourEyes {
 public:
  /// `off`, `all`, or limits such as `USDC=1000,EURC=500`. `validation-failed` otherwise.
  static Result<FourEyes> parse(std::string_view text);
  std::string text() const;
  /// The assets that have a limit.
  std::vector<AssetCode> assets() const;

  /// Whether a command that moves money or changes access waits for approval. It does not wait only
  /// if it moves an amount up to the limit of its asset. Pass nullopt for a command without an
  /// amount.
  bool waits(const std::optional<MovedAmount>& moved) const;

 private:
  bool on_ = false;
  std::map<AssetCode, Amount> limits_;
};

/// A request for approval by a second operator. A waiting request that is past its time is expired.
enum class ApprovalState {
  waiting,
  started,  // approved; in progress, or interrupted after its first change was stored
  done,     // approved, and the command succeeded
  failed,   // approved, and the command failed after its first change was stored
  rejected,
};
template <>
struct Terms<ApprovalState> {
  static constexpr auto rows =
      std::to_array<Term>({{"waiting"}, {"started"}, {"done"}, {"failed"}, {"rejected"}});
};

}  // namespace coffer
