#include "base/readable.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace coffer {
namespace {

constexpr std::int64_t kSecondMs = 1'000;

struct Unit {
  std::int64_t ms;
  std::string_view name;
};
constexpr std::array<Unit, 4> kUnits = {{{86'400 * kSecondMs, "d"},
                                         {3'600 * kSecondMs, "h"},
                                         {60 * kSecondMs, "min"},
                                         {kSecondMs, "s"}}};

std::string counted(std::int64_t count, std::string_view unit) {
  return std::to_string(count) + " " + std::string(unit);
}

/// `4.3` for 43.
std::string with_tenths(std::int64_t tenths) {
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

}  // namespace

std::string readable_bytes(std::int64_t bytes) {
  constexpr std::array<std::string_view, 6> kNames = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr std::int64_t kStep = 1'024;
  if (bytes < kStep) return counted(bytes, "B");
  std::size_t unit = 0;
  std::int64_t tenths = bytes / kStep * 10 + (bytes % kStep * 10 + kStep / 2) / kStep;
  // A value that rounds to 1024.0 is shown in the next unit.
  for (; tenths >= kStep * 10 && unit + 1 < kNames.size(); ++unit) {
    tenths = (tenths + kStep / 2) / kStep;
  }
  const std::string number = tenths < 1'000 ? with_tenths(tenths) : std::to_string(tenths / 10);
  return number + " " + std::string(kNames[unit]);
}

std::string readable_duration(std::int64_t ms) {
  ms = std::max<std::int64_t>(ms, 0);
  if (ms < kSecondMs) return counted(ms, "ms");
  if (ms < 10 * kSecondMs && ms % kSecondMs >= 100) return with_tenths(ms / 100) + " s";
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    if (ms < kUnits[i].ms) continue;
    const std::string first = counted(ms / kUnits[i].ms, kUnits[i].name);
    if (i + 1 == kUnits.size()) return first;
    const std::int64_t rest = ms % kUnits[i].ms / kUnits[i + 1].ms;
    return rest == 0 ? first : first + " " + counted(rest, kUnits[i + 1].name);
  }
  return {};
}

std::string readable_time(Timestamp at) {
  std::string text = at.to_string();  // 2026-11-22T07:28:03.161Z
  std::replace(text.begin(), text.end(), 'T', ' ');
  return text.substr(0, text.rfind(':')) + " UTC";
}

std::string exact_time(Timestamp at) {
  std::string text = at.to_string();
  std::replace(text.begin(), text.end(), 'T', ' ');
  text.pop_back();
  return text + " UTC";
}

std::string readable_age(Timestamp at, Timestamp now) {
  const std::int64_t ms = std::max(at.ms, now.ms) - std::min(at.ms, now.ms);
  if (ms >= kUnits.front().ms) return {};
  std::string text = counted(ms / kSecondMs, "s");
  for (const Unit& unit : kUnits) {
    if (ms < unit.ms) continue;
    text = counted(ms / unit.ms, unit.name);
    break;
  }
  return at > now ? "in " + text : text + " ago";
}

}  // namespace coffer
