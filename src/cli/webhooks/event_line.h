// The readable summary of an event, parsed from its body, because commands pass on only the body.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coffer::cli {

struct EventLine {
  std::string id;
  std::string type;
  std::string at;  // RFC 3339
  std::int64_t sequence = 0;
  std::string subject;  // ID of the payment, wallet or webhook
  std::string amount;   // `12.50 USDC`, `3 legs`, or empty
  bool test = false;
};

/// nullopt for a body that is not an event of coffer.
std::optional<EventLine> event_line(std::string_view body);

/// `12:01:02.123` of an RFC 3339 time.
std::string time_of_day(const std::string& time);

}  // namespace coffer::cli
