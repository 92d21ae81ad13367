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

  /// RFC 3339 UTC with milliseconds: 2026-01-31T09:00:00.000Z (decisions section 1).
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
};

class SystemClock final : public Clock {
 public:
  Timestamp now() const override;
  std::int64_t monotonic_ms() const override;
};

/// Stands still until told otherwise. Safe to read and advance from several threads.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start = {1'767'225'600'000}) : now_ms_(start.ms) {}
  Timestamp now() const override { return {now_ms_.load()}; }
  std::int64_t monotonic_ms() const override { return now_ms_.load(); }
  void advance_ms(std::int64_t delta) { now_ms_.fetch_add(delta); }

 private:
  std::atomic<std::int64_t> now_ms_;
};

}  // namespace coffer
