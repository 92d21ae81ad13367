// What the simulated provider charges: its rates and its fee.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "cli/provider_sim/book_file.h"
#include "domain/ledger/money.h"

namespace coffer::cli::provider_sim {

class Tariff {
 public:
  /// Comma-separated `SOLD:BOUGHT=rate`, as in `USDC:NGN=1540.25`; pairs that are not named trade
  /// one to one. `malformed-request` otherwise.
  static Result<Tariff> parse(std::string_view spec);

  /// Answers the body of POST /quotes: half a percent of fee, good for two minutes. A Problem says
  /// what is wrong with it.
  Result<Json> quote(const Json& ask, Timestamp now, const std::string& quote_id) const;

 private:
  std::map<std::string, Rate> rates_;  // by "SOLD:BOUGHT"
};

}  // namespace coffer::cli::provider_sim
