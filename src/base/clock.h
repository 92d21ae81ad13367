// Time as a constructor argument (`Clock&`), so that tests can advance it.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coffer {

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;

/// A UTC instant in milliseconds since 1970.
struct Timestamp {
  std::int64_t ms = 0;

  auto operator<=>(const Timestamp&) const = default;
  Timestamp plus_ms(std::int64_t delta) const { return {ms + delta}; }

  /// RFC 3339 UTC with milliseconds: 2026-01-31T09:00:00.000Z (docs/contract.md#formats).
  std::string to_string() const;
  /// Accepts any RFC 3339 date-time with an offset, or a date alone (midnight UTC). Returns nullopt
  /// for anything else, including dates that do not exist.
  static std::optional<Timestamp> parse(std::string_view text);
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
  /// Milliseconds that never decrease. For deadlines and rates, not for records.
  virtual std::int64_t monotonic_ms() const = 0;
  /// The machine's clock, for values that other machines compare with their clocks: signatures,
  /// one-time passwords, tokens of other issuers.
  virtual Timestamp machine_now() const { return now(); }
  /// How far now() is ahead of the machine's clock: 0 unless the machine's clock was set back.
  /// Differences under one second count as 0, because the two clocks cannot be read at the same
  /// instant.
  std::int64_t ahead_ms() const;
};

class SystemClock final : public Clock {
 public:
  Timestamp now() const override;
  std::int64_t monotonic_ms() const override;
};

/// Follows another clock but never goes back. If that clock is set back, this one continues from
/// its last value with the monotonic time. Thread-safe.
class ForwardClock final : public Clock {
 public:
  /// `machine` must outlive this object.
  explicit ForwardClock(const Clock& machine) : machine_(machine) {}
  Timestamp now() const override;
  Timestamp machine_now() const override { return machine_.now(); }
  std::int64_t monotonic_ms() const override { return machine_.monotonic_ms(); }
  /// Sets the earliest time: from now on, the clock returns `floor` or later.
  void begin_at(Timestamp floor);

 private:
  const Clock& machine_;
  // The largest difference seen between the wall clock and the monotonic clock. A step back makes
  // the difference smaller, and smaller differences are ignored.
  mutable std::atomic<std::int64_t> offset_ms_{INT64_MIN};
};

/// Stands still until a test advances it. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = {1'767'225'600'000}) : passed_ms_(start.ms) {}
  Timestamp now() const override { return {passed_ms_.load() + set_by_ms_.load()}; }
  std::int64_t monotonic_ms() const override { return passed_ms_.load(); }
  void advance_ms(std::int64_t delta) { passed_ms_.fetch_add(delta); }
  /// Sets the wall clock forward or back, like an operator or NTP. The monotonic time does not
  /// change.
  void set_by_ms(std::int64_t delta) { set_by_ms_.fetch_add(delta); }

 private:
  std::atomic<std::int64_t> passed_ms_;
  std::atomic<std::int64_t> set_by_ms_{0};
};

}  // namespace coffer
