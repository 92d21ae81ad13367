// Rates and fee of the simulated provider.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "domain/ledger/money.h"
#include "provider_sim/state_file.h"

namespace coffer::provider_sim {

class Tariff {
 public:
  /// Comma-separated `SOLD:BOUGHT=rate`, such as `USDC:NGN=1540.25`. Other pairs are converted one
  /// to one. `malformed-request` otherwise.
  static Result<Tariff> parse(std::string_view spec);

  /// The response to POST /quotes: a quote with a fee of 0.5 %, valid for two minutes. A Problem
  /// describes the error in `ask`.
  Result<Json> quote(const Json& ask, Timestamp now, const std::string& quote_id) const;

 private:
  std::map<std::string, Rate> rates_;  // by "SOLD:BOUGHT"
};

}  // namespace coffer::provider_sim
