// Closes months of the ledger (docs/operating.md#close-a-month).
#pragma once

#include <string>
#include <string_view>

#include "flows/context.h"
#include "store/ledger/periods.h"

namespace coffer::flows {

/// 2026-10, for people and in arguments.
std::string period_text(std::int64_t period);
std::optional<std::int64_t> parse_period(std::string_view text);

/// Stores the balances at the end of a month of both environments. `conflict` if the month has not
/// ended, is already closed, or does not follow the last closed one (at first, the month of the
/// first entry).
Result<store::ClosedPeriod> close_period(const Context& context, std::int64_t period);

}  // namespace coffer::flows
