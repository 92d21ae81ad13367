#include "base/clock.h"

#include <algorithm>
#include <chrono>

#include "base/numbers.h"
#include "base/text/ascii.h"

namespace coffer {
namespace {

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool char_at(std::string_view text, std::size_t at, std::string_view allowed) {
  return at < text.size() && allowed.find(text[at]) != std::string_view::npos;
}

std::optional<std::int64_t> parse_date(std::string_view text) {
  const auto y = digits(text, 0, 4), m = digits(text, 5, 2), d = digits(text, 8, 2);
  if (!y || !m || !d || !char_at(text, 4, "-") || !char_at(text, 7, "-")) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*y},
                                         std::chrono::month{static_cast<unsigned>(*m)},
                                         std::chrono::day{static_cast<unsigned>(*d)}};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days{date}.time_since_epoch().count() * kDayMs;
}

/// Minutes east of UTC for "Z" or "+hh:mm"; nullopt unless it ends the text.
std::optional<int> parse_offset(std::string_view text, std::size_t at) {
  if (char_at(text, at, "Zz")) return at + 1 == text.size() ? std::optional(0) : std::nullopt;
  if (!char_at(text, at, "+-") || at + 6 != text.size() || text[at + 3] != ':') return std::nullopt;
  const auto h = digits(text, at + 1, 2), m = digits(text, at + 4, 2);
  if (!h || !m || *h > 23 || *m > 59) return std::nullopt;
  const int minutes = *h * 60 + *m;
  return text[at] == '-' ? -minutes : minutes;
}

void append_digits(std::string& out, std::int64_t value, std::size_t count) {
  const std::size_t end = out.size() + count;
  out.resize(end);
  for (std::size_t at = end; at-- > end - count; value /= 10) {
    out[at] = static_cast<char>('0' + value % 10);
  }
}

}  // namespace

std::string Timestamp::to_string() const {
  std::int64_t day = ms / kDayMs;
  std::int64_t rest = ms % kDayMs;
  if (rest < 0) {
    --day;
    rest += kDayMs;
  }
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  std::string out;
  out.reserve(24);
  const int year = static_cast<int>(date.year());
  out += year < 0 ? std::to_string(year) : zero_padded(year, 4);
  append_digits(out += '-', static_cast<unsigned>(date.month()), 2);
  append_digits(out += '-', static_cast<unsigned>(date.day()), 2);
  append_digits(out += 'T', rest / kHourMs, 2);
  append_digits(out += ':', rest / kMinuteMs % 60, 2);
  append_digits(out += ':', rest / 1000 % 60, 2);
  append_digits(out += '.', rest % 1000, 3);
  return out += 'Z';
}

std::optional<Timestamp> Timestamp::parse(std::string_view text) {
  const auto day_ms = parse_date(text.substr(0, 10));
  if (!day_ms) return std::nullopt;
  if (text.size() == 10) return Timestamp{*day_ms};
  const auto h = digits(text, 11, 2), m = digits(text, 14, 2), s = digits(text, 17, 2);
  if (!char_at(text, 10, "Tt ") || !h || !m || !s || !char_at(text, 13, ":") ||
      !char_at(text, 16, ":") || *h > 23 || *m > 59 || *s > 59) {
    return std::nullopt;
  }
  std::size_t at = 19;
  int fraction_ms = 0;
  if (char_at(text, at, ".")) {
    int scale = 100;
    std::size_t count = 0;
    for (++at; at < text.size() && ascii::is_digit(text[at]); ++at, ++count) {
      fraction_ms += (text[at] - '0') * scale;
      scale /= 10;
    }
    if (count == 0) return std::nullopt;
  }
  const auto offset = parse_offset(text, at);
  if (!offset) return std::nullopt;
  return Timestamp{*day_ms + ((*h * 60 + *m - *offset) * 60 + *s) * 1000LL + fraction_ms};
}

std::int64_t Clock::ahead_ms() const {
  constexpr std::int64_t kAsGoodAsRightMs = 1'000;
  const std::int64_t own_ms = now().ms;
  const std::int64_t ahead_ms = own_ms - machine_now().ms;
  return ahead_ms < kAsGoodAsRightMs ? 0 : ahead_ms;
}

Timestamp SystemClock::now() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

std::int64_t SystemClock::monotonic_ms() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

Timestamp ForwardClock::now() const {
  // Read the wall clock first. A delay between the two reads then makes the difference too small,
  // and it is ignored. In the other order, the difference would be too large and would persist.
  const std::int64_t wall_ms = machine_.now().ms;
  const std::int64_t monotonic_ms = machine_.monotonic_ms();
  const std::int64_t seen_ms = wall_ms - monotonic_ms;
  std::int64_t offset_ms = offset_ms_.load();
  while (offset_ms < seen_ms && !offset_ms_.compare_exchange_weak(offset_ms, seen_ms)) {
  }
  return {monotonic_ms + std::max(offset_ms, seen_ms)};
}

void ForwardClock::begin_at(Timestamp floor) {
  const std::int64_t wanted_ms = floor.ms - machine_.monotonic_ms();
  std::int64_t offset_ms = offset_ms_.load();
  while (offset_ms < wanted_ms && !offset_ms_.compare_exchange_weak(offset_ms, wanted_ms)) {
  }
}

}  // namespace coffer
