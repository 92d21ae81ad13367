// Time as a collaborator: `Clock&` is a constructor argument, so tests advance it by hand.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coffer {

/// A UTC instant in milliseconds since 1970.
struct Timestamp {
  std::int64_t ms = 0;

  auto operator<=>(const Timestamp&) const = default;
  Timestamp plus_ms(std::int64_t delta) const { return {ms + delta}; }

  /// RFC 3339 UTC with milliseconds: 2026-01-31T09:00:00.000Z (docs/contract.md#formats).
  std::string to_string() const;
  /// Any RFC 3339 date-time with offset, or a bare date (midnight UTC); nullopt for anything else,
  /// including dates that do not exist.
  static std::optional<Timestamp> parse(std::string_view text);
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;
  /// Milliseconds that never go back; for deadlines and rates, not for records.
  virtual std::int64_t monotonic_ms() const = 0;
  /// What the machine's own clock says. For what others compare with their clocks: signatures,
  /// one-time passwords, tokens of other issuers.
  virtual Timestamp machine_now() const { return now(); }
  /// How far now() is ahead of the machine's clock; 0 unless that one was set back. Less than a
  /// second counts as 0: the two are read one after the other.
  std::int64_t ahead_ms() const;
};

class SystemClock final : public Clock {
 public:
  Timestamp now() const override;
  std::int64_t monotonic_ms() const override;
};

/// Follows another clock and never goes back: where that one is set back, it goes on with the
/// monotonic time from where it was. Any thread.
class ForwardClock final : public Clock {
 public:
  /// `machine` outlives this.
  explicit ForwardClock(const Clock& machine) : machine_(machine) {}
  Timestamp now() const override;
  Timestamp machine_now() const override { return machine_.now(); }
  std::int64_t monotonic_ms() const override { return machine_.monotonic_ms(); }
  /// From now on it says no time before `floor`, and goes on from there.
  void begin_at(Timestamp floor);

 private:
  const Clock& machine_;
  // The largest difference seen between the wall clock and the monotonic one: a step back makes it
  // smaller, and that is what is not followed.
  mutable std::atomic<std::int64_t> offset_ms_{INT64_MIN};
};

/// Stands still until told otherwise. Safe to read and advance from several threads.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = {1'767'225'600'000}) : passed_ms_(start.ms) {}
  Timestamp now() const override { return {passed_ms_.load() + set_by_ms_.load()}; }
  std::int64_t monotonic_ms() const override { return passed_ms_.load(); }
  void advance_ms(std::int64_t delta) { passed_ms_.fetch_add(delta); }
  /// Sets the time of day, forward or back, as an operator or NTP does; no time passes.
  void set_by_ms(std::int64_t delta) { set_by_ms_.fetch_add(delta); }

 private:
  std::atomic<std::int64_t> passed_ms_;
  std::atomic<std::int64_t> set_by_ms_{0};
};

}  // namespace coffer
