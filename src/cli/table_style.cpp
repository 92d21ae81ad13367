// Colours: their codes, and the colour of each status.
#include <algorithm>
#include <array>

#include "cli/table.h"

namespace coffer::cli {
namespace {

struct Status {
  std::string_view word;
  Shade shade;
};

/// The words of every status that commands show; a test compares them with the domain.
constexpr auto kStatuses = std::to_array<Status>({
    // payments, refunds
    {"initiated", Shade::yellow},
    {"processing", Shade::yellow},
    {"succeeded", Shade::green},
    {"failed", Shade::red},
    {"refund_pending", Shade::yellow},
    {"refunded", Shade::green},
    {"refund_failed", Shade::red},
    {"expired", Shade::red},
    // wallets
    {"Pending", Shade::yellow},
    {"Verified", Shade::green},
    {"Rejected", Shade::red},
    // associations, applications, users, operators, beneficiaries
    {"pending", Shade::yellow},
    {"active", Shade::green},
    {"suspended", Shade::red},
    {"without authenticator", Shade::yellow},
    {"archived", Shade::yellow},
    // connectors, quotes
    {"ACTIVE", Shade::green},
    {"PAUSED", Shade::yellow},
    {"OPEN", Shade::green},
    {"USED", Shade::plain},
    {"EXPIRED", Shade::yellow},
    // webhooks, deliveries, notifications
    {"disabled", Shade::red},
    {"delivered", Shade::green},
    {"dead", Shade::red},
    {"oversize", Shade::red},
    {"waiting", Shade::yellow},
    {"sent", Shade::green},
    {"recorded", Shade::yellow},
    // health of connectors, their breakers, webhooks; findings of doctor
    {"healthy", Shade::green},
    {"degraded", Shade::yellow},
    {"down", Shade::red},
    {"paused", Shade::yellow},
    {"failing", Shade::red},
    {"closed", Shade::green},
    {"half_open", Shade::yellow},
    {"open", Shade::red},
    {"ok", Shade::green},
    {"warning", Shade::yellow},
    {"fault", Shade::red},
    // the audit log
    {"done", Shade::green},
});

/// In the order of Shade.
constexpr auto kCodes =
    std::to_array<std::string_view>({"", "\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[31m"});

}  // namespace

std::string shaded(Shade shade, std::string_view text, bool colour) {
  if (!colour || shade == Shade::plain || text.empty()) return std::string(text);
  const std::string_view code = kCodes.at(static_cast<std::size_t>(shade));
  return std::string(code).append(text).append("\x1b[0m");
}

Shade shade_of_status(std::string_view word) {
  const auto found = std::ranges::find(kStatuses, word, &Status::word);
  return found == kStatuses.end() ? Shade::plain : found->shade;
}

}  // namespace coffer::cli
